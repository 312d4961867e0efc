"""Graphs in files: RDF (`.nt`, `.ttl`, each also `.gz`) and folders of TSV.

A folder holds `triples.tsv` (subject, relation, object) and, if there are any,
`attributes.tsv` (subject, attribute, value) and `names.tsv` (entity, name); or, in FB15k's
form, `train.txt`, `valid.txt`, `test.txt`, `names.tsv` and `numeric.tsv`. Each also `.gz`.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from lifelong_gym.backends.graph.terms import (
    LANG_STRING,
    NAME_PREDICATES,
    STRING,
    Literal,
    id_of,
    normal_id,
    typed,
)
from lifelong_gym.errors import MissingExtraError, UsageError

Triple: TypeAlias = "tuple[str, str, str | Literal]"
"""Subject, predicate and object; ids as `terms.normal_id` has them."""

Progress: TypeAlias = Callable[[int], None]
"""Is told how many bytes of the files were read, from time to time."""

FORM = (
    "a .nt or .ttl file, a folder with triples.tsv (and attributes.tsv, names.tsv), or one "
    "with train.txt (and valid.txt, test.txt, names.tsv, numeric.tsv); each also .gz"
)
_RDF = {".nt": "N_TRIPLES", ".ttl": "TURTLE"}
_TELL_EVERY = 8192


@dataclass(frozen=True, slots=True)
class Source:
    """Where the triples of a graph come from.

    Attributes:
        path: The RDF file or the folder.
        files: The files with their parts: `"edges"`, `"fb15k"`, `"values"`, `"names"`, or
            the name of an RDF format.
    """

    path: Path
    files: tuple[tuple[Path, str], ...]

    @property
    def is_rdf(self) -> bool:
        """Whether it is one RDF file."""
        return self.files[0][1] in _RDF.values()

    @property
    def size(self) -> int:
        """The bytes of all files, as they lie on disk."""
        return sum(path.stat().st_size for path, _ in self.files)

    def triples(self, progress: Progress = lambda done: None) -> Iterator[Triple]:
        """The triples; those with a blank node are left out.

        Raises:
            UsageError: A file is malformed; names file and line.
            MissingExtraError: An RDF file, and pyoxigraph is not installed.
        """
        done = 0
        for path, part in self.files:
            with path.open("rb") as raw:
                told = _told(raw, done, progress)
                yield from (
                    _rdf(path, raw, part, told) if self.is_rdf else _tsv(path, raw, part, told)
                )
            done += path.stat().st_size
            progress(done)


def find_source(path: Path) -> Source:
    """What lies at `path`.

    Raises:
        UsageError: Nothing that is a graph; says what would be.
    """
    if path.is_dir():
        return Source(path, tuple(_folder_files(path)))
    suffixes = [suffix for suffix in path.suffixes[-2:] if suffix != ".gz"]
    form = _RDF.get(suffixes[-1]) if suffixes else None
    if form is None or not path.is_file():
        seen = "is another file" if path.is_file() else "does not exist"
        raise UsageError(f"a graph is {FORM}; {path} {seen}")
    return Source(path, ((path, form),))


def _folder_files(folder: Path) -> Iterator[tuple[Path, str]]:
    def found(name: str) -> Path | None:
        return next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)

    edges = found("triples.tsv")
    parts = (
        [(edges, "edges")]
        if edges
        else [(found(f"{name}.txt"), "fb15k") for name in ("train", "valid", "test")]
    )
    if parts[0][0] is None:
        raise UsageError(f"a graph is {FORM}; the folder {folder} has neither")
    values = "attributes.tsv" if edges else "numeric.tsv"
    parts += [(found(values), "values"), (found("names.tsv"), "names")]
    yield from ((path, part) for path, part in parts if path is not None)


def _told(raw: BinaryIO, before: int, progress: Progress) -> Callable[[], None]:
    return lambda: progress(before + raw.tell())


def opened(path: Path, raw: BinaryIO | None = None) -> BinaryIO:
    """A file to read, unpacked where it is packed; `raw` where it is open already."""
    if path.suffix == ".gz":
        return cast("BinaryIO", gzip.GzipFile(path if raw is None else None, fileobj=raw))
    return path.open("rb") if raw is None else raw


def _tsv(path: Path, raw: BinaryIO, part: str, told: Callable[[], None]) -> Iterator[Triple]:
    width = 2 if part == "names" else 3
    known: dict[str, str] = {}

    def spelled(text: str) -> str:
        if (name := known.get(text)) is None:
            name = known[text] = normal_id(_freebase(text) if part == "fb15k" else text)
        return name

    for number, line in _lines(path, raw):
        fields = line.split("\t")
        if len(fields) != width or not fields[0]:
            raise UsageError(
                f"{path}, line {number}: expected {width} fields with tabs between them, "
                f"got {line[:80]!r}"
            )
        if part == "names":
            yield spelled(fields[0]), NAME_PREDICATES[1], Literal(fields[1])
        elif part == "values":
            yield spelled(fields[0]), spelled(fields[1]), typed(fields[2])
        else:
            yield spelled(fields[0]), spelled(fields[1]), spelled(fields[2])
        if number % _TELL_EVERY == 0:
            told()


def _freebase(text: str) -> str:
    """FB15k's `/m/027rn` and `/a/b/c./d/e/f` as `m.027rn` and `a.b.c..d.e.f`."""
    return text.removeprefix("/").replace("/", ".")


def _lines(path: Path, raw: BinaryIO) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        for number, line in enumerate(opened(path, raw), 1):
            text = line.decode().rstrip("\r\n")
            if text:
                yield number, text
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}, line {number}: not UTF-8 ({error.reason})") from error
    except (OSError, EOFError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _rdf(path: Path, raw: BinaryIO, form: str, told: Callable[[], None]) -> Iterator[Triple]:
    try:
        import pyoxigraph as ox
    except ImportError as error:
        raise MissingExtraError("pyoxigraph", "graph", f"Reading {path}") from error
    quads = ox.parse(input=opened(path, raw), format=getattr(ox.RdfFormat, form))
    try:
        for number, quad in enumerate(quads):
            subject, target = quad.subject, quad.object
            if number % _TELL_EVERY == 0:
                told()
            if not isinstance(subject, ox.NamedNode):
                continue
            if isinstance(target, ox.NamedNode):
                yield id_of(subject.value), id_of(quad.predicate.value), id_of(target.value)
            elif isinstance(target, ox.Literal):
                yield id_of(subject.value), id_of(quad.predicate.value), _literal(target)
    except (SyntaxError, OSError, EOFError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _literal(target: object) -> Literal:
    value, language = target.value, target.language  # type: ignore[attr-defined]
    datatype = LANG_STRING if language else target.datatype.value  # type: ignore[attr-defined]
    return Literal(value, datatype or STRING, language or "")
