"""validate_tasks: one finding a task, and what it finds."""

import pytest

from lifelong_gym.baselines import OracleAgent
from lifelong_gym.core import Grading
from lifelong_gym.errors import BackendUnavailableError, UsageError
from lifelong_gym.runs import Finding, validate_tasks
from lifelong_gym.testing import ScriptedEnv
from lifelong_gym.wrappers import TaskStream


def problems(env):
    return [finding.problems for finding in validate_tasks(env)]


def test_sound_tasks_have_no_problems():
    assert list(validate_tasks(ScriptedEnv(["one", "two"]))) == [
        Finding("task-0"),
        Finding("task-1"),
    ]


def test_reference_that_fails_is_found():
    class Wrong(ScriptedEnv):
        def reference_actions(self, task):
            yield "wrong" if task.id == "task-1" else task.right_action

    found = list(validate_tasks(Wrong(["one", "two"])))
    assert [finding.is_valid for finding in found] == [True, False]
    assert found[1].problems == (
        "the reference does not succeed (completed): the right words were not said",
    )


def test_task_that_doing_nothing_solves_is_found():
    assert problems(ScriptedEnv([("Do nothing.", "give up")])) == [("doing nothing succeeds",)]


def test_observation_that_differs_is_found():
    class Counting(ScriptedEnv):
        played = 0

        def _start(self, task):
            self.played += 1
            return super()._start(task)

        def reference_actions(self, task):
            yield "look"
            yield task.right_action

        def _respond(self, action, task):
            reply = super()._respond(action, task)
            return type(reply)(f"{reply.observation} {self.played}", reply.finished)

    assert problems(Counting(["one"])) == [
        (
            "the reference saw two different things in turn 1: "
            "('look', 'No. 1', {}) and then ('look', 'No. 2', {})",
        )
    ]


def test_verdict_that_differs_is_found():
    class Moody(ScriptedEnv):
        graded = 0

        def _grade(self, task):
            self.graded += 1
            return Grading(success=self.graded == 1, reason="the mood")

    assert "the reference came to two verdicts" in problems(Moody(["one"]))[0][0]


def test_broken_backend_is_that_tasks_problem():
    env = ScriptedEnv(["one", "two"], fail_resets=[0])

    assert problems(env) == [("the backend failed: reset 0 was told to fail",), ()]


def test_backend_that_cannot_start_is_raised():
    env = ScriptedEnv(["one"], fail_resets=[0], failure=BackendUnavailableError)
    with pytest.raises(BackendUnavailableError):
        list(validate_tasks(env))


def test_stream_around_it_is_refused():
    with pytest.raises(UsageError, match="TaskStream decides"):
        list(validate_tasks(TaskStream(ScriptedEnv(["one"]))))


def test_tools_form_is_played_too():
    assert problems(ScriptedEnv(["one"], action_format="tools")) == [()]


def test_oracle_and_validation_agree():
    agent = OracleAgent(ScriptedEnv(["one"]))
    agent.reset()

    assert agent.step(None)[4]["success"]
