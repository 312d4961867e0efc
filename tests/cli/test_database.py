"""The whole way: the builtin tasks on the first database that works on this machine."""

import pytest

from lifelong_gym.backends.database import open_database
from lifelong_gym.errors import BackendUnavailableError, MissingExtraError
from lifelong_gym.runs import Run


@pytest.fixture(scope="module", autouse=True)
def _database():
    try:
        database = open_database("auto")
        assert database.version
        database.close()
    except (BackendUnavailableError, MissingExtraError) as error:
        pytest.skip(f"no database works here: {error}")


def test_the_oracle_solves_builtin_tasks_and_the_report_names_the_backend(call):
    words = ["--env", "Database-v0", "--tasks", "builtin?limit=6", "--output", "out"]
    call("run", *words, "--agent", "oracle")
    run = Run.load("out")

    assert run.metrics().success_rate == 1.0
    assert run.backend["name"] in call("report", "out").stdout


def test_doing_nothing_solves_nothing(call):
    words = ["--env", "Database-v0", "--limit", "6", "--output", "out"]
    call("run", *words, "--agent", "idle", "--env-arg", "max_turns=1")

    assert Run.load("out").metrics().success_rate == 0.0


def test_the_first_builtin_tasks_are_sound(call):
    result = call("tasks", "validate", "builtin?limit=4", "--env-arg", "database=auto")

    assert result.stdout == "4 tasks, all sound\n"


@pytest.mark.slow
def test_every_builtin_task_is_sound(call):
    result = call("tasks", "validate", "builtin")

    assert result.stdout.endswith("tasks, all sound\n")


def test_a_server_that_is_not_there_is_one_message_without_the_password(refused):
    message = refused(
        *("run", "--env", "Database-v0", "--agent", "idle", "--output", "out"),
        *("--env-arg", "database=mysql://root:hunter2@127.0.0.1:1"),
    )

    assert "127.0.0.1:1" in message
    assert "hunter2" not in message
