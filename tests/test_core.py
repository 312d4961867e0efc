"""LanguageEnv: what every environment promises, seen through the smallest one."""

import copy
import pickle

import gymnasium
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st

from lifelong_gym.core import (
    Agent,
    Decision,
    Grading,
    Reply,
    Stop,
    Task,
    render,
    turn,
)
from lifelong_gym.errors import BackendError, UsageError
from lifelong_gym.testing import ScriptedEnv
from lifelong_gym.text import bounded

PAIRS = [("Say a.", "a"), ("Say b.", "b"), ("Say c.", "c")]


def started(*actions, **options):
    """A ScriptedEnv in its first task, after some actions."""
    env = ScriptedEnv(PAIRS, **options)
    env.reset(options={"task_index": 0})
    for action in actions:
        env.step(action)
    return env


class TestReset:
    def test_passes_gymnasiums_checks(self):
        check_env(ScriptedEnv(PAIRS), skip_render_check=True)

    def test_the_same_seed_draws_the_same_task(self):
        draws = [ScriptedEnv(PAIRS * 1).reset(seed=7)[1]["task_id"] for _ in range(5)]

        assert len(set(draws)) == 1

    def test_without_a_seed_every_task_comes_up(self):
        env = ScriptedEnv(PAIRS)
        env.reset(seed=1)

        assert {env.reset()[1]["task_id"] for _ in range(100)} == {"task-0", "task-1", "task-2"}

    def test_a_task_is_chosen_by_id_or_index(self):
        env = ScriptedEnv(PAIRS)

        assert env.reset(options={"task_id": "task-2"})[1]["task_id"] == "task-2"
        assert env.reset(options={"task_index": 1})[1]["task_id"] == "task-1"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"task_id": "nope"}, "no task has the id 'nope'; the 3 ids begin with task-0"),
            ({"task_index": 3}, "between 0 and 2, got 3"),
            ({"task_index": -1}, "between 0 and 2, got -1"),
            ({"task_index": True}, "a whole number, got True"),
            ({"task_index": "1"}, "a whole number, got '1'"),
            ({"task_id": [1]}, r"no task has the id \[1\]"),
            ({"task": 1}, r"task_id or task_index, got \['task'\]"),
            ({"task_id": "task-0", "task_index": 0}, "task_id or task_index"),
        ],
    )
    def test_a_task_that_cannot_be_chosen_is_refused(self, options, message):
        with pytest.raises(UsageError, match=message):
            ScriptedEnv(PAIRS).reset(options=options)

    def test_info_is_complete_and_new_each_time(self):
        env = ScriptedEnv(PAIRS)
        observation, info = env.reset(options={"task_index": 0})
        _, again = env.reset(options={"task_index": 0})

        assert set(info) == {
            *("opening", "messages", "task_id", "domain", "skills", "max_turns"),
        }
        assert observation == "\n\n".join(m["content"] for m in info["messages"])
        assert again == info
        assert again["opening"] is not info["opening"]

    def test_the_solution_is_not_in_info(self):
        _, info = ScriptedEnv([("Say it.", "SECRET")]).reset()

        assert "SECRET" not in repr(info)


class TestStep:
    def test_before_reset_is_refused(self):
        with pytest.raises(ResetNeeded):
            ScriptedEnv(PAIRS).step("a")

    def test_after_the_end_is_refused(self):
        with pytest.raises(ResetNeeded):
            started("a").step("a")

    def test_without_an_agent_step_none_says_what_is_missing(self):
        with pytest.raises(TypeError, match="needs an agent around the environment"):
            started().step(None)

    def test_an_action_that_is_no_text_is_refused(self):
        with pytest.raises(TypeError, match="an action is a str, got int"):
            started().step(3)

    def test_a_running_turn_has_no_verdict(self):
        assert started().step("x") == ("No.", 0.0, False, False, {"turn": 1, "status": "running"})

    def test_success_is_rewarded_at_the_end(self):
        _, reward, terminated, truncated, info = started("x").step("a")

        assert (reward, terminated, truncated) == (1.0, True, False)
        assert info == {
            "turn": 2,
            "status": "completed",
            "success": True,
            "grading": {"reason": "the right words were said", "score": 1.0},
        }

    def test_the_turn_limit_truncates_and_still_judges(self):
        _, reward, terminated, truncated, info = started("x", max_turns=2).step("y")

        assert (reward, terminated, truncated) == (0.0, False, True)
        assert info["status"] == "turn_limit"
        assert info["success"] is False

    def test_an_invalid_action_forfeits(self):
        observation, reward, terminated, _, info = started().step(" ")

        assert observation.startswith("Invalid action: ")
        assert (reward, terminated, info["status"]) == (0.0, True, "invalid_action")
        assert info["success"] is False
        assert "forfeited" in info["grading"]["reason"]

    def test_an_invalid_action_may_cost_a_turn_instead(self):
        env = started(" ", on_invalid_action="retry")
        _, reward, *_, info = env.step("a")

        assert (reward, info["turn"]) == (1.0, 2)

    def test_lone_surrogates_are_replaced(self):
        env = ScriptedEnv([("Say it.", "a\N{REPLACEMENT CHARACTER}b")])
        env.reset()

        assert env.step("a\ud800b")[1] == 1.0


