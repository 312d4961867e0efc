"""KnowledgeGraph: answer a question by walking through a knowledge graph.

A reply is `Action: name(arguments)` with one of seven actions, or `Final Answer: #n`. See
`docs/knowledge-graph.md`.
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Sequence
from typing import Any, cast

from lifelong_gym.actions import Form, Invalid, read_action
from lifelong_gym.backends.graph import (
    ActionError,
    ActionTimeout,
    Deadline,
    Exploration,
    Graph,
    Ontology,
    Variable,
    open_graph,
    read_ontology,
)
from lifelong_gym.core import Grading, LanguageEnv, Reply
from lifelong_gym.envs import graph_rules as rules
from lifelong_gym.envs.graph_acting import Acting
from lifelong_gym.envs.graph_calls import (
    Call,
    call_payload,
    plain_argument,
    read_call,
    variable_number,
    variable_payload,
)
from lifelong_gym.envs.graph_rules import FINAL_ANSWER
from lifelong_gym.errors import BackendError, UsageError
from lifelong_gym.scoring.answers import grade_set
from lifelong_gym.tasks import KnowledgeGraphTask, TaskSet
from lifelong_gym.tools import read_tool_call, tool_call, tool_calls

_LOOKED_UP = 20  # entities, to see whether the tasks and the graph belong together


class KnowledgeGraphEnv(LanguageEnv[KnowledgeGraphTask]):
    """One question an episode, over a graph that nobody changes.

    What an agent gets wrong, a name, a rule, a type, is an observation and costs a turn. An
    action that runs past its deadline is stopped, and the agent is told.

    Args:
        tasks: The tasks to play.
        graph: Where they are played; `close` lets go of it.
        ontology: What the agent is shown of the graph; None for all that is in it.
        action_timeout_s: After how many seconds an action is stopped.
        **settings: See `LanguageEnv`.

    Raises:
        UsageError: An argument is out of its range, or there is no task.
    """

    domain = "knowledge_graph"
    default_max_turns = 15

    def __init__(
        self,
        tasks: Sequence[KnowledgeGraphTask],
        graph: Graph,
        *,
        ontology: Ontology | None = None,
        action_timeout_s: float = 10.0,
        **settings: Any,
    ) -> None:
        super().__init__(tasks, **settings)
        if not action_timeout_s > 0:
            raise UsageError(f"action_timeout_s must be above 0, got {action_timeout_s!r}")
        self._graph, self._ontology = graph, ontology
        self._timeout_s = action_timeout_s
        self._fits = False
        self._walk = Exploration(graph, ontology)
        self._answer: Variable | None = None

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The seven actions and `final_answer`, as OpenAI tool schemas."""
        return [dict(tool) for tool in rules.TOOLS]

    @property
    def backend(self) -> dict[str, str]:
        """The name and version of what holds the graph; opens it if need be."""
        return {"name": self._graph.name, "version": self._graph.version}

    @property
    def idle_action(self) -> str:
        """An answer that names no variable, which is no action."""
        return "Final Answer: none"

    def why_invalid(self, text: str) -> str | None:
        """Why `text` holds no action, and what was expected; None if it holds one."""
        if self.action_format == "tools":
            return None if tool_calls(text) else f"no tool call was found. {rules.EXPECTED_TOOL}"
        return None if read_action(text, _forms()) else f"no action was found. {rules.EXPECTED}"

    def reference_actions(self, task: KnowledgeGraphTask) -> Generator[str, str, None]:
        """Plays the reference actions, then answers with the last variable that they made."""
        names = {entity.id: entity.name for entity in task.entities}
        # Where an entity is called like a variable, the variable has to be called one.
        names |= {
            name: f"variable {name}" for name in task.ids if variable_number(name) is not None
        }
        for action in task.actions:
            call = read_call(action, {})
            arguments = tuple(names.get(argument, argument) for argument in call.arguments)
            yield self._write(Call(call.name, arguments))
        if self._walk.variables:
            yield self._write(Call(FINAL_ANSWER, (str(self._walk.variables[-1]),)))

    def render(self) -> str | None:
        """The episode so far, and the SPARQL and some members of every variable."""
        shown = super().render()
        if shown is None or not self._walk.variables:
            return shown
        variables = map(self._shown_variable, self._walk.variables)
        return "\n\n".join([shown, "== Variables", *variables])

    def _rules(self, task: KnowledgeGraphTask) -> str:
        return rules.rules(self.action_format, self.max_turns)

    def _start(self, task: KnowledgeGraphTask) -> str:
        if not self._fits:
            self._check_graph(task)
        self._walk = Exploration(self._graph, self._ontology)
        self._answer = None
        alike = [name for name in task.ids if variable_number(name) is not None]
        note = "".join(
            f"\n{name} is that entity; write variable {name} for the Variable." for name in alike
        )
        return f"Question: {task.instruction}\nEntities: {list(task.ids)}{note}"

    def _respond(self, action: str, task: KnowledgeGraphTask) -> Reply:
        read = self._read(action, task)
        if isinstance(read, Invalid):
            return Reply(f"Error: {read.reason}")
        acting = Acting(self._walk, self._graph, task.ids)
        try:
            if read.name == FINAL_ANSWER:
                self._answer = acting.variable(read.arguments[0])
                return Reply(f"The answer {self._answer} was submitted.", finished=True)
            made = acting.perform(read, Deadline(self._timeout_s))
        except ActionError as error:
            return Reply(f"Error in executing '{read}'. Error: {error}")
        except ActionTimeout as error:
            return Reply(
                f"Error in executing '{read}'. Error: {read.name}: {error}: {rules.TOO_SLOW}"
            )
        success = f"{read} executes successfully. Observation: "
        if isinstance(made, Variable):
            return Reply(success + made.described, info={"variable": made.record})
        left = self.max_observation_bytes - len(success.encode())
        return Reply(success + rules.listed(made, left))

    def _grade(self, task: KnowledgeGraphTask) -> Grading:
        if self._answer is None:
            return grade_set(None, task.answer)
        submitted = frozenset(self._answer.entities)
        return grade_set(submitted, task.answer, is_count=self._answer.is_count)

    def _give_up(self) -> None:
        self._graph.close()

    def _check_graph(self, task: KnowledgeGraphTask) -> None:
        """Refuses a graph that has nothing to do with the tasks."""
        first = (entity for other in (task, *self.task_set) for entity in other.entities)
        looked_up = [entity for entity, _ in zip(first, range(_LOOKED_UP), strict=False)]
        deadline = Deadline(self._timeout_s)
        try:
            found = any(self._graph.entity(entity.id, deadline) for entity in looked_up)
        except ActionTimeout as error:
            raise BackendError(f"looking up an entity was {error}") from error
        if looked_up and not found:
            raise UsageError(
                f"the graph has none of {', '.join(entity.id for entity in looked_up[:3])}, ...: "
                "give the graph of these tasks, graph=PATH or a SPARQL endpoint's URL"
            )
        self._fits = True

    # Reading and writing actions -------------------------------------------------------

    def _read(self, text: str, task: KnowledgeGraphTask) -> Call | Invalid:
        if self.action_format == "tools":
            read = read_tool_call(text, rules.TOOLS)
            if isinstance(read, Invalid):
                return read
            name, given = read
            arguments = tuple(
                plain_argument(given[parameter], task.ids) for parameter in rules.PARAMETERS[name]
            )
            return Call(FINAL_ANSWER if name == rules.FINAL_TOOL else name, arguments)
        action = read_action(text, _forms())
        if action is None:  # step has asked why_invalid before
            raise ValueError("there is no action in the text")
        if action.name == FINAL_ANSWER:
            return Call(FINAL_ANSWER, (action.payload,))
        return read_call(action.payload, task.ids)

    def _write(self, call: Call) -> str:
        if self.action_format == "tools":
            name = rules.FINAL_TOOL if call.name == FINAL_ANSWER else call.name
            named = zip(rules.PARAMETERS[name], call.arguments, strict=True)
            return tool_call(name, dict(named))
        if call.name == FINAL_ANSWER:
            return f"Final Answer: {call.arguments[0]}"
        return f"Action: {call.name}({', '.join(call.arguments)})"

    def _shown_variable(self, variable: Variable) -> str:
        members = [str(member) for member, _ in zip(variable.entities, range(5), strict=False)]
        named = ", ".join(f"{self._graph.name_of(m) or ''} {m}".strip() for m in members)
        more = ", ..." if variable.size > len(members) else ""
        return f"{variable.described}\n{named}{more}\n{variable.sparql}"


