"""The OperatingSystem environment: what an agent sees, what counts, whose fault it is."""

from __future__ import annotations

import json
import pickle

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

import lifelong_gym  # noqa: F401 - registers
from lifelong_gym.backends.sandbox import open_sandboxes
from lifelong_gym.envs.operating_system import OperatingSystemEnv
from lifelong_gym.errors import BackendError, BackendUnavailableError, MissingExtraError, UsageError
from lifelong_gym.tasks import OPERATING_SYSTEM_SKILLS, OperatingSystemTask
from lifelong_gym.tools import tool_call

CHANGE = OperatingSystemTask(
    id="change",
    instruction="Create /srv/done.",
    setup="rm -f /srv/done; echo 1 > /srv/one",
    check="test -f /srv/done",
    solution="touch /srv/done",
)
QUESTION = OperatingSystemTask(
    id="question",
    instruction="What does /srv/one hold?",
    setup="echo 1 > /srv/one",
    answer="1",
    solution="cat /srv/one",
)
BAD_SETUP = CHANGE.model_copy(update={"id": "bad", "setup": "echo no luck; exit 3"})
TASKS = [CHANGE, QUESTION, BAD_SETUP]


@pytest.fixture(scope="module")
def sandboxes():
    provider = open_sandboxes()
    try:
        provider.create().close()
    except (BackendUnavailableError, MissingExtraError) as error:
        pytest.skip(str(error))
    yield provider
    provider.close()


@pytest.fixture
def play(sandboxes):
    """Plays actions on a task; returns the steps' observations and the last step."""

    def play(task_id, *actions, **settings):
        env = OperatingSystemEnv(TASKS, sandboxes, **settings)
        env.reset(options={"task_id": task_id})
        steps = [env.step(action) for action in actions]
        env._leave()
        return [step[0] for step in steps], steps[-1]

    return play


def bash(script):
    return f"Act: bash\n```bash\n{script}\n```"


def test_solving_a_task_succeeds(play):
    observations, (_, reward, terminated, truncated, info) = play(
        "change", bash("touch /srv/done"), "Act: finish"
    )

    assert observations[0] == "The output of the OS is empty."
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["success"]
    assert info["grading"]["exit_code"] == 0


def test_finishing_at_once_does_not(play):
    _, (_, reward, terminated, _, info) = play("change", "Act: finish")

    assert (reward, terminated, info["success"]) == (0.0, True, False)
    assert info["grading"]["reason"] == "the check ended with exit code 1"


def test_a_command_shows_its_output_and_exit_code(play):
    observations, (_, _, _, _, info) = play("change", bash("echo hi; echo ho >&2; exit 4"))

    assert observations == ["The output of the OS:\n\nhi\nho\n"]
    assert info["exit_code"] == 4
    assert info["output_cut"] is False


def test_the_turn_limit_is_graded_too(play):
    turns = [bash("true")] * 4 + [bash("touch /srv/done")]
    _, (_, reward, terminated, truncated, info) = play("change", *turns)

    assert (reward, terminated, truncated) == (1.0, False, True)
    assert info["status"] == "turn_limit"


def test_long_output_costs_a_bounded_observation_and_not_the_episode(play):
    observations, (_, _, terminated, truncated, info) = play(
        "change", bash("find / -xdev; yes | head -1000000")
    )

    assert len(observations[0].encode()) <= 16_384
    assert "bytes cut ...]" in observations[0]
    assert info["output_cut"] is True
    assert not terminated
    assert not truncated


def test_a_command_over_its_time_says_so_and_keeps_what_it_printed(play):
    observations, (_, _, _, _, info) = play(
        "change", bash("echo a; sleep 9"), command_timeout_s=0.5
    )

    assert observations == ["The output of the OS:\n\na\n\n[stopped after 0.5 seconds]"]
    assert info["exit_code"] == 124


def test_a_text_without_an_action_forfeits(play):
    _, (observation, reward, terminated, _, info) = play("change", "I would list the files.")

    assert (reward, terminated, info["status"]) == (0.0, True, "invalid_action")
    assert "Expected `Act: bash`" in observation


@pytest.mark.parametrize(
    "action",
    [
        "Act: bash\n```sh\ntouch /srv/done\n```",
        "**Act: bash**\r\n```bash\r\ntouch /srv/done\r\n```",
        "Act: bash\n```bash\ntouch /srv/done```",
        "Act: bash ```bash touch /srv/done ```",
        "Think: I do it.\nAct: bash\n```bash\ncat <<'END' > /srv/done\n```\nfence\n```\nEND\n```\n",
        "- Act：bash\n```Shell\ntouch /srv/done\n```\nThe output of the OS: done",
    ],
)
def test_an_action_may_be_dressed_up(play, action):
    assert play("change", action, "Act: finish")[1][4]["success"]