class TestStop:
    def test_a_scored_stop_is_judged_as_at_a_limit(self):
        *_, terminated, truncated, info = started().step(Stop("context_limit", "too long"))

        assert (terminated, truncated) == (False, True)
        assert info["status"] == "context_limit"
        assert info["success"] is False

    def test_an_empty_completion_is_the_agents_own_end(self):
        *_, terminated, truncated, info = started().step(Stop("empty_completion"))

        assert (terminated, truncated) == (True, False)
        assert info["success"] is False

    def test_an_unscored_stop_has_no_verdict(self):
        *_, truncated, info = started().step(Stop("model_error", "gone"))

        assert truncated
        assert info == {"turn": 0, "status": "model_error"}

    def test_an_unknown_status_is_refused(self):
        with pytest.raises(UsageError, match="a Stop's status is one of"):
            started().step(Stop("completed"))

    @pytest.mark.parametrize(
        "copied", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
    )
    def test_a_stop_survives_copying(self, copied):
        stop = copied(Stop("context_limit", "too long"))

        assert (stop, stop.status, stop.reason) == ("", "context_limit", "too long")


class TestBlame:
    def test_a_failure_of_the_system_is_raised_and_the_next_reset_works(self):
        env = ScriptedEnv(PAIRS, fail_resets=[0], fail_steps=[0])
        with pytest.raises(BackendError):
            env.reset()
        env.reset(options={"task_index": 0})
        with pytest.raises(BackendError):
            env.step("a")
        with pytest.raises(ResetNeeded):
            env.step("a")
        env.reset(options={"task_index": 0})

        assert env.step("a")[1] == 1.0


class TestArguments:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"max_turns": 0}, "max_turns must be a whole number of at least 1, got 0"),
            ({"max_turns": True}, "max_turns must be .*, got True"),
            (
                {"max_observation_bytes": 0},
                "max_observation_bytes must be a whole number of at least 1",
            ),
            ({"action_format": "json"}, "action_format must be one of .*'text', 'tools'"),
            ({"on_invalid_action": "ignore"}, "on_invalid_action must be one of"),
            ({"render_mode": "human"}, "render_mode must be one of"),
            ({"reward_shaper": "nope"}, "'success', 'partial' or an import path"),
            ({"reward_shaper": "math:nope"}, "cannot be imported"),
            ({"reward_shaper": 3}, "must be a function of a Grading"),
        ],
    )
    def test_a_bad_value_is_refused_by_name(self, options, message):
        with pytest.raises(UsageError, match=message):
            ScriptedEnv(PAIRS, **options)

    def test_no_tasks_are_refused(self):
        with pytest.raises(UsageError, match="at least one task"):
            ScriptedEnv([])

    def test_the_reward_can_be_shaped(self):
        env = started(reward_shaper=lambda grading: grading.score / 2)

        assert env.step("a")[1] == 0.5

    def test_a_shaper_that_gives_no_number_is_refused(self):
        with pytest.raises(UsageError, match="reward_shaper must return a number, got None"):
            started(reward_shaper=lambda grading: None).step("a")

    def test_a_shaper_can_be_named(self):
        assert started(reward_shaper="partial").step("a")[1] == 1.0


class TestRender:
    def test_without_a_mode_there_is_nothing(self):
        assert started().render() is None

    def test_ansi_shows_the_episode_so_far(self):
        assert started("x", render_mode="ansi").render() == (
            "== Rules\nSay the right words, or `give up`.\n\n"
            "== Environment\nSay a.\n\n== Agent\nx\n\n== Environment\nNo."
        )


class TestBounded:
    @given(st.text(), st.integers(60, 200))
    def test_a_text_fits_its_bound(self, text, bound):
        assert len(bounded(text, bound).encode()) <= bound or len(text.encode()) <= bound

    @given(st.text(min_size=200), st.integers(80, 150))
    def test_head_and_tail_are_kept_and_the_cut_is_marked(self, text, bound):
        cut = bounded(text, bound)

        assert cut[0] == text[0]
        assert cut[-1] == text[-1]
        assert "bytes cut ...]" in cut

    def test_observations_are_bounded(self):
        class Loud(ScriptedEnv):
            def _respond(self, action, task):
                return Reply("x" * 10_000)

        env = Loud(PAIRS, max_observation_bytes=100)
        env.reset()

        assert len(env.step("a")[0].encode()) <= 100


