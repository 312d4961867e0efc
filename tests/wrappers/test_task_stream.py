"""TaskStream: which task comes next, and with which seed."""

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from lifelong_gym.errors import BackendError, StreamExhausted, UsageError
from lifelong_gym.testing import ScriptedEnv, ScriptedTask
from lifelong_gym.wrappers import TaskStream

TEXTS = [f"say {n}" for n in range(8)]


def play(stream, count=None):
    """The task ids of `count` episodes, or of all that are left."""
    played = []
    while count is None or len(played) < count:
        try:
            _, info = stream.reset()
        except StreamExhausted:
            break
        stream.step("give up")
        played.append(info["task_id"])
    return played


def stream(env=None, **options):
    return TaskStream(env or ScriptedEnv(TEXTS), **options)


class SeedSpy(gymnasium.Wrapper):
    """Keeps the seeds that reset was called with."""

    def __init__(self, env):
        super().__init__(env)
        self.seeds = []

    def reset(self, *, seed=None, options=None):
        self.seeds.append(seed)
        return self.env.reset(seed=seed, options=options)


def seeds(count, **options):
    spy = SeedSpy(ScriptedEnv(TEXTS))
    play(TaskStream(spy, **options), count)
    return spy.seeds


# Order ---------------------------------------------------------------------------------


def test_tasks_come_in_the_order_of_the_task_set():
    assert play(stream()) == [f"task-{n}" for n in range(8)]


def test_shuffled_order_holds_every_task_once():
    order = play(stream(order="shuffle"))

    assert sorted(order) == [f"task-{n}" for n in range(8)]
    assert order != sorted(order)


def test_shuffled_order_depends_on_the_seed_alone():
    assert play(stream(order="shuffle", seed=3)) == play(stream(order="shuffle", seed=3))
    assert play(stream(order="shuffle", seed=3)) != play(stream(order="shuffle", seed=4))


@pytest.mark.parametrize("order", ["sequential", "shuffle"])
def test_larger_limit_only_adds_to_the_order(order):
    assert play(stream(order=order, limit=5))[:3] == play(stream(order=order, limit=3))


def test_limit_beyond_the_task_set_plays_all():
    assert len(stream(limit=100)) == 8


def test_chosen_tasks_come_in_the_order_given():
    assert play(stream(task_ids=["task-5", "task-2"])) == ["task-5", "task-2"]


def test_attempts_come_in_a_row():
    env, seen = stream(attempts=3, limit=2), []
    for _ in range(len(env)):
        _, info = env.reset()
        env.step("give up")
        seen.append((info["position"], info["task_id"], info["attempt"]))

    assert seen == [
        (0, "task-0", 0),
        (1, "task-0", 1),
        (2, "task-0", 2),
        (3, "task-1", 0),
        (4, "task-1", 1),
        (5, "task-1", 2),
    ]


def test_skills_of_a_position_are_the_tasks():
    task = ScriptedTask(id="a", instruction="b", skills=("c",))

    assert stream(ScriptedEnv([task])).entry(0).skills == ("c",)


# The end -------------------------------------------------------------------------------


def test_end_is_raised_again_and_again():
    env = stream(limit=1)
    play(env)
    for _ in range(2):
        with pytest.raises(StreamExhausted, match=r'all 1 positions .* on_end="repeat"'):
            env.reset()


def test_repeating_stream_starts_over():
    assert play(stream(limit=2, on_end="repeat"), 5) == [
        "task-0",
        "task-1",
        "task-0",
        "task-1",
        "task-0",
    ]


# What does not skip a task -------------------------------------------------------------

of_a_wrapper = pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")


def test_reset_before_a_step_skips_nothing():
    env = stream()
    for _ in range(3):
        assert env.reset()[1]["position"] == 0
    env.step("give up")

    assert env.reset()[1]["position"] == 1


def test_episode_that_is_left_after_a_step_is_over():
    env = stream()
    env.reset()
    env.step("wrong")

    assert env.reset()[1]["position"] == 1


@of_a_wrapper
def test_checker_around_it_passes():
    check_env(stream(), skip_render_check=True)


