"""KnowledgeGraphTask: a question that a walk through a knowledge graph answers."""

from __future__ import annotations

from collections import Counter

import pydantic

from lifelong_gym.core import Task

GRAPH_SKILLS = (
    "argmax",
    "argmin",
    "count",
    "get_attributes",
    "get_neighbors",
    "get_relations",
    "intersection",
)
"""The seven skills of the paper's knowledge-graph environment: its actions."""


class NamedEntity(pydantic.BaseModel):
    """An entity that a question names.

    Attributes:
        name: What the question calls it; any text on one line.
        id: Its id in the graph.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    name: str = pydantic.Field(min_length=1)
    id: str = pydantic.Field(min_length=1)


class KnowledgeGraphTask(Task):
    """A question with the entities that it starts from.

    Attributes:
        entities: What the agent may start from.
        expression: The question as an S-expression, where one is known.
        actions: The reference solution: actions up to the one that gives the answer.
        answer: The ids of the right entities, or one number.
    """

    entities: tuple[NamedEntity, ...]
    expression: str = ""
    actions: tuple[str, ...] = pydantic.Field(min_length=1)
    answer: tuple[str, ...]

    @pydantic.model_validator(mode="after")
    def _names_are_unique(self) -> KnowledgeGraphTask:
        for name, count in Counter(entity.name for entity in self.entities).items():
            if count > 1:
                raise ValueError(f"entities must have different names, got {name!r} {count} times")
        return self

    @property
    def ids(self) -> dict[str, str]:
        """Name to id of the entities."""
        return {entity.name: entity.id for entity in self.entities}
