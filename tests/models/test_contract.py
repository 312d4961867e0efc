"""The contract: sampling, seeds, errors."""

import pickle
import sys

import pytest

from lifelong_gym import models
from lifelong_gym.core import STOP_STATUSES
from lifelong_gym.errors import MissingExtraError, RunPaused, UsageError
from lifelong_gym.models import (
    BatchError,
    Completion,
    ContextTooLongError,
    ModelError,
    RateLimitedError,
    Sampling,
    generate_each,
)
from lifelong_gym.models.contract import seeds


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"temperature": -1}, "temperature must be at least 0, got -1"),
        ({"temperature": float("nan")}, "temperature must be at least 0"),
        ({"top_p": 0}, "top_p must be above 0 and at most 1, got 0"),
        ({"max_tokens": 0}, "max_tokens must be at least 1, got 0"),
        ({"max_tokens": 1.5}, r"max_tokens must be a whole number, got 1\.5"),
        ({"stop": ("",)}, "stop must be texts that are not empty"),
    ],
)
def test_sampling_out_of_range_is_refused(arguments, message):
    with pytest.raises(UsageError, match=message):
        Sampling(**arguments)


def test_one_stop_text_needs_no_list():
    assert Sampling(stop="END").stop == ("END",)


def test_seeds_do_not_depend_on_the_rest_of_the_call(say):
    alone = seeds([say("a")], 5)
    together = seeds([say("b"), say("a"), say("a")], 5)

    assert together[1] == alone[0] == 5
    assert together[2] != 5
    assert seeds([say("a")] * 3, [1, 2, None]) == [1, 2, None]
    assert seeds([say("a"), say("a")], seeds([say("a"), say("a")], 5)) == seeds([say("a")] * 2, 5)


def test_every_seed_fits_every_provider(say):
    assert all(0 <= one < 2**31 for one in seeds([say("a")] * 50, 2**64 - 1))


@pytest.mark.parametrize("name", [name for name in models.__all__ if name.endswith("Error")])
def test_every_error_is_someones(name):
    kind = getattr(models, name)

    assert issubclass(kind, UsageError | ModelError | RunPaused)
    if issubclass(kind, ModelError):
        assert kind.status in STOP_STATUSES


@pytest.mark.parametrize(
    "error",
    [RateLimitedError("slow down", 5.0), BatchError([Completion("a"), ContextTooLongError("b")])],
)
def test_errors_cross_process_borders_whole(error):
    copy = pickle.loads(pickle.dumps(error))

    assert str(copy) == str(error)
    assert vars(copy).keys() == vars(error).keys()


def test_a_model_that_knows_no_batch_error_is_asked_one_by_one(say):
    class Simple:
        def generate(self, conversations, **options):
            if any("long" in messages[0]["content"] for messages in conversations):
                raise ContextTooLongError("too long")
            return [Completion(messages[0]["content"]) for messages in conversations]

    first, second = generate_each(Simple(), [say("a"), say("long")], sampling=Sampling())
    assert first.text == "a"
    assert isinstance(second, ContextTooLongError)


def test_a_copied_spec_shares_the_model():
    import gymnasium

    from lifelong_gym.baselines import LanguageModelAgent
    from lifelong_gym.testing import ScriptedEnv
    from lifelong_gym.wrappers import RecordTrajectory

    pool = models.ModelPool({"main": models.ScriptedModel(["a"])})
    env = ScriptedEnv(["one"])
    env.spec = gymnasium.envs.registration.EnvSpec("Scripted-v0", entry_point=ScriptedEnv)
    spec = RecordTrajectory(LanguageModelAgent(env, pool["main"])).spec

    assert spec.additional_wrappers[0].kwargs["model"] is pool["main"]


@pytest.mark.parametrize(
    ("package", "extra", "make"),
    [
        ("openai", "openai", lambda: models.OpenAIModel("m", base_url="http://127.0.0.1:9")),
        ("torch", "transformers", lambda: models.TransformersModel("m")),
        ("transformers", "transformers", lambda: models.TransformersModel("m")),
    ],
)
def test_a_missing_extra_answers_with_the_command(package, extra, make, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf'pip install "lifelong-gym\[{extra}\]"'):
        make()
