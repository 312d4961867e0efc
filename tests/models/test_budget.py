"""What a pool counts, and what its budget stops."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lifelong_gym.errors import RunPaused, UsageError
from lifelong_gym.models import (
    BatchError,
    Budget,
    BudgetSpentError,
    ContextTooLongError,
    ModelPool,
    Price,
    Sampling,
    ScriptedModel,
)

WARM = Sampling(temperature=1.0)


def in_threads(function, values):
    with ThreadPoolExecutor(len(values)) as threads:
        return list(threads.map(function, values))


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
