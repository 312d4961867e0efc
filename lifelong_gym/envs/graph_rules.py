"""What the agent of the KnowledgeGraph environment is told: rules, tools, lists."""

from __future__ import annotations

from collections.abc import Sequence

from lifelong_gym.tools import tool_schema

FINAL_ANSWER = "Final Answer"
"""What submits a variable, as text; no action can have that name."""

FINAL_TOOL = "final_answer"
"""The same as a tool."""

PARAMETERS = {
    "get_relations": ("argument",),
    "get_neighbors": ("argument", "relation"),
    "intersection": ("first", "second"),
    "get_attributes": ("variable",),
    "argmax": ("variable", "attribute"),
    "argmin": ("variable", "attribute"),
    "count": ("variable",),
    FINAL_TOOL: ("variable",),
}
"""What each action takes, in order."""

ACTIONS = tuple(name for name in PARAMETERS if name != FINAL_TOOL)
"""The seven actions."""

EXPECTED = (
    "Expected `Action: name(arguments)`, the name one of "
    f"{', '.join(ACTIONS)}, or `Final Answer: #n`."
)
EXPECTED_TOOL = f"Expected a JSON list with one call of {', '.join(PARAMETERS)}."
TOO_SLOW = "the set is too large for this action. Narrow it first, for example by an intersection"
NO_VARIABLES = (
    "none yet. Use get_relations to list the relations of an entity, then get_neighbors to "
    "follow one; that makes the first variable"
)

_RULES = """\
You answer a question by walking through a knowledge graph. In every turn you do one of two \
things: carry out one action, or submit the final answer.

An entity is written by its name, as the question's list of entities has it. A set of \
entities that an action finds is a Variable: it gets a name, #0, #1, #2 and so on, and you \
are told its type and its size.

1. get_relations(argument): all relations that lead from an entity or a Variable. \
Example: {get_relations}
2. get_neighbors(argument, relation): a new Variable, the entities to which the relation \
leads. Use get_relations on the same argument first. Example: {get_neighbors}
3. intersection(first, second): a new Variable, the entities that are in both Variables, \
which must have the same type. Example: {intersection}
4. get_attributes(variable): all attributes of which entities of a Variable have a value. \
Example: {get_attributes}
5. argmax(variable, attribute): a new Variable, the entities with the largest value. Use \
get_attributes on the same Variable first. Example: {argmax}
6. argmin(variable, attribute): the same with the smallest value. Example: {argmin}
7. count(variable): a new Variable, the number of entities in a Variable. Example: {count}

What argmax, argmin and count give can only be the final answer, no input of an action.

The final answer is one Variable: {final_answer}

You have {turns} turns, and the last must be the final answer. A mistake, such as a relation \
that was not listed, is answered with an error and costs a turn."""

_EXAMPLES = {
    "get_relations": ("Barack Obama",),
    "get_neighbors": ("#0", "people.person.profession"),
    "intersection": ("#0", "#1"),
    "get_attributes": ("#0",),
    "argmax": ("#1", "people.person.height_meters"),
    "argmin": ("#1", "people.person.height_meters"),
    "count": ("#0",),
}

_ANY = "The name of an entity, or a Variable such as #0."
_VARIABLE = "A Variable such as #0."
_TEXTS = {
    "get_relations": ("Lists the relations that lead from an entity or a Variable.", _ANY),
    "get_neighbors": (
        "Makes a Variable of the entities to which a relation leads.",
        _ANY,
        "A relation that get_relations listed for the argument.",
    ),
    "intersection": ("Makes a Variable of what is in two Variables.", _VARIABLE, _VARIABLE),
    "get_attributes": ("Lists the attributes of a Variable.", _VARIABLE),
    "argmax": (
        "Makes a Variable of the entities with the largest value.",
        _VARIABLE,
        "An attribute that get_attributes listed for the Variable.",
    ),
    "argmin": (
        "Makes a Variable of the entities with the smallest value.",
        _VARIABLE,
        "An attribute that get_attributes listed for the Variable.",
    ),
    "count": ("Makes a Variable of the number of entities in a Variable.", _VARIABLE),
    FINAL_TOOL: ("Submits a Variable as the final answer.", _VARIABLE),
}

TOOLS = [
    tool_schema(
        name,
        _TEXTS[name][0],
        {
            parameter: {"type": "string", "description": text}
            for parameter, text in zip(parameters, _TEXTS[name][1:], strict=True)
        },
        parameters,
    )
    for name, parameters in PARAMETERS.items()
]
"""The actions as OpenAI tool schemas."""


def rules(action_format: str, turns: int) -> str:
    """The rules of the domain in the form of the actions."""
    if action_format == "tools":
        calls = {
            name: f"call {name} with {', '.join(arguments)}."
            for name, arguments in _EXAMPLES.items()
        }
        final = "call the tool final_answer, for example with #3."
    else:
        calls = {
            name: f"Action: {name}({', '.join(arguments)})" for name, arguments in _EXAMPLES.items()
        }
        final = "\nFinal Answer: #3"
    return _RULES.format(**calls, final_answer=final, turns=turns)


def listed(names: Sequence[str], max_bytes: int) -> str:
    """Names in brackets, in full where they fit and else cut visibly behind a name.

    Examples:
        >>> listed(["a.b", "c.d"], 1000), listed(["a.b", "c.d"], 8)
        ('[a.b, c.d]', '[a.b, ... 1 more]')
    """
    whole = f"[{', '.join(names)}]"
    if len(whole.encode()) <= max_bytes:
        return whole
    left, kept = max_bytes, list[str]()
    for name in names:
        left -= len(name.encode()) + 2
        if kept and left < 0:
            break
        kept.append(name)
    return f"[{', '.join(kept)}, ... {len(names) - len(kept)} more]"
