"""Acting: from a call as it was written to an action on the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lifelong_gym.backends.graph import (
    ActionError,
    Deadline,
    Exploration,
    Graph,
    Start,
    Variable,
)
from lifelong_gym.envs.graph_calls import Call, clipped, looks_like_variable, variable_number
from lifelong_gym.envs.graph_rules import ACTIONS, NO_VARIABLES, PARAMETERS


class Acting:
    """Carries calls out; what is wrong with one is an `ActionError` for the agent.

    Args:
        walk: The episode's exploration.
        graph: The graph, to see which ids it has.
        names: Name to id of the task's entities.
    """

    def __init__(self, walk: Exploration, graph: Graph, names: Mapping[str, str]) -> None:
        self._walk, self._graph, self._names = walk, graph, names

    def perform(self, call: Call, deadline: Deadline) -> list[str] | Variable:
        """What an action gives: relations, attributes, or a new variable.

        Raises:
            ActionError: The call breaks a rule.
            ActionTimeout: The deadline has passed.
        """
        name = call.name.lower()
        self._check(call, name)
        first = self._argument(name, call.arguments[0], deadline)
        if name == "intersection":
            return self._walk.intersection(first, self._argument(name, call.arguments[1], deadline))
        if name == "count":
            return self._walk.count(first)
        if name == "get_neighbors":
            return self._walk.get_neighbors(first, call.arguments[1], deadline)
        if name in ("argmax", "argmin"):
            return self._walk.extreme(name, first, call.arguments[1], deadline)
        listing: dict[str, Callable[..., list[str]]] = {
            "get_relations": self._walk.get_relations,
            "get_attributes": self._walk.get_attributes,
        }
        return listing[name](first, deadline)

    def variable(self, text: str) -> Variable:
        """The variable of that name.

        Raises:
            ActionError: There is none; names those that there are.
        """
        number = variable_number(text)
        variables = self._walk.variables
        if number is not None and number < len(variables):
            return variables[number]
        known = f"[{', '.join(map(str, variables))}]" if variables else NO_VARIABLES
        raise ActionError(
            f"Variable {clipped(text)} is not found in variable list. "
            f"Current variable list: {known}."
        )

    def _check(self, call: Call, name: str) -> None:
        if name not in ACTIONS:
            raise ActionError(
                f"Unknown action: {clipped(call.name)}. Available actions: [{', '.join(ACTIONS)}]"
            )
        if not call.is_closed:
            raise ActionError(f"{name}: the closing parenthesis is missing")
        wanted, given = PARAMETERS[name], len(call.arguments)
        if given != len(wanted):
            raise ActionError(
                f"{name} requires {_counted(len(wanted))} ({', '.join(wanted)}), "
                f"but {_counted(given)} {'is' if given == 1 else 'are'} provided"
            )

    def _argument(self, name: str, text: str, deadline: Deadline) -> Start | Variable:
        if (entity_id := self._names.get(text)) is not None:
            return Start(entity_id, text)
        if looks_like_variable(text):
            return self.variable(text)
        known = text in self._names.values()
        if known or (text and self._graph.entity(text, deadline) is not None):
            return Start(text, text)
        raise ActionError(
            f"{name}: {clipped(text)!r} is neither a Variable nor an entity. "
            f"The entities of this question are {list(self._names)}"
        )


def _counted(number: int) -> str:
    return "1 argument" if number == 1 else f"{number} arguments"
