"""Building an embedded store from files: `lifelong-gym graph build SOURCE --output FOLDER`.

The command prints nothing but a progress bar; `build_graph` is all of it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lifelong_gym.backends.graph import oxigraph
from lifelong_gym.backends.graph.embedded import INDEX_FOLDER, STORE_FOLDER
from lifelong_gym.backends.graph.indexing import IndexBuilder
from lifelong_gym.backends.graph.sources import Progress, Source, find_source
from lifelong_gym.errors import UsageError


@dataclass(frozen=True, slots=True)
class Built:
    """What was built.

    Attributes:
        folder: Where it lies.
        triples: How many different triples it has, those with blank nodes apart.
        entities: How many ids are a subject or an object of one.
    """

    folder: Path
    triples: int
    entities: int


def build_graph(source: str | Path, output: str | Path, *, progress: bool = False) -> Built:
    """Loads a graph into a folder that opens in milliseconds.

    Args:
        source: A `.nt` or `.ttl` file or a folder of TSV, see `sources`.
        output: A folder that does not exist yet or is empty; it is whole or not there.
        progress: Whether to show a progress bar on the terminal.

    Raises:
        UsageError: `source` is no graph or is malformed, or `output` is in use.
        MissingExtraError: pyoxigraph is not installed.
    """
    found, folder = find_source(Path(source)), Path(output).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty: give a folder that does not exist yet")
    part = _part_of(folder)
    try:
        (part / INDEX_FOLDER).mkdir()
        with _shown(found.size, progress) as tell:
            built = _build(found, part, tell)
        part.chmod(0o777 & ~_umask())
        part.replace(folder)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Built(folder, *built)


def _part_of(folder: Path) -> Path:
    """A new folder beside the one to build: nobody else's, whatever it is called."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _build(source: Source, folder: Path, tell: Progress) -> tuple[int, int]:
    builder = IndexBuilder()
    triples = source.triples(tell)
    if source.is_rdf:
        builder.add(triples)
        oxigraph.fill_from_rdf(source, folder / STORE_FOLDER)
    else:
        store = oxigraph.fill(oxigraph.teed(triples, builder), folder / STORE_FOLDER)
        store.flush()
        del store
    index = builder.finish()
    index.save(folder / INDEX_FOLDER)
    return index.triples, len(index.ids)


@contextmanager
def _shown(total: int, progress: bool) -> Iterator[Progress]:
    if not progress:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("Building", total=total)
        yield lambda done: bar.update(task, completed=done)
        bar.update(task, completed=total, description="Built")
