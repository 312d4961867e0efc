"""Knowledge graphs: one contract, and the drivers that keep it.

- `builtin`: a small graph that comes with the package.
- A path: an RDF file or a folder of TSV, read into memory; or a folder that `build_graph`
  made, which opens at once.
- `rdflib+PATH`: the same files through rdflib, in memory.
- `http://...` or `https://...`: a SPARQL 1.1 endpoint.
"""

from __future__ import annotations

from lifelong_gym.backends.graph.build import Built, build_graph
from lifelong_gym.backends.graph.contract import ActionTimeout, Deadline, Entities, Graph
from lifelong_gym.backends.graph.exploration import ActionError, Exploration, Start, Variable
from lifelong_gym.backends.graph.ontology import Ontology, read_ontology
from lifelong_gym.backends.graph.opening import open_graph

__all__ = [
    "ActionError",
    "ActionTimeout",
    "Built",
    "Deadline",
    "Entities",
    "Exploration",
    "Graph",
    "Ontology",
    "Start",
    "Variable",
    "build_graph",
    "open_graph",
    "read_ontology",
]
