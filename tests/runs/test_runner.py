"""run_stream: what it plays, what it retries, what it refuses."""

import errno

import gymnasium
import pytest

from lifelong_gym.baselines import OracleAgent, ScriptedAgent
from lifelong_gym.core import Agent, Decision, Stop
from lifelong_gym.errors import (
    BackendError,
    BackendUnavailableError,
    RunPaused,
    SettingsChangedError,
    UsageError,
)
from lifelong_gym.runs import Run, RunStore, run_stream
from lifelong_gym.testing import ScriptedEnv
from lifelong_gym.wrappers import RecordTrajectory, TaskStream

TEXTS = [f"say {n}" for n in range(6)]


def oracle(**options):
    of_stream = {key: options.pop(key) for key in ("limit", "seed", "attempts") if key in options}
    return OracleAgent(TaskStream(ScriptedEnv(TEXTS, **options), **of_stream))


def unscored(run):
    return [t.position for t in run.trajectories if not t.is_scored]


# What it plays -------------------------------------------------------------------------


def test_every_task_is_played_once_in_order():
    run = run_stream(oracle())

    assert [t.task_id for t in run.trajectories] == [f"task-{n}" for n in range(6)]
    assert [t.position for t in run.trajectories] == list(range(6))
    assert run.path is None


def test_trajectory_holds_what_was_said_and_the_verdict():
    trajectory = run_stream(oracle(limit=1)).trajectories[0]

    assert trajectory.messages[-1] == {"role": "user", "content": "say 0"}
    assert [(t.action, t.observation, t.reward) for t in trajectory.turns] == [("say 0", "Yes.", 1)]
    assert (trajectory.status, trajectory.success, trajectory.reward) == ("completed", True, 1.0)
    assert trajectory.grading["reason"] == "the right words were said"
    assert trajectory.duration_s >= trajectory.turns[0].duration_s > 0


def test_run_on_disk_equals_the_run_in_memory(make_stack, tmp_path):
    on_disk, in_memory = run_stream(make_stack(), tmp_path), run_stream(make_stack())

    assert on_disk.metrics() == in_memory.metrics()
    assert [t.without_times() for t in on_disk.trajectories] == [
        t.without_times() for t in in_memory.trajectories
    ]


def test_stack_that_was_played_with_before_plays_every_task(tmp_path):
    agent = oracle()
    agent.reset()
    agent.step(None)

    assert len(run_stream(agent, tmp_path).trajectories) == 6


def test_wrappers_above_the_agent_see_the_whole_run():
    recorded = RecordTrajectory(oracle())
    run = run_stream(recorded)

    assert [t.without_times() for t in recorded.trajectories] == [
        t.without_times() for t in run.trajectories
    ]


def test_usage_is_summed_over_the_turns():
    class Completion:
        usage = {"prompt_tokens": 10, "completion_tokens": 2}  # noqa: RUF012

    class Spender(Agent):
        def act(self, messages):
            return Decision("wrong", [Completion()])

    run = run_stream(Spender(TaskStream(ScriptedEnv(["one"]))))
    assert run.trajectories[0].usage == {
        "calls": 3,
        "prompt_tokens": 30,
        "completion_tokens": 6,
    }


def test_agent_that_stops_leaves_a_status_and_no_turn():
    class Full(Agent):
        def act(self, messages):
            return Stop("context_limit", "8000 tokens") if len(messages) > 2 else "wrong"

    trajectory = run_stream(Full(TaskStream(ScriptedEnv(["one"])))).trajectories[0]
    assert (trajectory.status, trajectory.success, len(trajectory.turns)) == (
        "context_limit",
        False,
        1,
    )


def test_reward_for_a_stop_counts():
    class Full(Agent):
        def act(self, messages):
            return Stop("context_limit")

    env = ScriptedEnv(["one"], reward_shaper=lambda grading: 0.25)
    assert run_stream(Full(TaskStream(env))).trajectories[0].reward == 0.25


# What the system broke -----------------------------------------------------------------


