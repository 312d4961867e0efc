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
for statement in SCRIPTS[sys.argv[2]].statements[:-1]:
    env.step(operation(statement))
print("ready", flush=True)
env.step(operation(SCRIPTS[sys.argv[2]].statements[-1]))
print("done", flush=True)
sys.stdin.read()
"""


def leftovers(env):
    """The databases on the server, without those of the environment that asks."""
    judge = env._database._connected()
    found = judge.run("SHOW DATABASES LIKE 'lifelonggym%'")[0]
    return {name for (name,) in found if judge.id not in name}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["locks its table", "does not commit", "makes 500 views", "loops without end"]
)
def test_what_a_killed_run_left_goes_at_the_next_start(envs, name):
    attacked, guard = envs
    attacked.close()
    driver = guard.backend["name"]
    run = subprocess.Popen(
        [sys.executable, "-c", KILLED, driver, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    with run, run.stdin, run.stdout:
        run.stdout.readline()
        assert len(leftovers(guard)) == 1
        run.kill()
    deadline = time.monotonic() + MOST_S
    while leftovers(guard) and time.monotonic() < deadline:
        attacked.close()
        attacked.reset()  # a new start
        mine = attacked._database._connected().id
        if all(mine in left for left in leftovers(guard)):
            break
        time.sleep(0.1)

    assert all(mine in left for left in leftovers(guard))
    accounts = guard._database._connected().run("SELECT user FROM mysql.user")[0]
    makers = {mine, guard._database._connected().id}
    assert {str(user)[11:21] for (user,) in accounts if user.startswith("lifelonggym")} <= makers


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
