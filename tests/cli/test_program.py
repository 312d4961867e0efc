"""The program as a shell sees it: signals, pipes, help, and how fast it answers."""

import shlex
import signal
import subprocess
import sys
import time

import pytest

import lifelong_gym
from lifelong_gym.errors import UsageError
from lifelong_gym.runs import RunStore

COMMANDS = [
    "envs",
    "doctor",
    "tasks list",
    "tasks show",
    "tasks validate",
    "graph build",
    "play",
    "run",
    "report",
    "compare",
    "export",
]
SLOW = ["--tasks", "8", "--env-arg", "pause_s=1", "--output", "out"]


def recorded(folder="out"):
    try:
        with RunStore(folder, read_only=True) as store:
            return len(store.outcomes)
    except UsageError:
        return 0


def wait_for_two_tasks():
    deadline = time.monotonic() + 60
    while recorded() < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def playing(start, env_id):
    """A run that has recorded two of its eight tasks and goes on."""
    process = start("run", "--env", env_id, "--agent", "oracle", *SLOW)
    wait_for_two_tasks()
    return process


def test_after_a_kill_the_same_command_plays_what_is_left(playing, finish, env_id):
    playing.kill()
    playing.communicate()
    assert 2 <= recorded() < 8

    out, _ = finish("run", "--env", env_id, "--agent", "oracle", *SLOW)
    assert recorded() == 8
    assert "100.0%" in out


def test_ctrl_c_exits_with_130_and_prints_the_command_that_goes_on(playing, finish):
    playing.send_signal(signal.SIGINT)
    out, err = playing.communicate(timeout=30)
    assert playing.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert 2 <= recorded() < 8

    program, *words = shlex.split(err.splitlines()[-1])
    assert program == "lifelong-gym"
    finish(*words)
    assert recorded() == 8


def test_two_processes_cannot_write_one_run(start, finish, env_id, tmp_path):
    slower = ["run", "--env", env_id, "--agent", "oracle", "--env-arg", "pause_s=60"]
    start(*slower, "--output", "out")
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / "run.sqlite").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    _, err = finish(*slower, "--output", "out", code=2)

    assert "is being written by process" in err


def test_a_report_can_be_read_while_the_run_is_played(playing, finish):
    out, _ = finish("report", "out")

    assert "tasks" in out


@pytest.mark.parametrize("words", [["tasks", "list", "builtin"], ["--help"], ["run", "--help"]])
def test_a_reader_that_has_gone_is_no_error(start, words):
    process = start(*words)
    process.stdout.close()

    assert process.stderr.read() == ""


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_every_command_has_help_with_an_example(call, command, option):
    shown = call(*command.split(), option).stdout

    assert f"  lifelong-gym {command}" in shown
    assert "\b" not in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_an_ordinary_terminal(call, command):
    shown = call(*command.split(), "--help").stdout

    assert all(len(line) <= 100 for line in shown.splitlines())


def test_the_version_is_printed_also_by_python_m(call, finish):
    expected = f"lifelong-gym {lifelong_gym.__version__}\n"

    assert call("--version").stdout == expected
    assert finish("--version") == (expected, "")


def test_an_unknown_command_is_refused(call):
    assert "'playy'" in call("playy", code=2).stderr


def test_help_imports_nothing_that_only_commands_need():
    code = (
        "import sys, lifelong_gym.cli; late = {'lifelong_gym.core', 'lifelong_gym.runs', "
        "'lifelong_gym.envs.database', 'lifelong_gym.tasks', 'rich.progress', 'sqlglot'}; "
        "print(sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