@functools.cache
def _forms() -> tuple[Form, ...]:
    return (
        Form("Action", ("Action", ""), call_payload),
        Form(FINAL_ANSWER, (FINAL_ANSWER, ""), variable_payload),
    )


def make_knowledge_graph_env(
    tasks: str = "builtin",
    graph: str = "builtin",
    *,
    ontology: str | None = None,
    action_timeout_s: float = 10.0,
    **settings: Any,
) -> KnowledgeGraphEnv:
    """Builds `lifelong_gym/KnowledgeGraph-v0` from plain values.

    Args:
        tasks: A task reference, such as `"builtin"` or `"lifelongagentbench?path=FOLDER"`.
        graph: `"builtin"`, a path, `"rdflib+PATH"` or the URL of a SPARQL endpoint.
        ontology: A folder in AgentBench's form: what the agent is shown of the graph.
        action_timeout_s: After how many seconds an action is stopped.
        **settings: See `LanguageEnv`.

    Raises:
        UsageError: An argument is out of its range, or the tasks cannot be loaded.
    """
    return KnowledgeGraphEnv(
        cast("TaskSet[KnowledgeGraphTask]", TaskSet.load(tasks, "knowledge_graph")),
        open_graph(graph),
        ontology=None if ontology is None else read_ontology(ontology),
        action_timeout_s=action_timeout_s,
        **settings,
    )
