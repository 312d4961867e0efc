"""An ontology in AgentBench's form: which names are relations and attributes, and of what.

A folder with `vocab.json` (`relations`, `attributes`) and `fb_roles` (a line has a type, a
relation and the type that it leads to); `reverse_properties` (relation, tab, its reverse)
if there are any.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from lifelong_gym.errors import UsageError


@dataclass(frozen=True, slots=True)
class Ontology:
    """What counts in a graph, beside what the graph itself says.

    Attributes:
        relations: The relations that an agent is shown.
        attributes: The attributes that an agent is shown.
        ranges: Relation to the type that it leads to.
        reverses: Relation to the one that leads back.
    """

    relations: frozenset[str]
    attributes: frozenset[str]
    ranges: dict[str, str] = field(default_factory=dict)
    reverses: dict[str, str] = field(default_factory=dict)


def read_ontology(folder: str | Path) -> Ontology:
    """The ontology in a folder.

    Raises:
        UsageError: It is no such folder, or a file is malformed.
    """
    root = Path(folder)
    try:
        vocabulary = json.loads((root / "vocab.json").read_text(encoding="utf-8"))
        return Ontology(
            frozenset(vocabulary["relations"]),
            frozenset(vocabulary["attributes"]),
            _pairs(root / "fb_roles", " ", 1),
            _pairs(root / "reverse_properties", "\t", 0)
            if (root / "reverse_properties").exists()
            else {},
        )
    except OSError as error:
        raise UsageError(
            f"an ontology is a folder with vocab.json and fb_roles; {root}: {error}"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{root / 'vocab.json'} has no relations and attributes: {error}"
        ) from error


def _pairs(path: Path, separator: str, column: int) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        fields = line.split(separator)
        if line and len(fields) < column + 2:
            raise UsageError(f"{path}, line {number}: expected {column + 2} fields, got {line!r}")
        if line:
            pairs[fields[column]] = fields[column + 1]
    return pairs