class TestConversation:
    def test_lessons_and_experiences_stand_before_the_task(self):
        experience = {
            "task_id": "t",
            "messages": [{"role": "user", "content": "Old task."}, *turn("old", "fine")],
            "success": True,
        }
        messages, observation = render(
            {"rules": "R", "lessons": ["L"], "experiences": [experience], "task": "New task."}
        )

        assert [message["role"] for message in messages] == ["system", "user"]
        assert observation.index("L") < observation.index("Old task.")
        assert "Example 1, solved:" in observation
        assert observation.endswith("Now your task:\nNew task.")

    @pytest.mark.parametrize(
        ("part", "value", "message"),
        [
            ("lessons", [3], "a lesson is a text, got 3"),
            ("experiences", ["text"], "an experience is a mapping of .*'messages'"),
            ("experiences", [{"task_id": "t"}], "an experience is a mapping of"),
        ],
    )
    def test_an_opening_in_another_form_is_refused(self, part, value, message):
        opening = {"rules": "R", "lessons": [], "experiences": [], "task": "T"}
        with pytest.raises(UsageError, match=message):
            render({**opening, part: value})

    def test_every_tool_call_has_its_answer(self):
        call = '{"id": "%s", "function": {"name": "say", "arguments": "{}"}}'
        messages = turn(f"[{call % 'a'}, {call % 'b'}]", "done")

        assert [message.get("tool_call_id") for message in messages] == [None, "a", "b"]
        assert [message["content"] for message in messages] == [
            *(None, "done", "Not run: one call a turn."),
        ]

    @given(st.text())
    def test_any_text_is_a_turn(self, text):
        assert len(turn(text, "seen")) >= 2

    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
    def test_a_decision_survives_copying(self, copied):
        decision = copied(Decision("act", [Completion()]))

        assert decision == "act"
        assert decision.usage == {"calls": 1, "prompt_tokens": 3, "completion_tokens": 2}


class Completion:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}  # noqa: RUF012


class Echo(Agent):
    def act(self, messages):
        return Decision(messages[-1]["content"][-2], [Completion()])


class TestAgent:
    def test_an_agent_acts_when_asked_with_none(self):
        agent = Echo(ScriptedEnv(PAIRS))
        agent.reset(options={"task_index": 1})
        _, reward, *_, info = agent.step(None)

        assert reward == 1.0
        assert info["action"] == "b"
        assert info["usage"] == {"calls": 1, "prompt_tokens": 3, "completion_tokens": 2}

    def test_an_agent_does_as_told(self):
        agent = Echo(ScriptedEnv(PAIRS))
        agent.reset(options={"task_index": 1})
        *_, info = agent.step("x")

        assert info["action"] == "x"
        assert "usage" not in info

    def test_the_innermost_agent_owns_the_conversation(self):
        outer = Echo(Echo(ScriptedEnv(PAIRS)))
        _, info = outer.reset(options={"task_index": 0})
        outer.step("x")

        assert outer.conversation == [*info["messages"], *turn("x", "No.")]
        assert outer.conversation is outer.env.conversation

    def test_a_stop_reaches_the_environment(self):
        class Stuck(Agent):
            def act(self, messages):
                return Stop("context_limit", "too long")

        agent = Stuck(ScriptedEnv(PAIRS))
        agent.reset()

        assert agent.step()[-1]["status"] == "context_limit"
        assert len(agent.conversation) == 2

    def test_an_act_that_forgets_to_return_is_named(self):
        class Forgetful(Agent):
            def act(self, messages):
                pass

        agent = Forgetful(ScriptedEnv(PAIRS))
        agent.reset()
        with pytest.raises(TypeError, match=r"Forgetful.act must return a str, got None"):
            agent.step()

    def test_a_batch_is_one_action_for_each_conversation(self):
        agent = Echo(ScriptedEnv(PAIRS))

        assert agent.act_batch([[{"content": "xa."}], [{"content": "xb."}]]) == ["a", "b"]


def test_a_task_is_frozen_and_takes_no_unknown_field():
    with pytest.raises(ValueError, match="frozen"):
        Task(id="a", instruction="b").id = "c"
    with pytest.raises(ValueError, match="Extra inputs"):
        Task(id="a", instruction="b", nope=1)


def test_an_environment_pickles_before_its_first_reset():
    env = pickle.loads(pickle.dumps(ScriptedEnv(PAIRS)))

    assert env.reset(seed=0)[1]["task_id"] == ScriptedEnv(PAIRS).reset(seed=0)[1]["task_id"]


def test_closing_twice_is_fine():
    env = started()
    env.close()
    env.close()

    assert env.reset(options={"task_index": 0})[1]["task_id"] == "task-0"


def test_a_grading_has_no_score_of_its_own():
    assert Grading(success=False, reason="no").score == 0.0


def test_wrappers_of_gymnasium_compose():
    env = gymnasium.wrappers.RecordEpisodeStatistics(Echo(ScriptedEnv(PAIRS)))
    env.reset(options={"task_index": 2})

    assert env.step(None)[-1]["episode"]["r"] == 1.0