@pytest.mark.parametrize("failing", [{"fail_resets": [2, 3]}, {"fail_steps": [2, 3]}])
def test_broken_task_is_played_again(failing, contents, tmp_path):
    run_stream(oracle(**failing), tmp_path / "failing")
    run_stream(oracle(), tmp_path / "whole")

    assert contents(tmp_path / "failing") == contents(tmp_path / "whole")


@pytest.mark.parametrize("failing", [{"fail_resets": [2, 3, 4]}, {"fail_steps": [2, 3, 4]}])
def test_task_that_stays_broken_is_unscored_with_its_error(failing):
    run = run_stream(oracle(**failing))
    broken = run.trajectories[2]

    assert unscored(run) == [2]
    assert (broken.task_id, broken.domain, broken.status) == (
        "task-2",
        "scripted",
        "environment_error",
    )
    assert "4 was told to fail" in broken.error


def test_retries_can_be_turned_off():
    assert unscored(run_stream(oracle(fail_resets=[2]), retries=0)) == [2]


def test_unscored_task_leaves_every_wrapper_as_before_it(make_stack):
    agent = make_stack(1, fail_steps=range(100))
    run_stream(agent)

    assert (agent.env.resets, list(agent.env.met)) == (0, [])
    assert agent.state_dict() == make_stack(1).state_dict()


def test_resuming_finishes_the_stream_and_then_retries_what_was_unscored(make_stack, tmp_path):
    run_stream(make_stack(4, fail_resets=[1, 2, 3]), tmp_path)
    agent = make_stack(6)
    run = run_stream(agent, tmp_path)

    assert unscored(run) == []
    assert [item["task"] for item in agent.env.met] == [
        run.trajectories[position].task_id for position in (0, 2, 3, 4, 5, 1)
    ]


def test_task_that_is_unscored_again_is_retried_again(make_stack, tmp_path):
    for _ in range(2):
        assert unscored(run_stream(make_stack(1, fail_resets=range(9)), tmp_path)) == [0]

    assert unscored(run_stream(make_stack(1), tmp_path)) == []


def test_model_error_is_unscored_and_leaves_no_trace_in_memory(make_stack):
    agent = make_stack(1)
    agent.act = lambda messages: Stop("model_error", "the endpoint is gone")
    trajectory = run_stream(agent).trajectories[0]

    assert (trajectory.status, trajectory.success) == ("model_error", None)
    assert trajectory.error == "the endpoint is gone"
    assert agent.env.resets == 0


def test_backend_that_cannot_start_ends_the_run(tmp_path):
    agent = oracle(fail_resets=[0], failure=BackendUnavailableError)
    with pytest.raises(BackendUnavailableError):
        run_stream(agent, tmp_path)

    assert len(Run.load(tmp_path).trajectories) == 0
    assert unscored(run_stream(oracle(), tmp_path)) == []


def test_backend_that_goes_away_pauses_the_run(tmp_path):
    agent = oracle(fail_resets=[2], failure=BackendUnavailableError)
    with pytest.raises(RunPaused, match="the backend went away"):
        run_stream(agent, tmp_path)

    assert len(Run.load(tmp_path).trajectories) == 2
    assert unscored(run_stream(oracle(), tmp_path)) == []


def test_disk_that_fills_anywhere_pauses_the_run(make_stack):
    agent = make_stack()

    def full(messages):
        raise OSError(errno.ENOSPC, "No space left on device")

    agent.act = full
    with pytest.raises(RunPaused, match="No space left on device"):
        run_stream(agent)


def test_other_errors_pass_through(make_stack):
    agent = make_stack()
    agent.act = lambda messages: 1 / 0
    with pytest.raises(ZeroDivisionError):
        run_stream(agent)


# What it records of the backend --------------------------------------------------------


class NamedEnv(ScriptedEnv):
    name, version = "mariadb", "10.11"

    @property
    def backend(self):
        return {"name": self.name, "version": self.version}


