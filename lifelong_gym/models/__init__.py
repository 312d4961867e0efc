"""Language models: what they are, the drivers, and the pool that shares them.

Importing this package loads no driver's packages: those come with the first model made.
"""

from __future__ import annotations

from lifelong_gym.models.cache import ResponseCache
from lifelong_gym.models.contract import Completion, Conversation, LanguageModel, Sampling
from lifelong_gym.models.errors import (
    BatchError,
    BudgetSpentError,
    ConnectionLostError,
    ContextTooLongError,
    EmptyCompletionError,
    ModelError,
    ModelFailedError,
    ModelSetupError,
    QuotaExhaustedError,
    RateLimitedError,
    RequestRefusedError,
    TemplateRefusedError,
    generate_each,
)
from lifelong_gym.models.metering import Budget, Metered
from lifelong_gym.models.openai import OpenAIModel
from lifelong_gym.models.pool import ModelPool
from lifelong_gym.models.pooled import PooledModel
from lifelong_gym.models.reference import ModelReference, Price
from lifelong_gym.models.scripted import ScriptedModel
from lifelong_gym.models.transformers import TransformersModel

__all__ = [
    "BatchError",
    "Budget",
    "BudgetSpentError",
    "Completion",
    "ConnectionLostError",
    "ContextTooLongError",
    "Conversation",
    "EmptyCompletionError",
    "LanguageModel",
    "Metered",
    "ModelError",
    "ModelFailedError",
    "ModelPool",
    "ModelReference",
    "ModelSetupError",
    "OpenAIModel",
    "PooledModel",
    "Price",
    "QuotaExhaustedError",
    "RateLimitedError",
    "RequestRefusedError",
    "ResponseCache",
    "Sampling",
    "ScriptedModel",
    "TemplateRefusedError",
    "TransformersModel",
    "generate_each",
]
