"""What an endpoint's refusal means: whose fault it is, and whether waiting helps.

Servers agree on little more than the status code, so most of this is wording, collected
from two dozen servers and services; `tests/models/test_refusals.py` lists it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lifelong_gym.errors import LifelongGymError
from lifelong_gym.models.errors import (
    ConnectionLostError,
    ContextTooLongError,
    EmptyCompletionError,
    ModelSetupError,
    QuotaExhaustedError,
    RateLimitedError,
    RequestRefusedError,
)
from lifelong_gym.models.waits import told_in_headers, told_in_words

_CONTEXT = re.compile(
    r"""
      context_length_exceeded | exceed_context_size | context_window_exceeded
    | string_above_max_length | model_context_window
    | (?:maximum|max|available|model'?s?|allowed)\ (?:allowed\ )?context\ (?:length|size|window)
    | context\ (?:length|size|window)\ (?:is\ only|of\ only|exceed|full)
    | exceed\w*\ (?:the\ |its\ |this\ |your\ )?(?:model'?s?\ |maximum\ |available\ )*
      context(?:\ (?:length|size|window|limit))?
    | context\ window\ exceeds\ limit | context\ the\ overflows
    | (?:longer|greater|larger|more)\ than\ the\ (?:model'?s\ |maximum\ )*
      (?:context|model)\ length
    | (?:prompt|input|request)\ (?:\(?\d+\ tokens\)?\ )?is\ (?:too\ long|too\ large)
    | (?:prompt|context)\ length\ \d+\ is\ greater\ than
    | prompt\ exceeds\ max\ length | exceeds\ max(?:imum)?_(?:seq|model|input)_len
    | maximum\ prompt\ length | prompt\ length\ \(?\d+\)?,?\ (?:exceeds|should\ not\ exceed)
    | input\ length\ (?:\(?\d+[^)]*\)?\ )?exceeds | range\ of\ input\ length\ should\ be
    | input\ tokens?\ (?:count\ )?(?:\(?\d+\)?\ )?(?:exceeds?|cannot\ exceed)
    | input\ token\ count\ (?:\(\d+\)\ )?exceeds | prompt\ token\ count\ of\ \d+\ exceeds
    | inputs`?\ (?:tokens\ \+\ `?max_new_tokens`?\ must\ be\ <= | must\ have\ less\ than)
    | tokens?\ exceed\ context\ window | exceed\w*\ model\ token\ limit
    | number\ of\ tokens\ in\ the\ prompt\ cannot\ exceed
    | number\ of\ tokens\ to\ keep\ from\ the\ initial\ prompt
    | reduce\ the\ length\ of\ the\ (?:messages|prompt|input)
    | max_tokens\ must\ be\ at\ least\ 1,\ got\ -
    | session_len | request_too_large
    """,
    re.VERBOSE | re.IGNORECASE,
)

_QUOTA_CODES = frozenset(
    {
        "insufficient_quota",
        "insufficient_user_quota",
        "insufficient_balance",
        "insufficient_credits",
        "billing_hard_limit_reached",
        "billing_not_active",
        "billing_error",
        "quota_exceeded",
        "account_deactivated",
        "arrearage",
    }
)

_QUOTA = re.compile(
    r"credit balance is too low|insufficient (?:account )?(?:balance|credits?|funds|quota)"
    r"|out of credits|not enough credits|requires more credits|billing hard limit"
    r"|account is not active|payment required|spending limit|monthly (?:usage )?limit",
    re.IGNORECASE,
)
_QUOTA_UNLESS_TOLD_TO_WAIT = re.compile(r"exceeded your (?:current )?quota", re.IGNORECASE)
_LIMIT_BELOW_REQUEST = re.compile(
    r"request too large for|input or output tokens must be reduced", re.IGNORECASE
)
_CONTENT_FILTER = re.compile(
    r"content[_ ](?:filter|management|policy)|ResponsibleAIPolicy|data_inspection_failed",
    re.IGNORECASE,
)
_ADVICE = {
    "temperature": "write temperature=none to leave it to the model",
    "top_p": "leave top_p at 1",
    "stop": "use no stop texts with this model",
    "max_tokens": "choose another max_tokens",
    "max_completion_tokens": "choose another max_tokens",
    "reasoning_effort": "use no reasoning_effort with this model",
}
_NO_TOOLS = re.compile(
    r"enable-auto-tool-choice|not support (?:tools?|function)\b|tools? (?:is|are) not supported",
    re.IGNORECASE,
)
_NO_SYSTEM = re.compile(
    r"system role (?:is )?not supported|only user and assistant roles|roles must alternate"
    r"|role\W+does not support\W+system",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"model\W.{0,80}(?:does not exist|not found|is not a valid)", re.IGNORECASE)
_LOST = frozenset({408, 409, 425, 499})


@dataclass(frozen=True, slots=True)
class Refusal:
    """What an endpoint answered instead of a completion.

    Attributes:
        status: The HTTP status, or the code in the body where that came with status 200.
        body: The decoded body, or its text.
        headers: The response's, names in lower case.
    """

    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def error(self) -> Mapping[str, Any]:
        """The part of the body that describes the error."""
        body = self.body[0] if isinstance(self.body, list) and self.body else self.body
        inner = body.get("error", body) if isinstance(body, Mapping) else body
        return inner if isinstance(inner, Mapping) else {"message": inner}

    @property
    def message(self) -> str:
        """What it says, for people."""
        error = self.error
        found = error.get("message") or error.get("detail") or error.get("msg") or self.body
        return str(found)[:2000]

    @property
    def text(self) -> str:
        """The whole body, in which wordings are looked for."""
        return f"{self.body}"[:20_000]

    @property
    def codes(self) -> set[str]:
        """The machine-readable names of the error, in lower case."""
        return {str(self.error[key]).lower() for key in ("code", "type") if self.error.get(key)}

    @property
    def retry_after_s(self) -> float | None:
        """How long the endpoint wants to be left alone, in seconds, if it says so."""
        return told_in_headers(self.headers) or told_in_words(self.text)

    @property
    def refuses_system(self) -> bool:
        """Whether the model behind the endpoint takes no system role."""
        return self.status in (400, 422, 500) and bool(_NO_SYSTEM.search(self.message))

    def refuses(self, *names: str) -> bool:
        """Whether one of these parameters is what the endpoint does not take."""
        if self.status not in (400, 422):
            return False
        if self.error.get("param") in names:
            return True
        quoted = "|".join(re.escape(name) for name in names)
        before = r"(?:unsupported|not support|unrecogni[sz]ed|unknown|unexpected|invalid|extra)"
        after = r"(?:not (?:supported|permitted|allowed)|unsupported)"
        wordings = (
            rf"{before}[^.]{{0,60}}?\b(?:{quoted})\b",
            rf"\b(?:{quoted})\b\W[^.]{{0,40}}{after}",
        )
        return any(re.search(wording, self.text, re.IGNORECASE) for wording in wordings)


def refusal_in(answer: Mapping[str, Any]) -> Refusal:
    """The refusal that came with status 200: its code may be in the body."""
    inner = answer["error"]
    code = str(inner.get("code")) if isinstance(inner, Mapping) else ""
    return Refusal(int(code) if re.fullmatch(r"[45]\d\d", code) else 500, answer, {})


def error_of(refusal: Refusal) -> LifelongGymError:
    """The error that a refusal stands for.

    Returns:
        One of `models.errors`; see there whose fault each is.
    """
    told = f"the endpoint answered {refusal.status}: {refusal.message}"
    if (paused := _paused(refusal, told)) is not None:
        return paused
    if refusal.status == 429:
        return RateLimitedError(told, refusal.retry_after_s)
    if refusal.status in (400, 404, 413, 422, 424) or refusal.status >= 500:
        if _is_too_long(refusal):
            return ContextTooLongError(told)
        if refusal.status < 500 and _CONTENT_FILTER.search(refusal.text):
            return EmptyCompletionError(told)
    if refusal.status in (503, 529) and refusal.retry_after_s:
        return RateLimitedError(told, refusal.retry_after_s)
    if refusal.status in _LOST or refusal.status >= 500:
        return ConnectionLostError(told)
    return _refused(refusal, told)


def _paused(refusal: Refusal, told: str) -> LifelongGymError | None:
    if refusal.status == 402 or refusal.codes & _QUOTA_CODES or _QUOTA.search(refusal.message):
        return QuotaExhaustedError(f"{told}; top the account up and run the same again")
    if refusal.status != 429:
        return None
    if _LIMIT_BELOW_REQUEST.search(refusal.message):
        return QuotaExhaustedError(f"{told}; the account's limit is below this one request")
    if _QUOTA_UNLESS_TOLD_TO_WAIT.search(refusal.message) and refusal.retry_after_s is None:
        return QuotaExhaustedError(f"{told}; run the same again when the quota is back")
    return None


def _is_too_long(refusal: Refusal) -> bool:
    return refusal.status == 413 or bool(_CONTEXT.search(refusal.text))


def _refused(refusal: Refusal, told: str) -> LifelongGymError:
    if refusal.status in (401, 403):
        return ModelSetupError(f"{told}; check the key (api_key_env=NAME names its variable)")
    if refusal.status in (404, 405) or _NO_MODEL.search(refusal.message):
        return ModelSetupError(f"{told}; check base_url and the model's name")
    for name, advice in _ADVICE.items():
        if refusal.refuses(name):
            return ModelSetupError(f"{told}; {advice}")
    if _NO_TOOLS.search(refusal.message):
        return ModelSetupError(f'{told}; let the server take tools, or use action_format="text"')
    return RequestRefusedError(told)
