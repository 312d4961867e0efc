"""make_vec: many copies, one behaviour."""

import gymnasium as gym
import pytest

from lifelong_gym import make_vec

ACTIONS = (
    "Action: Operation\n```sql\nSELECT '東京 🗼', 'é\t\\\\', '\u202eabc'\n```",
    "Action: Operation\n```sql\nSELECT * FROM nope\n```",
    "",
)


def play(database, mode, **vector_kwargs):
    envs = make_vec(
        "Database-v0",
        num_envs=3,
        vectorization_mode=mode,
        vector_kwargs=vector_kwargs,
        tasks="builtin",
        database=database,
    )
    try:
        seen = [envs.reset(seed=[1, 2, 3])[0]]
        seen += [envs.step(ACTIONS)[0] for _ in range(3)]
    finally:
        envs.close()
    return seen


@pytest.mark.parametrize("context", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_copies_in_other_processes_see_the_same(database, context):
    assert play(database, "async", context=context) == play(database, "sync")


def test_observations_are_tuples_of_texts(database):
    first, second, *_ = play(database, "sync")

    assert len(first) == 3
    assert all(isinstance(text, str) for text in first)
    assert second[0] == "[('東京 🗼', 'é\\t\\\\', '\\u202eabc')]"


def test_one_server_serves_environments_that_never_see_each_other(database):
    envs = make_vec("Database-v0", num_envs=2, tasks="builtin?limit=1", database=database)
    envs.reset(seed=0)
    create = "Action: Operation\n```sql\nCREATE TABLE mine (a INT)\n```"
    show = "Action: Operation\n```sql\nSHOW TABLES LIKE 'mine'\n```"
    envs.step((create, show))
    seen = envs.step((show, show))[0]
    envs.close()

    assert seen == ("[('mine',)]", "[]")


def test_a_full_id_works_as_well(database):
    envs = make_vec("lifelong_gym/Database-v0", tasks="builtin", database=database)

    assert isinstance(envs, gym.vector.SyncVectorEnv)
    envs.close()