@pytest.mark.parametrize(("said", "right"), [("1", True), (" 1 ", True), ("2", False), ("", False)])
def test_a_question_is_judged_by_its_answer(play, said, right):
    assert play("question", f"Act: answer({said})")[1][4]["success"] is right


def test_a_question_cannot_be_finished_without_an_answer(play):
    _, (_, _, _, _, info) = play("question", "Act: finish")

    assert info["grading"]["reason"] == "no answer was submitted"


def test_a_question_may_be_answered_again_where_that_is_allowed(play):
    observations, (_, reward, *_) = play(
        "question", "Act: answer(2)", "Act: answer(1)", max_submissions=2
    )

    assert observations[0] == "That is not the answer. You may submit 1 more."
    assert reward == 1.0


def test_an_answer_may_hold_parentheses(sandboxes):
    task = QUESTION.model_copy(update={"answer": "f(x) (all)"})
    env = OperatingSystemEnv([task], sandboxes)
    env.reset()

    assert env.step("Act: answer(f(x) (all))")[4]["success"]


def test_a_machine_that_the_agent_destroyed_is_lost_and_the_next_works(play):
    _, (_, reward, terminated, _, info) = play(
        "change", bash("touch /srv/done; rm -rf /bin /usr/bin"), bash("true")
    )

    assert (reward, terminated, info["status"]) == (0.0, True, "sandbox_broken")
    assert not info["success"]
    assert play("change", bash("touch /srv/done"), "Act: finish")[1][1] == 1.0


def test_a_setup_that_fails_is_the_systems_fault_and_never_played(sandboxes):
    env = OperatingSystemEnv(TASKS, sandboxes)

    with pytest.raises(BackendError, match="setup of bad failed with exit code 3: no luck"):
        env.reset(options={"task_id": "bad"})
    env.reset(options={"task_id": "change"})
    env.close()


def test_only_skills_are_in_the_path_where_that_is_asked(play):
    observations, _ = play(
        "change",
        bash("python3 --version; hostname; ls /srv | wc -l; type -t cd; sed s/a/b/ <<< a"),
        commands="skills",
    )

    assert "python3: command not found" in observations[0]
    assert "hostname: command not found" in observations[0]
    assert observations[0].endswith("1\nbuiltin\nb\n")


def test_the_rules_name_the_skills_where_only_they_can_be_used(sandboxes):
    env = OperatingSystemEnv(TASKS, sandboxes, commands="skills")
    observation, info = env.reset(options={"task_id": "change"})

    assert ", ".join(OPERATING_SYSTEM_SKILLS) in info["opening"]["rules"]
    assert "5 turns" in observation
    assert observation.endswith("Create /srv/done.")


def test_the_time_of_an_episode_can_be_limited(play):
    _, (_, _, terminated, truncated, info) = play("change", bash("sleep 30"), time_limit_s=0.5)

    assert (terminated, truncated, info["status"]) == (False, True, "time_limit")
    assert info["success"] is False


def test_actions_may_be_tool_calls(play):
    _, (_, reward, *_) = play(
        "change",
        tool_call("bash", {"commands": "touch /srv/done"}),
        tool_call("submit", {}),
        action_format="tools",
    )

    assert reward == 1.0
    assert (
        play("question", tool_call("submit", {"answer": "1"}), action_format="tools")[1][1] == 1.0
    )


@pytest.mark.parametrize("action_format", ["text", "tools"])
@pytest.mark.parametrize("task", [CHANGE, QUESTION], ids=lambda task: task.id)
def test_the_reference_succeeds(play, sandboxes, task, action_format):
    env = OperatingSystemEnv([task], sandboxes, action_format=action_format)

    assert play(task.id, *env.reference_actions(task), action_format=action_format)[1][1] == 1.0


@pytest.mark.parametrize(
    "settings", [{"commands": "few"}, {"command_timeout_s": 0}, {"max_submissions": -1}]
)
def test_a_setting_out_of_its_range_is_refused(sandboxes, settings):
    with pytest.raises(UsageError, match=next(iter(settings))):
        OperatingSystemEnv(TASKS, sandboxes, **settings)


def test_the_registered_environment_passes_gymnasiums_check(sandboxes):
    env = gym.make("lifelong_gym/OperatingSystem-v0", tasks="builtin?limit=2")
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_the_registered_environment_is_rebuilt_from_its_spec():
    env = gym.make("lifelong_gym/OperatingSystem-v0", tasks="builtin?limit=2", commands="skills")
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))

    assert again.unwrapped.task_set == env.unwrapped.task_set
    assert json.loads(env.spec.to_json())["kwargs"]["commands"] == "skills"


def test_an_environment_pickles_before_its_first_reset():
    env = gym.make("lifelong_gym/OperatingSystem-v0", tasks="builtin?limit=2")

    assert len(pickle.loads(pickle.dumps(env)).unwrapped.task_set) == 2
