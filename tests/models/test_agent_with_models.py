"""LanguageModelAgent over real drivers: endpoints with faults, tiny models, a cache."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lifelong_gym.baselines import LanguageModelAgent
from lifelong_gym.errors import RunPaused
from lifelong_gym.models import Budget, ModelPool, Sampling, ScriptedModel
from lifelong_gym.runs import Run, run_stream
from lifelong_gym.testing import ScriptedEnv
from lifelong_gym.wrappers import TaskStream

TASKS = [("Say please.", "please"), ("Say thanks.", "thanks"), ("Say sorry.", "sorry")]


def stream(**options):
    return TaskStream(ScriptedEnv(TASKS, **options))


def told(run):
    return [trajectory.without_times() for trajectory in run.trajectories]


def statuses(run):
    return [(one.status, one.success) for one in run.trajectories]


def word(sent):
    """The word that the task asks for."""
    return sent["messages"][1]["content"].split()[1].rstrip(".")


def right(sent):
    return {"choices": [{"message": {"content": word(sent)}}]}


# Tiny models ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "action_format"), [("llama", "text"), ("llama", "tools"), ("gpt2", "text")]
)
def test_a_batch_acts_as_each_conversation_alone(kind, action_format, tiny):
    agent = LanguageModelAgent(
        ScriptedEnv(TASKS, action_format=action_format),
        tiny(kind, max_context=2000) if kind == "llama" else tiny(kind),
        sampling=Sampling(max_tokens=12),
        prompt="direct",
    )
    openings = [agent.reset(options={"task_index": n})[1]["messages"] for n in range(3)]
    openings.append([*openings[0], {"role": "assistant", "content": "no"}, openings[1][1]])

    together = agent.act_batch(openings)
    assert together == [agent.act(messages) for messages in openings]
    assert any(together)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_run_with_a_tiny_model_repeats(temperature, tiny):
    def run():
        sampling = Sampling(temperature, max_tokens=8)
        return run_stream(LanguageModelAgent(stream(), tiny(), sampling=sampling))

    first = told(run())
    assert first == told(run())
    assert all(one.usage["completion_tokens"] for one in first)


def test_a_template_that_refuses_a_system_role_is_played(tiny):
    template = (
        "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>"
    )
    model = tiny(template=template)
    agent = LanguageModelAgent(ScriptedEnv(TASKS), model, sampling=Sampling(max_tokens=4))
    agent.reset(options={"task_index": 0})
    (completion,) = agent.act(agent.conversation).completions
    prompt = model._tokenizer.decode(completion.prompt_ids)

    assert prompt.startswith("<|user|>Say the right words")
    assert prompt.endswith("Say please.<|assistant|>")


def test_a_conversation_that_outgrows_a_model_is_truncated(tiny):
    agent = LanguageModelAgent(stream(), tiny(max_context=20), sampling=Sampling(max_tokens=4))

    assert statuses(run_stream(agent)) == [("context_limit", False)] * 3


# Endpoints -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "status", "success"),
    [
        ((400, {"error": {"code": "context_length_exceeded"}}), "context_limit", False),
        ((200, {"choices": [{"message": {"content": ""}}]}), "empty_completion", False),
        ("lost", "model_error", None),
        ((400, {"error": {"message": "odd"}}), "model_error", None),
    ],
    ids=["too long", "empty", "lost", "refused"],
)  # fmt: skip
def test_a_fault_ends_the_episode_it_happens_in(fault, status, success, endpoint, connect):
    def answer(sent):
        return fault if word(sent) == "thanks" else right(sent)

    endpoint.answers = [answer]
    run = run_stream(LanguageModelAgent(stream(), connect(retries=1)))

    assert statuses(run) == [("completed", True), (status, success), ("completed", True)]


def test_a_rate_limit_costs_time_and_nothing_else(endpoint, connect):
    endpoint.answers = [(429, {"error": {}}, {"Retry-After": "0.2"}), right]
    run = run_stream(LanguageModelAgent(stream(), connect()))

    assert statuses(run) == [("completed", True)] * 3
    assert endpoint.times[1] - endpoint.times[0] >= 0.2


def test_an_exhausted_quota_stops_the_run_within_seconds_and_it_resumes(
    endpoint, connect, tmp_path
):
    quota = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    endpoint.answers = [right, (429, quota)]
    started = time.monotonic()
    with pytest.raises(RunPaused, match="run the same again"):
        run_stream(LanguageModelAgent(stream(), connect()), tmp_path)
    assert time.monotonic() - started < 5
    assert len(Run.load(tmp_path).trajectories) == 1

    endpoint.answers = [right]
    run = run_stream(LanguageModelAgent(stream(), connect()), tmp_path)
    assert statuses(run) == [("completed", True)] * 3


def test_what_was_lost_is_played_again_on_resume(endpoint, connect, tmp_path):
    endpoint.answers = ["lost"]
    run = run_stream(LanguageModelAgent(stream(), connect(retries=0)), tmp_path)
    assert statuses(run) == [("model_error", None)] * 3

    endpoint.answers = [right]
    run = run_stream(LanguageModelAgent(stream(), connect(retries=0)), tmp_path)
    assert statuses(run) == [("completed", True)] * 3


def test_no_key_is_in_a_runs_folder(endpoint, connect, tmp_path):
    endpoint.answers = [(400, {"error": {"message": "odd key sk-secret"}})]
    model = connect(api_key="sk-secret")
    run_stream(LanguageModelAgent(stream(), model, pause_after=9), tmp_path)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert b"odd key ***" in content
    assert b"sk-secret" not in content


# Pools ---------------------------------------------------------------------------------


def words(messages, call):
    return f"words {call.seed % 7}"


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_run_repeated_from_the_cache_makes_no_call_and_is_the_same(temperature, tmp_path):
    runs, models = [], []
    for _ in range(2):
        models.append(ScriptedModel(words))
        with ModelPool({"main": models[-1]}, cache=tmp_path / "replies.sqlite") as pool:
            sampling = Sampling(temperature)
            runs.append(told(run_stream(LanguageModelAgent(stream(), pool["main"],
                                                           sampling=sampling))))  # fmt: skip

    assert runs[0] == runs[1]
    assert [len(model.calls) for model in models] == [9, 0]


def test_a_tiny_models_run_repeats_from_the_cache_without_loading_it(tiny_folder, tmp_path):
    reference = f"transformers:{tiny_folder()}?max_tokens=6&temperature=0.9"
    runs, loaded = [], []
    for _ in range(2):
        with ModelPool([reference], cache=tmp_path / "replies.sqlite") as pool:
            runs.append(told(run_stream(LanguageModelAgent(stream(), pool["main"]))))
            loaded.append(pool["main"]._loaded is not None)

    assert runs[0] == runs[1]
    assert loaded == [True, False]


def test_a_spent_budget_pauses_the_run_and_a_larger_one_goes_on(tmp_path):
    def play(tokens):
        model = ScriptedModel({"please": "please", "thanks": "thanks", "sorry": "sorry"})
        budget = Budget(tokens=tokens)
        with ModelPool({"main": model}, cache=tmp_path / "c", budget=budget) as pool:
            return run_stream(LanguageModelAgent(stream(), pool["main"]), tmp_path / "run")

    with pytest.raises(RunPaused, match="the budget of 20"):
        play(20)
    assert 0 < len(Run.load(tmp_path / "run").trajectories) < 3
    assert statuses(play(1000)) == [("completed", True)] * 3


def test_parallel_streams_share_one_model_and_play_as_one_after_the_other(tiny):
    pool = ModelPool({"main": tiny()})

    def play(shard):
        agent = LanguageModelAgent(
            TaskStream(ScriptedEnv(TASKS), shard=shard),
            pool["main"],
            sampling=Sampling(1.0, 1.0, 6),
        )
        return told(run_stream(agent))

    one = play((0, 1))
    with ThreadPoolExecutor(3) as threads:
        parts = list(threads.map(play, [(n, 3) for n in range(3)]))

    assert sorted((t for part in parts for t in part), key=lambda t: t.position) == one
