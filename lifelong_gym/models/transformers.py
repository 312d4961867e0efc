"""TransformersModel: a model of one's own machine, from a folder or the hub."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from lifelong_gym.errors import MissingExtraError
from lifelong_gym.models.contract import Completion, Conversation, Sampling, Seed, Shared, seeds
from lifelong_gym.models.drawing import Drawn, draw
from lifelong_gym.models.errors import (
    ContextTooLongError,
    ModelFailedError,
    ModelSetupError,
    Outcome,
    completed,
)
from lifelong_gym.models.keys import stamps
from lifelong_gym.models.templates import PLAIN_STOP, render_plainly, render_prompt
from lifelong_gym.models.tool_text import read_tool_calls
from lifelong_gym.text import replace_surrogates

_UNBOUNDED = 10**9  # what tokenizers say where they know no limit is far above this


class TransformersModel(Shared):
    """A causal language model run by transformers; loaded when it is made.

    Conversations are rendered by its chat template, or plainly where it has none. A reply
    depends on its conversation and seed, not on what else is in the batch. Threads take
    turns.

    Args:
        model: A folder, or a name on the hub.
        dtype: `"auto"` for what the weights are stored in, `"bfloat16"`, `"float32"`, ...
        device_map: How layers are laid out over devices, as transformers takes it
            (`"auto"`); None puts everything on the first GPU, or on the CPU.
        batch_size: How many conversations are continued at a time.
        max_context: How many tokens a conversation and its reply may have together; None
            takes the model's own limit.
        chat_template: A template to use instead of the model's.
        template_options: More variables for the template: `{"enable_thinking": False}`.
        revision: A branch, tag or commit on the hub.
        trust_remote_code: Runs code that comes with the model: only for models you trust.

    Raises:
        MissingExtraError: The extra `transformers` is not installed.
        ModelSetupError: There is no such model, or it cannot be loaded so.
    """

    harmless_options: ClassVar[frozenset[str]] = frozenset({"device_map", "batch_size"})

    def __init__(
        self,
        model: str,
        *,
        dtype: str = "auto",
        device_map: str | Mapping[str, Any] | None = None,
        batch_size: int = 16,
        max_context: int | None = None,
        chat_template: str | None = None,
        template_options: Mapping[str, Any] | None = None,
        revision: str | None = None,
        trust_remote_code: bool = False,
    ) -> None:
        self.model = str(model)
        self._template_options = dict(template_options or {})
        self._settings = {
            "dtype": dtype,
            "max_context": max_context,
            "chat_template": chat_template,
            "template_options": self._template_options,
            "revision": revision,
        }
        self._batch_size = batch_size
        self._lock = threading.Lock()
        origin = {"revision": revision, "trust_remote_code": trust_remote_code}
        self._tokenizer, self._model = _load(self.model, dtype, device_map, origin)
        if chat_template:
            self._tokenizer.chat_template = chat_template
        self._has_template = bool(getattr(self._tokenizer, "chat_template", None))
        self.max_context = max_context or _own_limit(self._tokenizer, self._model)

    @property
    def fingerprint(self) -> dict[str, Any]:
        """What the model is, without what changes no reply."""
        return {"provider": "transformers", "model": self.model, **self._settings}

    @property
    def identity(self) -> dict[str, Any]:
        """The same, and which files they are."""
        return {**self.fingerprint, "files": stamps(self.model)}

    def generate(
        self,
        conversations: Sequence[Conversation],
        *,
        sampling: Sampling,
        tools: Sequence[Mapping[str, Any]] | None = None,
        seed: Seed = None,
    ) -> list[Completion]:
        """Continues each conversation; see `LanguageModel`.

        Raises:
            ContextTooLongError: A conversation leaves no room for a reply.
            TemplateRefusedError: The chat template takes no such conversation.
        """
        with self._lock:
            prompts = [self._encode(messages, tools) for messages in conversations]
            each = seeds(conversations, seed)
            outcomes: dict[int, Outcome] = {}
            for limit, places in self._rooms(prompts, sampling.max_tokens).items():
                for batch in _batches(places, prompts, self._batch_size):
                    rows = [prompts[place] for place in batch]
                    drawn = self._draw(rows, sampling, [each[place] for place in batch], limit)
                    outcomes.update(zip(batch, drawn, strict=True))
        ordered = [outcomes[place] for place in range(len(prompts))]
        return completed([_with_calls(one) for one in ordered] if tools else ordered)

    def _encode(
        self, messages: Conversation, tools: Sequence[Mapping[str, Any]] | None
    ) -> list[int]:
        if self._has_template:
            text = render_prompt(self._tokenizer, messages, tools, self._template_options)
        else:
            text = render_plainly(messages, tools)
        # A template writes the special tokens itself; a second first token would confuse.
        encoded = self._tokenizer(
            replace_surrogates(text), add_special_tokens=not self._has_template, verbose=False
        )
        return list(encoded["input_ids"])

    def _rooms(self, prompts: Sequence[Sequence[int]], wanted: int) -> dict[int, list[int]]:
        """Which conversations can have replies of which length; 0 for those without room."""
        rooms: dict[int, list[int]] = {}
        for place, ids in enumerate(prompts):
            room = wanted if self.max_context is None else self.max_context - len(ids)
            rooms.setdefault(max(0, min(wanted, room)), []).append(place)
        return rooms

    def _draw(
        self,
        prompts: Sequence[Sequence[int]],
        sampling: Sampling,
        each: Sequence[int | None],
        limit: int,
    ) -> list[Outcome]:
        import torch

        if limit == 0:
            return [self._too_long(ids) for ids in prompts]
        stop = sampling.stop if self._has_template else (*sampling.stop, *PLAIN_STOP)
        try:
            drawn = draw(
                self._model,
                self._tokenizer,
                prompts,
                sampling,
                stop=stop,
                seeds=each,
                max_tokens=limit,
            )
        except torch.OutOfMemoryError as error:
            return self._draw_halves(prompts, sampling, each, limit, error)
        return [_completion(ids, one) for ids, one in zip(prompts, drawn, strict=True)]

    def _draw_halves(
        self,
        prompts: Sequence[Sequence[int]],
        sampling: Sampling,
        each: Sequence[int | None],
        limit: int,
        error: Exception,
    ) -> list[Outcome]:
        """The same as two smaller batches, until one conversation is too much."""
        if len(prompts) == 1:
            return [ModelFailedError(f"out of memory with {len(prompts[0])} tokens: {error}")]
        half = len(prompts) // 2
        return [
            *self._draw(prompts[:half], sampling, each[:half], limit),
            *self._draw(prompts[half:], sampling, each[half:], limit),
        ]

    def _too_long(self, ids: Sequence[int]) -> ContextTooLongError:
        return ContextTooLongError(
            f"the conversation has {len(ids)} tokens, the model takes {self.max_context} "
            "with the reply"
        )


def _load(model: str, dtype: str, device_map: Any, origin: Mapping[str, Any]) -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError as error:
        package = error.name or "transformers"
        raise MissingExtraError(package, "transformers", "TransformersModel") from error
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(model, **origin)
        network = transformers.AutoModelForCausalLM.from_pretrained(
            model, dtype=dtype, device_map=device_map, **origin
        )
    except (OSError, ValueError) as error:
        raise ModelSetupError(f"the model {model!r} cannot be loaded: {error}") from error
    if device_map is None:
        network = network.to("cuda" if torch.cuda.is_available() else "cpu")
    return tokenizer, network.eval()


def _own_limit(tokenizer: Any, network: Any) -> int | None:
    config = network.config.get_text_config()
    told = (getattr(config, "max_position_embeddings", None), tokenizer.model_max_length)
    return min((one for one in told if one and one < _UNBOUNDED), default=None)


def _batches(places: Iterable[int], prompts: Sequence[Sequence[int]], size: int) -> list[list[int]]:
    """Conversations of similar length together: less padding."""
    ordered = sorted(places, key=lambda place: len(prompts[place]))
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def _completion(ids: Sequence[int], drawn: Drawn) -> Completion:
    return Completion(
        text=replace_surrogates(drawn.text),
        prompt_ids=tuple(ids),
        completion_ids=drawn.ids,
        logprobs=drawn.logprobs,
        usage={"prompt_tokens": len(ids), "completion_tokens": len(drawn.ids)},
        finish_reason="stop" if drawn.is_finished else "length",
    )


def _with_calls(outcome: Outcome) -> Outcome:
    if not isinstance(outcome, Completion):
        return outcome
    text, calls = read_tool_calls(outcome.text)
    if not calls:
        return outcome
    return replace(outcome, text=text, tool_calls=calls, finish_reason="tool_calls")
