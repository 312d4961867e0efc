"""LanguageModelAgent: asks a language model what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import gymnasium

from lifelong_gym.actions import strip_thinking
from lifelong_gym.baselines import prompts
from lifelong_gym.baselines.agents.seeds import EpisodeSeeds
from lifelong_gym.core import Agent, Decision, Message, Stop
from lifelong_gym.errors import RunPaused, UsageError
from lifelong_gym.models import (
    Completion,
    EmptyCompletionError,
    LanguageModel,
    ModelError,
    Sampling,
    generate_each,
)


class LanguageModelAgent(Agent):
    """Continues the conversation with a model, and sends what it said.

    Where the environment's `action_format` is `"tools"` the model is given the tools, and
    its calls are the action; a reply without a call is sent as it is, for the environment to
    judge. A conversation that no longer fits ends the episode with `context_limit`, a reply
    that says nothing with `empty_completion`; both are scored. An endpoint that fails ends
    it with `model_error`, unscored.

    Every reply has its own seed, drawn from the episode's: a run repeats, and resumes as if
    it had not stopped.

    Args:
        env: The environment to act in.
        model: What is asked: a driver, one of a `ModelPool`, or anything with `generate`.
        sampling: How replies are drawn; None takes what the model's reference says, else
            `Sampling()`.
        prompt: How the system text is made: `"direct"` is the environment's rules alone,
            `"think"` asks for thoughts before each action; or the path of a file with
            `{rules}` in it. None takes `"tools"` or `"direct"`, by the action format.
        keep_thinking: Shows the model its earlier thoughts, which reasoning models are made
            to be asked without.
        pause_after: After how many failures of the endpoint in a row the run is paused.

    Raises:
        UsageError: There is no such prompt, or `model` cannot generate.

    Examples:
        >>> from lifelong_gym.models import ScriptedModel
        >>> from lifelong_gym.testing import ScriptedEnv
        >>> env = ScriptedEnv([("Say please.", "please")])
        >>> agent = LanguageModelAgent(env, ScriptedModel(["please"]))
        >>> observation, info = agent.reset()
        >>> info = agent.step(None)[-1]
        >>> info["success"], info["usage"]["calls"]
        (True, 1)
    """

    harmless_settings: ClassVar[frozenset[str]] = frozenset({"pause_after"})

    def __init__(
        self,
        env: gymnasium.Env[str, Any],
        model: LanguageModel,
        *,
        sampling: Sampling | None = None,
        prompt: str | Path | None = None,
        keep_thinking: bool = False,
        pause_after: int = 5,
    ) -> None:
        if not callable(getattr(model, "generate", None)):
            raise UsageError(
                f"model must have a method generate, got {model!r}: "
                "a reference becomes a model in ModelPool"
            )
        if isinstance(pause_after, bool) or pause_after < 1:
            raise UsageError(f"pause_after must be at least 1, got {pause_after!r}")
        self._takes_tools = getattr(env.unwrapped, "action_format", "text") == "tools"
        self._model = model
        self._sampling = sampling or getattr(model, "sampling", None) or Sampling()
        self._prompt = prompts.load(prompt or ("tools" if self._takes_tools else "direct"))
        self._keep_thinking, self._pause_after = keep_thinking, pause_after
        self._failures = 0
        super().__init__(
            env,
            model=model,
            sampling=self._sampling,
            prompt=self._prompt,  # its text: another text under the same name is another run
            keep_thinking=keep_thinking,
            pause_after=pause_after,
        )
        self._seeds = EpisodeSeeds(env)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Starts an episode, and its seeds."""
        observation, info = super().reset(seed=seed, options=options)
        self._seeds.begin(seed, info)
        return observation, info

    def act(self, messages: Sequence[Message]) -> str:
        """Asks the model once.

        Returns:
            A `Decision` with the completion, or a `Stop`.

        Raises:
            RunPaused: The budget is spent, the quota gone, or the endpoint has failed
                `pause_after` times in a row.
        """
        return self.act_batch([messages])[0]

    def act_batch(self, conversations: Sequence[Sequence[Message]]) -> list[str]:
        """Asks the model about several conversations in one call; see `act`."""
        sent = [self.prompted(messages) for messages in conversations]
        outcomes = generate_each(
            self._model,
            sent,
            sampling=self._sampling,
            tools=self.offered_tools,
            seed=[self._seeds.draw(messages) for messages in sent],
        )
        return [self._decision(outcome) for outcome in outcomes]

    @property
    def offered_tools(self) -> list[dict[str, Any]] | None:
        """The tools that the model is given; None where actions are text."""
        if not self._takes_tools:
            return None
        tools: list[dict[str, Any]] = self.env.get_wrapper_attr("tools")
        return tools

    def prompted(self, messages: Sequence[Message]) -> list[Message]:
        """`messages` as the model is sent them: the prompt filled in, old thoughts left out."""
        sent = [self._shown(message) for message in messages]
        rules = ""
        if sent and sent[0]["role"] == "system":
            rules = str(sent.pop(0)["content"])
        system = prompts.fill(self._prompt, rules)
        return [{"role": "system", "content": system}, *sent] if system else sent

    def _shown(self, message: Message) -> Message:
        content = message.get("content")
        if self._keep_thinking or message["role"] != "assistant" or not content:
            return dict(message)
        # A text that was all thought stays: endpoints refuse an empty one.
        return {**message, "content": strip_thinking(content).strip() or content}

    def _decision(self, outcome: Completion | ModelError) -> str:
        if isinstance(outcome, ModelError):
            return self._stop(outcome)
        self._failures = 0
        if outcome.is_empty:
            return _PaidStop(EmptyCompletionError.status, _why_empty(outcome), outcome)
        if outcome.tool_calls:
            return Decision(json.dumps(list(outcome.tool_calls), ensure_ascii=False), [outcome])
        return Decision(outcome.text, [outcome])

    def _stop(self, error: ModelError) -> Stop:
        self._failures = self._failures + 1 if error.status == "model_error" else 0
        if self._failures >= self._pause_after:
            failures, self._failures = self._failures, 0
            raise RunPaused(
                f"the model failed {failures} times in a row, last with: {error}; "
                "run the same again when it works"
            ) from error
        return Stop(error.status, str(error))