@of_a_wrapper
def test_checker_passes_on_fewer_tasks_than_it_plays():
    check_env(stream(limit=2, on_end="repeat"), skip_render_check=True)


@of_a_wrapper
def test_checker_passes_on_what_make_returns():
    gymnasium.register("test/Stream-v0", entry_point=lambda render_mode=None: ScriptedEnv(TEXTS))
    try:
        env = TaskStream(gymnasium.make("test/Stream-v0"))
        assert env.reset()[1]["position"] == 0
        check_env(env, skip_render_check=True, skip_close_check=True)
    finally:
        del gymnasium.registry["test/Stream-v0"]


def test_vector_environment_with_autoreset_plays_every_task():
    envs = gymnasium.vector.SyncVectorEnv(
        [lambda i=i: stream(limit=4, shard=(i, 2), on_end="repeat") for i in range(2)]
    )
    _, info = envs.reset()
    played = [tuple(info["task_id"])]
    for _ in range(3):
        _, _, ended, _, info = envs.step(["give up", "give up"])
        if not ended.any():
            played.append(tuple(info["task_id"]))
    envs.close()

    assert played == [("task-0", "task-1"), ("task-2", "task-3")]


# Seeds ---------------------------------------------------------------------------------


def test_seed_of_an_episode_depends_on_stream_and_position_alone():
    assert seeds(8) == seeds(8)
    assert len(set(seeds(8))) == 8
    assert not set(seeds(8)) & set(seeds(8, seed=1))


def test_shards_together_are_the_whole_stream():
    whole = stream(attempts=3, seed=2)
    shards = [stream(attempts=3, seed=2, shard=(i, 5)) for i in range(5)]
    entries = [shard.entry(position) for shard in shards for position in shard.positions]

    assert sorted(entries, key=lambda entry: entry.position) == [
        whole.entry(position) for position in whole.positions
    ]
    assert sum(map(len, shards)) == len(whole) == 24


def test_shard_plays_every_nth_position():
    assert play(stream(shard=(1, 3))) == ["task-1", "task-4", "task-7"]


def test_given_seed_seeds_that_episode_and_changes_no_order():
    spy = SeedSpy(ScriptedEnv(TEXTS))
    env = TaskStream(spy)
    env.reset(seed=5)
    env.step("give up")
    _, info = env.reset()

    assert info["task_id"] == "task-1"
    assert spy.seeds == [5, TaskStream(spy).entry(1).seed]


# Options -------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["task_id", "task_index"])
def test_choosing_a_task_from_outside_is_refused(option):
    with pytest.raises(UsageError, match=rf"option {option}: .*task_ids=\[\.\.\.\]"):
        stream().reset(options={option: "task-1"})


def test_repeat_plays_the_position_again_with_its_seed():
    spy = SeedSpy(ScriptedEnv(TEXTS))
    env = TaskStream(spy)
    play(env, 2)
    _, info = env.reset(options={"repeat": True})

    assert (info["position"], spy.seeds[1]) == (1, spy.seeds[2])


def test_repeat_goes_on_to_the_next_position():
    env = stream()
    play(env, 1)
    env.reset(options={"repeat": True})
    env.step("give up")

    assert env.reset()[1]["position"] == 1


def test_repeat_before_anything_plays_the_first():
    assert stream(shard=(1, 2)).reset(options={"repeat": True})[1]["position"] == 1


def test_repeat_works_after_the_end():
    env = stream(limit=1)
    play(env)

    assert env.reset(options={"repeat": True})[1]["position"] == 0


@pytest.mark.parametrize("failing", [{"fail_resets": [0]}, {"fail_steps": [0]}])
def test_repeat_plays_what_the_system_broke(failing):
    env = stream(ScriptedEnv(TEXTS, **failing))
    with pytest.raises(BackendError):
        play(env)

    assert env.reset(options={"repeat": True})[1]["position"] == 0


def test_reset_that_failed_skips_nothing():
    env = stream(ScriptedEnv(TEXTS, fail_resets=[1]))
    play(env, 1)
    with pytest.raises(BackendError):
        env.reset()

    assert env.reset()[1]["position"] == 1


