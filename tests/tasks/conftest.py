"""What the tests of task files share."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def write(tmp_path):
    """Writes tasks.jsonl from the bytes of its lines and returns its path."""

    def write(*lines: bytes | str | dict, end: bytes = b"\n") -> str:
        path = tmp_path / "tasks.jsonl"
        texts = [json.dumps(line) if isinstance(line, dict) else line for line in lines]
        raw = [text.encode() if isinstance(text, str) else text for text in texts]
        path.write_bytes(b"".join(line + end for line in raw))
        return str(path)

    return write
