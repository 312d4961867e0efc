"""Texts that can be encoded and have an end."""

from __future__ import annotations


def replace_surrogates(text: str) -> str:
    r"""`text` with every lone surrogate replaced, so that it can be encoded.

    Examples:
        >>> replace_surrogates("a\ud800b")
        'a�b'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def bounded(text: str, max_bytes: int) -> str:
    r"""`text`, cut in its middle to at most `max_bytes` bytes of UTF-8, the cut marked.

    Head and tail are kept, where errors and totals stand. The mark itself is always whole,
    so a bound shorter than it is exceeded by the mark alone.

    Examples:
        >>> bounded("short", 100)
        'short'
        >>> bounded("a" * 50 + "b" * 50, 60)
        'aaaaaaaaaaaaaa\n[... 72 of 100 bytes cut ...]\nbbbbbbbbbbbbbb'
    """
    data = text.encode()
    if len(data) <= max_bytes:
        return text
    widest = f"\n[... {len(data)} of {len(data)} bytes cut ...]\n"
    kept = max(max_bytes - len(widest), 0)
    head = data[: kept // 2].decode(errors="ignore")
    tail = data[len(data) - (kept - kept // 2) :].decode(errors="ignore")
    cut = len(data) - len(head.encode()) - len(tail.encode())
    return f"{head}\n[... {cut} of {len(data)} bytes cut ...]\n{tail}"