def test_position_is_a_jump():
    env = stream()
    assert env.reset(options={"position": 5})[1]["task_id"] == "task-5"
    env.step("give up")

    assert env.reset()[1]["position"] == 6


@pytest.mark.parametrize("position", [8, -1, "a", 1.5])
def test_position_that_is_not_in_the_stream_is_refused(position):
    with pytest.raises(UsageError, match="position must be in range"):
        stream().reset(options={"position": position})


def test_refused_reset_changes_nothing():
    env = stream()
    play(env, 1)
    with pytest.raises(UsageError):
        env.reset(options={"position": 99})

    assert env.reset()[1]["position"] == 1


def test_other_options_go_to_the_environment():
    with pytest.raises(UsageError, match="reset takes the option task_id"):
        stream().reset(options={"colour": "red"})


# State and spec ------------------------------------------------------------------------


def test_state_goes_on_where_it_stood():
    env, other = stream(order="shuffle"), stream(order="shuffle")
    first = play(env, 3)
    other.load_state_dict(env.state_dict())

    assert first + play(other) == play(stream(order="shuffle"))


def test_state_before_the_end_of_an_episode_is_no_skip():
    env, other = stream(), stream()
    env.reset()
    other.load_state_dict(env.state_dict())

    assert other.reset()[1]["position"] == 0


def test_state_of_another_stream_is_refused():
    env = stream()
    play(env)
    with pytest.raises(UsageError, match="position must be in"):
        stream(limit=2).load_state_dict(env.state_dict())


def test_spec_describes_and_rebuilds_the_stream():
    gymnasium.register("test/Stream-v0", entry_point=lambda: ScriptedEnv(TEXTS))
    try:
        spec = TaskStream(gymnasium.make("test/Stream-v0"), limit=3, shard=(0, 2)).spec
        assert spec.additional_wrappers[-1].kwargs["limit"] == 3
        assert play(gymnasium.make(spec)) == ["task-0", "task-2"]
    finally:
        del gymnasium.registry["test/Stream-v0"]


def test_spec_of_a_registered_environment_is_json(tmp_path):
    spec = EnvSpec("test/Json-v0", entry_point="lifelong_gym.testing:ScriptedEnv")
    spec.kwargs = {"tasks": ["one", "two"]}
    env = TaskStream(spec.make(), task_ids=("task-1",))

    assert play(EnvSpec.from_json(env.spec.to_json()).make()) == ["task-1"]


# Arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "random"}, r"order must be one of \('sequential', 'shuffle'\), got 'random'"),
        ({"on_end": "stop"}, "on_end must be one of"),
        ({"limit": 0}, "limit must be a whole number of at least 1, got 0"),
        ({"limit": True}, "limit must be a whole number of at least 1, got True"),
        ({"attempts": 0}, "attempts must be a whole number of at least 1, got 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"seed": 1.5}, "seed must be a whole number of at least 0, got 1.5"),
        ({"shard": (2, 2)}, r"i is below n, got \(2, 2\)"),
        ({"shard": 3}, r"shard is a pair \(i, n\), got 3"),
        ({"shard": (0, 0)}, "n in shard"),
        ({"task_ids": []}, "names no task"),
        ({"task_ids": 5}, r"task_ids is a list of ids, got 5"),
        ({"task_ids": "task-1"}, r"write \['task-1'\]"),
        ({"task_ids": ["task-1", "task-1"]}, "use attempts"),
        ({"task_ids": ["nope"]}, "names 'nope'.* its 8 ids begin with task-0, task-1"),
    ],
)
def test_wrong_argument_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        stream(**options)


def test_environment_without_tasks_is_refused():
    with pytest.raises(UsageError, match="needs an environment with a task_set"):
        TaskStream(gymnasium.Env())


def test_step_reaches_the_environment():
    env = stream()
    env.reset()

    assert env.step("say 0")[4]["success"]


def test_empty_shard_is_exhausted_at_once():
    with pytest.raises(StreamExhausted):
        stream(limit=1, shard=(1, 2), on_end="repeat").reset()
