"""The published tasks, played by the oracle on every database."""

import gymnasium as gym
import pytest

import lifelong_gym  # noqa: F401 - registers
from lifelong_gym.baselines import IdleAgent, OracleAgent
from lifelong_gym.runs import run_stream
from lifelong_gym.scoring.paper import table_checksum
from lifelong_gym.wrappers import TaskStream
from tests.envs.conftest import require


def play(agent, tasks, **options):
    env = gym.make("lifelong_gym/Database-v0", tasks=tasks, **options)
    try:
        return run_stream(agent(TaskStream(env))).trajectories
    finally:
        env.close()


def lost(trajectories):
    return {t.task_id: t.grading["reason"] for t in trajectories if not t.success}


PUBLISHED = "lifelongagentbench?path={}/lifelongagentbench"
AGENTBENCH = "agentbench:dev?path={}/agentbench"


@pytest.mark.parametrize(("scoring", "most_lost"), [("strict", 0), ("paper", 4)])
def test_the_oracle_solves_the_published_tasks_on_a_local_server(data_folder, scoring, most_lost):
    require("local")
    played = play(OracleAgent, PUBLISHED.format(data_folder), database="local", scoring=scoring)

    assert len(played) == 250
    assert len(lost(played)) <= most_lost, lost(played)


@pytest.mark.slow
@pytest.mark.parametrize(("scoring", "most_lost"), [("strict", 0), ("paper", 0)])
def test_the_oracle_solves_the_published_tasks_on_mysql(data_folder, scoring, most_lost):
    require("docker")
    played = play(OracleAgent, PUBLISHED.format(data_folder), database="docker", scoring=scoring)

    assert len(played) == 250
    assert len(lost(played)) <= most_lost, lost(played)


@pytest.mark.slow
@pytest.mark.parametrize(("scoring", "most_lost"), [("strict", 1), ("paper", 4)])
def test_the_oracle_solves_the_published_tasks_on_seekdb(data_folder, scoring, most_lost):
    require("seekdb")
    played = play(OracleAgent, PUBLISHED.format(data_folder), database="seekdb", scoring=scoring)

    assert len(played) == 250
    assert len(lost(played)) <= most_lost, lost(played)


@pytest.mark.parametrize("scoring", ["strict", "paper"])
def test_an_idle_agent_solves_nothing(data_folder, scoring):
    require("local")
    played = play(IdleAgent, PUBLISHED.format(data_folder), database="local", scoring=scoring)

    assert len(played) == len(lost(played)) == 250


@pytest.mark.parametrize("tasks", [PUBLISHED, AGENTBENCH])
def test_every_published_checksum_is_reproduced(data_folder, tasks):
    require("local")
    env = gym.make("lifelong_gym/Database-v0", tasks=tasks.format(data_folder), database="local")
    database = env.unwrapped._database
    differing = []
    changes = [task for task in env.unwrapped.task_set if task.md5]
    for task in changes:
        workspace = database.create(task.tables)
        workspace.execute(task.sql)
        if table_checksum(workspace.joined_rows(task.tables[0].name)) != task.md5:
            differing.append(task.id)
        workspace.close()
    env.close()

    assert len(changes) in {74, 40}
    assert differing == []


@pytest.mark.parametrize("database", ["local", "seekdb", "docker"])
def test_agentbenchs_changes_are_solved_by_their_reference(data_folder, database):
    require(database)
    tasks = AGENTBENCH.format(data_folder) + "&skills=insert,update"
    played = play(OracleAgent, tasks, database=database)

    assert len(played) == 40
    assert lost(played) == {}


@pytest.mark.parametrize("database", ["local", "seekdb", "docker"])
def test_the_builtin_tasks_are_solved_on_every_database(database):
    require(database)

    assert lost(play(OracleAgent, "builtin", database=database)) == {}
    assert all(not t.success for t in play(IdleAgent, "builtin?limit=5", database=database))
