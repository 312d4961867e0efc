"""The response cache: what it answers, what it tells apart, who shares it."""

import json
import subprocess
import sys

import pytest

from lifelong_gym.errors import UsageError
from lifelong_gym.models import (
    BatchError,
    Completion,
    ContextTooLongError,
    ModelPool,
    ResponseCache,
    Sampling,
    ScriptedModel,
)

WARM = Sampling(temperature=1.0)


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