def test_backend_is_recorded(tmp_path):
    run = run_stream(OracleAgent(TaskStream(NamedEnv(TEXTS))), tmp_path)

    assert run.backend == {"name": "mariadb", "version": "10.11"}


def test_another_backend_is_refused_and_another_version_is_not(tmp_path):
    def agent(limit, **attributes):
        env = NamedEnv(TEXTS)
        for name, value in attributes.items():
            setattr(env, name, value)
        return OracleAgent(TaskStream(env, limit=limit))

    run_stream(agent(1), tmp_path)
    assert run_stream(agent(2, version="11"), tmp_path).backend["version"] == "11"
    with pytest.raises(SettingsChangedError, match="recorded 'mariadb', now 'seekdb'"):
        run_stream(agent(3, name="seekdb"), tmp_path)


def test_backend_is_asked_once_a_run_and_again_after_a_failure():
    class Asked(ScriptedEnv):
        resets_when_asked = ()

        @property
        def backend(self):
            self.resets_when_asked = (*self.resets_when_asked, self._resets)
            return {"name": "n", "version": "v"}

    env = Asked(TEXTS, fail_steps=[2])
    run_stream(OracleAgent(TaskStream(env)))

    assert set(env.resets_when_asked) == {1, 4}


def test_backend_that_fails_to_answer_breaks_that_play_only():
    class Silent(ScriptedEnv):
        @property
        def backend(self):
            if self._resets == 1:
                raise BackendError("gone")
            return {"name": "n", "version": "v"}

    run = run_stream(OracleAgent(TaskStream(Silent(TEXTS))))
    assert (unscored(run), run.backend) == ([], {"name": "n", "version": "v"})


# What it refuses -----------------------------------------------------------------------


def test_stack_without_an_agent_is_refused():
    with pytest.raises(UsageError, match="OracleAgent"):
        run_stream(TaskStream(ScriptedEnv(TEXTS)))


def test_act_on_another_class_is_refused():
    class Impostor(gymnasium.Wrapper):
        def act(self, messages):
            return ""

    with pytest.raises(UsageError, match="Impostor defines act but is no agent"):
        run_stream(Impostor(oracle()))


def test_stack_without_a_stream_is_refused():
    with pytest.raises(UsageError, match="TaskStream"):
        run_stream(OracleAgent(ScriptedEnv(TEXTS)))


def test_two_streams_are_refused():
    with pytest.raises(UsageError, match="one TaskStream, got 2"):
        run_stream(OracleAgent(TaskStream(TaskStream(ScriptedEnv(TEXTS)))))


@pytest.mark.parametrize("retries", [-1, True])
def test_retries_below_zero_are_refused(retries):
    with pytest.raises(UsageError, match="retries must be at least 0"):
        run_stream(oracle(), retries=retries)


def test_output_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        run_stream(oracle(), tmp_path / "file")


def test_wrapper_that_keeps_the_options_of_reset_is_named():
    class Deaf(gymnasium.Wrapper):
        def reset(self, *, seed=None, options=None):
            return self.env.reset(seed=seed)

    agent = Deaf(oracle(fail_steps=[0]))
    with pytest.raises(UsageError, match="keeps reset's options to itself"):
        run_stream(agent, retries=0)


def test_state_that_is_no_json_is_refused_by_name():
    class Odd(gymnasium.Wrapper):
        def state_dict(self):
            return {"a": object()}

        def load_state_dict(self, state):
            pass

    with pytest.raises(UsageError, match=r"the state_dict of \d:Odd must be JSON"):
        run_stream(Odd(oracle()))


def test_list_that_lost_an_item_is_refused(make_stack):
    agent = make_stack()
    act = agent.act

    def forgetful(messages):
        if len(agent.env.met) == 3:
            agent.env.met.clear()
        return act(messages)

    agent.act = forgetful
    with pytest.raises(UsageError, match="removed items from an AppendOnly list"):
        run_stream(agent)