def first_prompt(agent: gymnasium.Env[Any, Any]) -> list[Message]:
    """What the model would be sent first: resets the stack, and asks no model.

    Args:
        agent: A stack with a `LanguageModelAgent` in it, wrappers and outer agents included.

    Returns:
        The messages, in OpenAI's form.

    Raises:
        UsageError: There is no such agent in the stack.

    Examples:
        >>> from lifelong_gym.models import ScriptedModel
        >>> from lifelong_gym.testing import ScriptedEnv
        >>> agent = LanguageModelAgent(ScriptedEnv(["Say hello."]), ScriptedModel([]))
        >>> first_prompt(agent)[-1]
        {'role': 'user', 'content': 'Say hello.'}
    """
    if not agent.has_wrapper_attr("prompted"):
        raise UsageError(f"there is no LanguageModelAgent in {agent}: nothing asks a model")
    agent.reset()
    messages: list[Message] = agent.get_wrapper_attr("prompted")(
        agent.get_wrapper_attr("conversation")
    )
    return messages


class _PaidStop(Stop, Decision):
    """A stop that cost something: the completion that said nothing is counted."""

    def __new__(cls, status: str, reason: str, completion: Completion) -> _PaidStop:
        stop = cast("_PaidStop", super().__new__(cls, status, reason))
        stop.completions = (completion,)
        return stop

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.status, self.reason, self.completions[0]


def _why_empty(completion: Completion) -> str:
    if completion.finish_reason == "length":
        count: Mapping[str, int] = completion.usage
        return (
            f"the model said nothing within {count.get('completion_tokens', 0)} tokens: it may "
            "have spent them on thinking; raise max_tokens"
        )
    return f"the model said nothing (finish reason {completion.finish_reason!r})"
