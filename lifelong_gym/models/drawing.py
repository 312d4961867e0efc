"""Drawing tokens from a local model: one batch, each row as if it were alone."""

from __future__ import annotations

import bisect
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lifelong_gym.models.contract import Sampling


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn for one row.

    Attributes:
        ids: The drawn tokens, the end token or the stop text's tokens included.
        logprobs: Their log-probabilities, in nats, before temperature and `top_p`.
        text: The text before end and stop.
        is_finished: Whether it ended by itself; else it was cut.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    text: str
    is_finished: bool


def draw(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[Sequence[int]],
    sampling: Sampling,
    *,
    stop: Sequence[str],
    seeds: Sequence[int | None],
    max_tokens: int,
) -> list[Drawn]:
    """Continues a batch of prompts.

    Rows are padded on the left and masked, and each has its own generator: what is drawn
    for one depends on its prompt and seed, not on its neighbours (up to the rounding of the
    hardware, which can differ with the size of a batch).

    Args:
        model: A causal model of transformers.
        tokenizer: Its tokenizer.
        prompts: Token ids, none empty.
        sampling: How tokens are drawn.
        stop: Texts that end a row.
        seeds: A seed for each row.
        max_tokens: How many tokens a row has at most.
    """
    import torch
    from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

    end_ids = _end_ids(model, tokenizer)
    width = max(map(len, prompts))
    pad = end_ids[0] if end_ids else 0
    rows = [[pad] * (width - len(ids)) + list(ids) for ids in prompts]
    mask = [[0] * (width - len(ids)) + [1] * len(ids) for ids in prompts]
    sampler = _Sampler(sampling, seeds)
    criteria = [_StopTexts(tokenizer, stop, width)] if stop else []
    with torch.inference_mode():
        whole = model.generate(
            torch.tensor(rows, device=model.device),
            attention_mask=torch.tensor(mask, device=model.device),
            generation_config=GenerationConfig(**_neutral(end_ids, pad, max_tokens)),
            logits_processor=LogitsProcessorList([sampler]),
            stopping_criteria=StoppingCriteriaList(criteria),
        )
    logprobs = torch.stack(sampler.logprobs, dim=1).tolist()
    drawn = whole[:, width:].tolist()
    return [
        _finished(tokenizer, ids, row, end_ids, stop)
        for ids, row in zip(drawn, logprobs, strict=True)
    ]


def _neutral(end_ids: Sequence[int], pad: int, max_tokens: int) -> dict[str, Any]:
    """Settings under which `generate` itself decides nothing.

    Spelled out, because what is left unset comes from the model's own file: a penalty there
    would change what is drawn, and log-probabilities would not be the model's.
    """
    return {
        "do_sample": False,
        "num_beams": 1,
        "temperature": 1.0,
        "top_p": 1.0,
        "top_k": 50,
        "repetition_penalty": 1.0,
        "no_repeat_ngram_size": 0,
        "min_new_tokens": 0,
        "max_new_tokens": max_tokens,
        "eos_token_id": list(end_ids) or None,
        "pad_token_id": pad,
        "use_cache": True,
    }


def _end_ids(model: Any, tokenizer: Any) -> list[int]:
    told = model.generation_config.eos_token_id
    ids = [told] if isinstance(told, int) else list(told or ())
    if tokenizer.eos_token_id is not None and tokenizer.eos_token_id not in ids:
        ids.append(tokenizer.eos_token_id)
    return ids


class _Sampler:
    """A logits processor that chooses the token itself and leaves no other."""

    def __init__(self, sampling: Sampling, seeds: Sequence[int | None]) -> None:
        self._sampling = sampling
        self._random = [random.Random(seed) for seed in seeds]
        self.logprobs: list[Any] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        logprobs = torch.log_softmax(scores.float(), dim=-1)
        if self._sampling.is_greedy:
            chosen = logprobs.argmax(dim=-1, keepdim=True)
        else:
            chosen = self._draw(logprobs)
        self.logprobs.append(logprobs.gather(1, chosen)[:, 0])
        return torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0)

    def _draw(self, logprobs: Any) -> Any:
        """One uniform number a row, looked up in the sorted distribution.

        The numbers come from Python's generator: the same on every device.
        """
        import torch

        temperature = 1.0 if self._sampling.temperature is None else self._sampling.temperature
        weights = torch.softmax(logprobs.double() / temperature, dim=-1)
        ordered, ids = weights.sort(dim=-1, descending=True, stable=True)
        kept = ordered * (ordered.cumsum(-1) - ordered < self._sampling.top_p)
        mass = kept.cumsum(-1)
        numbers = torch.tensor([[one.random()] for one in self._random], dtype=mass.dtype)
        place = torch.searchsorted(mass, numbers.to(mass.device) * mass[:, -1:], right=True)
        last = (kept > 0).sum(-1, keepdim=True) - 1
        return ids.gather(1, torch.minimum(place, last))


class _StopTexts:
    """A stopping criterion: rows whose newest text holds a stop text."""

    def __init__(self, tokenizer: Any, stop: Sequence[str], start: int) -> None:
        self._tokenizer, self._stop, self._start = tokenizer, stop, start
        # A token is a byte at least, so these many hold the longest stop text.
        self._window = max(len(text.encode()) for text in stop) + 8

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        import torch

        rows = input_ids[:, self._start :][:, -self._window :].tolist()
        found = [_first(_decode(self._tokenizer, row), self._stop) is not None for row in rows]
        return torch.tensor(found, dtype=torch.bool, device=input_ids.device)


def _finished(
    tokenizer: Any,
    ids: list[int],
    logprobs: list[float],
    end_ids: Sequence[int],
    stop: Sequence[str],
) -> Drawn:
    """A row without the padding behind its end."""
    end = next((n for n, one in enumerate(ids) if one in end_ids), None)
    count = len(ids) if end is None else end + 1
    text = _decode(tokenizer, ids[:count])
    at = _first(text, stop)
    if at is not None:
        text = text[:at]
        count = 1 + bisect.bisect_left(
            range(1, count),
            True,
            key=lambda n: _first(_decode(tokenizer, ids[:n]), stop) is not None,
        )
    is_finished = at is not None or end is not None
    return Drawn(tuple(ids[:count]), tuple(logprobs[:count]), text, is_finished)


def _decode(tokenizer: Any, ids: Sequence[int]) -> str:
    return str(tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))


def _first(text: str, stop: Sequence[str]) -> int | None:
    return min((text.index(one) for one in stop if one in text), default=None)
