"""ModelPool: loaded once and late, shared by threads."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lifelong_gym.errors import UsageError
from lifelong_gym.models import (
    Completion,
    ContextTooLongError,
    ModelPool,
    Price,
    Sampling,
    ScriptedModel,
)

WARM = Sampling(temperature=1.0)


class Slow:
    """Repeats what it is asked, and notes each call; never asked by two threads at once."""

    def __init__(self, pause_s=0.02):
        self.batches, self._busy, self._pause_s = [], threading.Lock(), pause_s

    def generate(self, conversations, *, sampling, tools=None, seed=None):
        assert self._busy.acquire(blocking=False), "two calls at once"
        try:
            time.sleep(self._pause_s)
            self.batches.append([messages[0]["content"] for messages in conversations])
            return [
                Completion(f"{messages[0]['content']} {one}", usage={"prompt_tokens": 1})
                for messages, one in zip(conversations, seed, strict=True)
            ]
        finally:
            self._busy.release()


def in_threads(function, values):
    with ThreadPoolExecutor(len(values)) as threads:
        return list(threads.map(function, values))


# Loading -------------------------------------------------------------------------------


def test_a_model_is_loaded_when_it_is_first_asked_and_once(ask):
    made = []

    def make():
        time.sleep(0.05)
        made.append(ScriptedModel(lambda messages: "Hello."))
        return made[-1]

    pool = ModelPool({"main": make, "other": make})
    assert made == []
    in_threads(lambda _: ask(pool["main"]), range(8))

    assert len(made) == 1


def test_a_pool_is_a_mapping(tmp_path):
    (tmp_path / "replies.json").write_text('["Hello."]')
    pool = ModelPool([f"main=scripted:{tmp_path}/replies.json", "judge=scripted:nowhere.json"])

    assert list(pool) == ["main", "judge"]
    assert len(pool) == 2
    with pytest.raises(KeyError, match="no model is called 'nope'"):
        pool["nope"]


def test_a_reference_that_cannot_be_loaded_says_so_when_it_is_asked(ask):
    pool = ModelPool(["scripted:nowhere.json"])
    with pytest.raises(UsageError, match=r"nowhere\.json cannot be read"):
        ask(pool["main"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": ["a=scripted:x", "a=scripted:y"]}, "two models are called 'a'"),
        ({"models": "scripted:x"}, "models is a mapping or a list"),
        ({"models": {}, "prices": {"main": Price()}}, "prices names 'main'"),
        ({"models": {}, "max_in_flight": 0}, "max_in_flight must be at least 1, got 0"),
    ],
)
def test_a_wrong_argument_is_refused(arguments, message):
    with pytest.raises(UsageError, match=message):
        ModelPool(**arguments)


def test_closing_closes_the_models(ask):
    class Closing(ScriptedModel):
        closed = 0

        def close(self):
            self.closed += 1

    model = Closing(["Hello."])
    with ModelPool({"main": model, "never": lambda: 1 / 0}) as pool:
        ask(pool["main"])
    assert model.closed == 1


# Batches -------------------------------------------------------------------------------


def test_concurrent_calls_are_joined_and_everyone_gets_their_own(ask):
    model = Slow()
    pool = ModelPool({"main": model})
    found = in_threads(lambda n: ask(pool["main"], f"t{n}", seed=n).text, range(12))

    assert found == [f"t{n} {n}" for n in range(12)]
    assert len(model.batches) < 12
    assert max(map(len, model.batches)) > 3


def test_threads_in_step_share_their_calls(ask):
    model = Slow(pause_s=0.01)
    pool = ModelPool({"main": model}, batch_wait_s=0.5)
    in_threads(lambda n: [ask(pool["main"], f"t{n} {k}") for k in range(10)], range(4))

    assert len(model.batches) < 20  # 40 calls: nearly all in fours


def test_a_lone_thread_waits_for_nobody(ask):
    pool = ModelPool({"main": Slow(pause_s=0)}, batch_wait_s=5)
    started = time.monotonic()
    for number in range(5):
        ask(pool["main"], f"{number}")

    assert time.monotonic() - started < 2


def test_a_batch_has_a_size(ask):
    model = Slow()
    pool = ModelPool({"main": model}, batch_size=3)
    in_threads(lambda n: ask(pool["main"], f"t{n}"), range(9))

    assert max(map(len, model.batches)) <= 3


def test_only_calls_with_the_same_settings_are_joined(ask):
    samplings = []

    class Noting(Slow):
        def generate(self, conversations, *, sampling, tools=None, seed=None):
            samplings.append((sampling.temperature, len(conversations)))
            return super().generate(conversations, sampling=sampling, tools=tools, seed=seed)

    pool = ModelPool({"main": Noting()})
    in_threads(lambda n: ask(pool["main"], f"{n}", sampling=Sampling(n % 2)), range(8))

    assert sum(count for temperature, count in samplings if temperature == 0) == 4
    assert sum(count for temperature, count in samplings if temperature == 1) == 4


def test_equal_questions_of_two_threads_are_one_sample(ask):
    pool = ModelPool({"main": Slow()})
    found = in_threads(lambda n: ask(pool["main"], "same", seed=7).text, range(6))

    assert set(found) == {"same 7"}


def test_one_callers_failure_is_not_anothers(ask):
    def answer(messages):
        text = messages[0]["content"]
        return ContextTooLongError("too long") if text == "t3" else text

    class Slowly(ScriptedModel):
        def generate(self, *arguments, **options):
            time.sleep(0.02)
            return super().generate(*arguments, **options)

    pool = ModelPool({"main": Slowly(answer)})

    def one(number):
        try:
            return ask(pool["main"], f"t{number}").text
        except ContextTooLongError:
            return "too long"

    assert in_threads(one, range(8)) == [
        "t0",
        "t1",
        "t2",
        "too long",
        *[f"t{n}" for n in range(4, 8)],
    ]


def test_a_wrong_setting_reaches_every_caller(ask):
    class Wrong:
        def generate(self, conversations, **options):
            time.sleep(0.02)
            raise UsageError("wrong")

    pool = ModelPool({"main": Wrong()})

    def one(number):
        with pytest.raises(UsageError, match="wrong"):
            ask(pool["main"], f"t{number}")

    in_threads(one, range(6))


def test_an_endpoint_is_asked_side_by_side_within_its_limit(endpoint, connect, ask):
    def answer(sent):
        time.sleep(0.1)
        return {"choices": [{"message": {"content": "Hello."}}]}

    endpoint.answers = [answer]
    pool = ModelPool({"main": connect()}, max_in_flight=3)
    in_threads(lambda n: ask(pool["main"], f"t{n}"), range(9))

    assert endpoint.most_at_once == 3


def test_a_call_above_the_limit_is_cut(endpoint, connect, say):
    pool = ModelPool({"main": connect()}, max_in_flight=2)

    assert len(pool["main"].generate([say(f"{n}") for n in range(5)], sampling=Sampling())) == 5
    assert endpoint.most_at_once <= 2
