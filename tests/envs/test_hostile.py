"""An agent that wants to harm loses its episode, and nothing else happens."""

import subprocess
import sys
import time
from pathlib import Path

import gymnasium as gym
import pytest

from lifelong_gym.backends.database import Column, Table
from lifelong_gym.errors import BackendUnavailableError, MissingExtraError
from lifelong_gym.tasks import DatabaseTask, TaskSet
from tests.envs.hostile import RIGHT, SCRIPTS

MOST_S = 5.0
STAFF = Table(
    name="staff",
    columns=(Column(name="id", type="INT"), Column(name="name", type="TEXT")),
    rows=((1, "Ann"), (2, "Bo"), (3, None)),
)
TASK = DatabaseTask(id="rename", instruction="Rename Bo to Bob.", tables=(STAFF,), sql=RIGHT)


def operation(sql):
    return f"Action: Operation\n```sql\n{sql}\n```"


ANSWER = "Action: Answer\nFinal Answer: done"


def make(database):
    env = gym.make(
        "lifelong_gym/Database-v0",
        tasks=TaskSet([TASK], domain="database"),
        database=database,
        statement_timeout_s=1,
        max_turns=30,
    )
    return env.unwrapped


def connection_of(env):
    """The server's number of the guard's connection: another one after a restart."""
    return env._database._connected().run("SELECT CONNECTION_ID()")[0][0][0]


@pytest.fixture(scope="module", params=["local", "seekdb", "docker"])
def envs(request):
    """The environment that is attacked, and another on the same server."""
    attacked, guard = make(request.param), make(request.param)
    try:
        guard.reset()
        attacked.reset()
    except (BackendUnavailableError, MissingExtraError) as error:
        pytest.skip(str(error))
    yield attacked, guard
    attacked.close()
    guard.close()


KILLED = """
import sys
from tests.envs.test_hostile import SCRIPTS, make, operation
env = make(sys.argv[1])
env.reset()
*statements, last = SCRIPTS[sys.argv[2]].statements
for statement in statements:
    env.step(operation(statement))
print(env._database._connected().id, flush=True)
env.step(operation(last))
sys.stdin.read()
"""


def left_of(maker, env):
    """The databases and accounts of one `Judge` that the server of `env` has."""
    judge = env._database._connected()
    databases = judge.run(f"SHOW DATABASES LIKE 'lifelonggym{maker}%'")[0]
    accounts = judge.run(f"SELECT user FROM mysql.user WHERE user LIKE 'lifelonggym{maker}%'")[0]
    return {name for (name,) in (*databases, *accounts)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["locks its table", "does not commit", "makes 500 views", "loops without end"]
)
def test_what_a_killed_run_left_goes_at_the_next_start(envs, name):
    attacked, guard = envs
    run = subprocess.Popen(
        [sys.executable, "-c", KILLED, guard.backend["name"], name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        text=True,
    )
    with run:
        maker = run.stdout.readline().strip()
        assert len(left_of(maker, guard)) == 2
        run.kill()
    deadline = time.monotonic() + 3 * MOST_S
    while left_of(maker, guard) and time.monotonic() < deadline:
        attacked.close()
        attacked.reset()  # a new start

    assert left_of(maker, guard) == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_hostile_agent_reaches_nobody_else(envs, name):
    attacked, guard = envs
    guard.reset()
    guard.step(operation(RIGHT))
    before = connection_of(guard)
    attacked.reset()
    statements, is_right_on = SCRIPTS[name]
    for statement in statements:
        *_, over, _, info = attacked.step(operation(statement))
        if over:
            break
    started = time.monotonic()
    if not over:
        *_, info = attacked.step(ANSWER)
    attacked.reset()
    delay = time.monotonic() - started

    assert info["success"] is (attacked.backend["name"] in is_right_on), info
    attacked.step(operation(RIGHT))
    assert attacked.step(ANSWER)[-1]["success"] is True, "the next task"
    assert guard.step(ANSWER)[-1]["success"] is True, "the other environment"
    assert connection_of(guard) == before, "the server"
    assert delay < MOST_S
    assert not Path("/tmp/lifelong_gym_hostile").exists()
