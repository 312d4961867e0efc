"""ModelPool: loaded once, shared by threads, counted, bounded, remembered."""

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lifelong_gym.errors import RunPaused, UsageError
from lifelong_gym.models import (
    BatchError,
    Budget,
    BudgetSpentError,
    Completion,
    ContextTooLongError,
    ModelPool,
    Price,
    ResponseCache,
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


# Counts and budgets --------------------------------------------------------------------


def test_tokens_calls_and_time_are_counted(say):
    pool = ModelPool({"main": ScriptedModel(["one two", ContextTooLongError("no")])},
                     prices={"main": Price(prompt=1e6, completion=2e6)})  # fmt: skip
    with pytest.raises(BatchError):
        pool["main"].generate([say("a b c"), say("d")], sampling=Sampling())

    metered = pool.metered("main")
    assert (metered.calls, metered.completions, metered.failures) == (1, 1, 1)
    assert (metered.prompt_tokens, metered.completion_tokens) == (3, 2)
    assert metered.cost == 7.0
    assert metered.latency_s > 0


def test_counts_are_right_with_many_threads(ask):
    pool = ModelPool({"main": ScriptedModel(lambda messages: "one")})
    in_threads(lambda n: [ask(pool["main"], f"t{n} {k}") for k in range(20)], range(8))

    assert pool.metered("main").completions == 160
    assert pool.metered("main").completion_tokens == 160


@pytest.mark.parametrize("budget", [Budget(tokens=4), Budget(money=4e-6)], ids=["tokens", "money"])
def test_a_spent_budget_pauses_the_run(budget, ask):
    model = ScriptedModel(lambda messages: "one")
    pool = ModelPool({"main": model}, budget=budget, prices={"main": Price(1, 1)})
    ask(pool["main"]), ask(pool["main"])  # two tokens each

    with pytest.raises(RunPaused, match=r"is spent.*raise it and run the same again"):
        ask(pool["main"])
    assert len(model.calls) == 2


def test_the_budget_is_for_all_models_together(ask):
    pool = ModelPool(
        {name: ScriptedModel(lambda messages: "one") for name in "ab"}, budget=Budget(tokens=2)
    )
    ask(pool["a"])

    with pytest.raises(BudgetSpentError):
        ask(pool["b"])


def test_a_budget_goes_on_counting_after_a_restart(ask, tmp_path):
    def pool(tokens):
        model = ScriptedModel(lambda messages: "one")
        return ModelPool({"main": model}, cache=tmp_path / "c", budget=Budget(tokens=tokens))

    with pool(4) as first:
        ask(first["main"], "a"), ask(first["main"], "b")
    with pool(4) as second:
        assert ask(second["main"], "a").text == "one"  # what is known costs nothing
        with pytest.raises(BudgetSpentError, match="4 were used"):
            ask(second["main"], "c")
    with pool(5) as third:
        assert ask(third["main"], "c").text == "one"


def test_a_budget_must_be_above_zero():
    with pytest.raises(UsageError, match="tokens must be above 0, got 0"):
        Budget(tokens=0)


# The cache -----------------------------------------------------------------------------


def counting(text="Hello."):
    return ScriptedModel(lambda messages, call: f"{text} {call.seed}")


def test_what_was_asked_is_answered_from_the_cache(ask, tmp_path):
    for _ in range(2):
        model = counting()
        with ModelPool({"main": model}, cache=tmp_path / "c") as pool:
            answers = [ask(pool["main"], seed=1), ask(pool["main"], seed=1)]
            assert answers[0] == answers[1]
            assert pool.metered("main").cached + len(model.calls) == 2
    assert model.calls == []


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Bye!"},
        {"seed": 2},
        {"sampling": Sampling(max_tokens=9)},
        {"tools": [{"type": "function", "function": {"name": "x"}}]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_everything_that_matters_is_in_the_key(change, ask, tmp_path):
    model = counting()
    with ModelPool({"main": model}, cache=tmp_path / "c") as pool:
        ask(pool["main"], **{"seed": 1})
        ask(pool["main"], **{"seed": 1, **change})

    assert len(model.calls) == 2


def test_another_model_has_other_answers(ask, tmp_path):
    for reply in ("Hello.", "Bye."):
        with ModelPool({"main": ScriptedModel([reply])}, cache=tmp_path / "c") as pool:
            assert ask(pool["main"], seed=1).text == reply


def test_samples_of_one_call_are_told_apart(say, tmp_path):
    texts = []
    for _ in range(2):
        model = ScriptedModel([f"sample {n}" for n in range(3)])
        with ModelPool({"main": model}, cache=tmp_path / "c") as pool:
            found = pool["main"].generate([say("a")] * 3, sampling=WARM, seed=5)
            texts.append([one.text for one in found])

    assert texts[0] == texts[1] == ["sample 0", "sample 1", "sample 2"]
    assert model.calls == []


def test_unseeded_samples_are_told_apart_by_their_order(ask, tmp_path):
    replies = ["first", "second"]
    for _ in range(2):
        model = ScriptedModel(replies)
        with ModelPool({"main": model}, cache=tmp_path / "c") as pool:
            assert [ask(pool["main"], sampling=WARM).text for _ in range(2)] == replies
    assert model.calls == []


def test_a_cached_model_is_not_loaded(ask, tmp_path):
    (tmp_path / "replies.json").write_text('["Hello."]')
    for asked in (True, False):
        with ModelPool([f"scripted:{tmp_path}/replies.json"], cache=tmp_path / "c") as pool:
            ask(pool["main"])
            assert (pool["main"]._loaded is not None) is asked


def test_a_completion_comes_back_whole(ask, tmp_path):
    whole = Completion(
        "Hi \ud800 東京",
        ({"id": "a", "type": "function", "function": {"name": "x", "arguments": "{}"}},),
        (1, 2),
        (3,),
        (-0.5,),
        {"prompt_tokens": 2, "completion_tokens": 1},
        "tool_calls",
        "Hm.",
    )
    for _ in range(2):
        with ModelPool({"main": lambda: ScriptedModel([whole])}, cache=tmp_path / "c") as pool:
            assert ask(pool["main"], seed=1) == whole


def test_failures_are_not_kept(ask, tmp_path):
    model = ScriptedModel([ContextTooLongError("no"), "Hello."])
    with ModelPool({"main": model}, cache=tmp_path / "c") as pool:
        with pytest.raises(ContextTooLongError):
            ask(pool["main"])
        assert ask(pool["main"]).text == "Hello."


def test_what_was_paid_is_kept_when_the_rest_of_a_call_fails(say, tmp_path):
    model = ScriptedModel(["Hello.", ContextTooLongError("no"), ContextTooLongError("no")])
    with ModelPool({"main": model}, cache=tmp_path / "c") as pool:
        for _ in range(2):
            with pytest.raises((BatchError, ContextTooLongError)):
                pool["main"].generate([say("a"), say("b")], sampling=Sampling())

    assert [call.messages[0]["content"] for call in model.calls] == ["a", "b", "b"]


@pytest.mark.slow
def test_a_cache_is_shared_by_processes(tmp_path):
    code = """
import sys
from lifelong_gym.models import Completion, ResponseCache
cache = ResponseCache(sys.argv[1])
for number in range(30):
    kept = cache.put(f"key {number}", Completion(f"{sys.argv[2]} {number}"))
    cache.spend("main", 1, 0.5)
    assert kept == cache.get(f"key {number}")
"""
    command = [sys.executable, "-c", code, str(tmp_path / "c")]
    processes = [
        subprocess.Popen([*command, str(n)], stderr=subprocess.PIPE, text=True) for n in range(3)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors

    cache = ResponseCache(tmp_path / "c")
    assert len(cache) == 30
    assert cache.spent() == (90, 45.0)
    cache.close()


def test_another_file_is_refused(tmp_path):
    (tmp_path / "c").write_text("no database" * 100)
    with pytest.raises(UsageError, match="is not a response cache"):
        ResponseCache(tmp_path / "c")


def test_a_database_of_something_else_is_refused(tmp_path):
    import sqlite3

    connection = sqlite3.connect(tmp_path / "c")
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    with pytest.raises(UsageError, match="is not a response cache of format 1"):
        ResponseCache(tmp_path / "c")


def test_neither_prompts_nor_keys_are_in_the_file(endpoint, connect, ask, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-secret")
    reference = f"openai:m?base_url={endpoint.url}&api_key_env=MY_KEY"
    with ModelPool([reference], cache=tmp_path / "c") as pool:
        ask(pool["main"], "a private prompt")
        told = json.dumps(pool["main"].fingerprint) + repr(pool["main"]._source)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert b"sk-secret" not in content
    assert b"private" not in content
    assert "sk-secret" not in told
    assert endpoint.headers[0]["authorization"] == "Bearer sk-secret"