# With which settings it goes on --------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"seed": 1}, "TaskStream.seed: recorded 0, now 1"),
        ({"attempts": 2}, "TaskStream.attempts: recorded 1, now 2"),
        ({"max_turns": 5}, "env.max_turns: recorded 3, now 5"),
    ],
)
def test_setting_that_changes_results_is_refused_with_both_values(changed, named, tmp_path):
    run_stream(oracle(limit=2), tmp_path)
    with pytest.raises(SettingsChangedError, match=named):
        run_stream(oracle(limit=2, **changed), tmp_path)


def test_other_tasks_are_refused(tmp_path):
    run_stream(oracle(), tmp_path)
    with pytest.raises(SettingsChangedError, match=r"tasks\.sha256"):
        run_stream(OracleAgent(TaskStream(ScriptedEnv([*TEXTS[:-1], "other"]))), tmp_path)


def test_another_agent_is_refused(tmp_path):
    run_stream(oracle(), tmp_path)
    with pytest.raises(SettingsChangedError, match=r"OracleAgent.*ScriptedAgent"):
        run_stream(ScriptedAgent(TaskStream(ScriptedEnv(TEXTS)), ["a"]), tmp_path)


def test_wrapper_with_other_arguments_is_refused(make_stack, tmp_path):
    run_stream(make_stack(2), tmp_path)
    with pytest.raises(SettingsChangedError, match=r"Remember\.note: recorded '', now 'be brief'"):
        run_stream(make_stack(3, note="be brief"), tmp_path)


def test_default_that_is_spelled_out_is_no_change(tmp_path):
    run_stream(oracle(limit=2), tmp_path)

    assert len(run_stream(oracle(limit=3, max_turns=3), tmp_path).trajectories) == 3


def test_setting_that_changes_nothing_may_change(tmp_path):
    run_stream(oracle(limit=2), tmp_path)
    run = run_stream(RecordTrajectory(oracle(limit=3, render_mode="ansi")), tmp_path)

    assert len(run.trajectories) == 3


def test_limit_may_grow_and_equals_a_run_with_the_larger_one(make_stack, contents, tmp_path):
    run_stream(make_stack(5), tmp_path / "grown")
    run_stream(make_stack(9), tmp_path / "grown")
    run_stream(make_stack(9), tmp_path / "whole")

    assert contents(tmp_path / "grown") == contents(tmp_path / "whole")


def test_limit_may_not_leave_out_what_is_recorded(tmp_path):
    run_stream(oracle(limit=4), tmp_path)
    with pytest.raises(SettingsChangedError, match=r"TaskStream\.limit: recorded 4, now 3"):
        run_stream(oracle(limit=3), tmp_path)


def test_limit_may_shrink_to_what_is_recorded(make_stack, tmp_path):
    agent = make_stack(9)
    act, calls = agent.act, iter(range(99))
    agent.act = lambda messages: act(messages) if next(calls) < 6 else _fail()
    with pytest.raises(RunPaused):
        run_stream(agent, tmp_path)
    with RunStore(tmp_path, read_only=True) as store:
        done = len(store.outcomes)

    assert len(run_stream(make_stack(done), tmp_path).trajectories) == done


def _fail():
    raise RunPaused("enough")


def test_finished_run_is_not_played_again(tmp_path):
    before = run_stream(oracle(), tmp_path).trajectories

    assert run_stream(oracle(fail_resets=range(99)), tmp_path).trajectories == before


# Progress ------------------------------------------------------------------------------


def test_progress_is_shown_on_stderr_when_forced(capfd):
    run_stream(oracle(fail_resets=[1]), progress="force", retries=0)
    out, err = capfd.readouterr()

    assert "solved 100.0%, 1 unscored" in err
    assert "6/6" in err
    assert out == ""


def test_progress_stays_silent_where_stderr_is_no_terminal(capfd):
    run_stream(oracle(), progress=True)

    assert capfd.readouterr() == ("", "")


def test_backend_error_is_what_the_scripted_env_raises():
    env = ScriptedEnv(TEXTS, fail_resets=[0])
    with pytest.raises(BackendError, match="reset 0 was told to fail"):
        env.reset()
