"""`run --config`, `--workers`, `--model` and `--dry-run`."""

import shlex
import signal

import pytest

from lifelong_gym.runs import Run
from tests.cli.test_program import recorded, wait_for_two_tasks

CONFIG = """
[env]
id = "{env_id}"
args = {{ note = "local"{more} }}

[stream]
order = "shuffle"
seed = 3

[[agents]]
type = "oracle"

[run]
output = "out"
"""


@pytest.fixture
def config(tmp_path, env_id):
    """Writes the experiment above into a folder of its own."""

    def config(text=CONFIG, more="", name="sub/x.toml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format(env_id=env_id, more=more))
        return path.relative_to(tmp_path)

    return config


def test_a_file_is_played_into_the_folder_beside_it(call, config):
    result = call("run", "--config", config())

    assert result.stdout.endswith("Recorded in sub/out\n")
    assert len(Run.load("sub/out").trajectories) == 3


def test_a_file_and_options_make_the_same_run(call, config, env_id):
    call("run", "--config", config(), "--limit", "2")
    words = ["--agent", "oracle", "--order", "shuffle", "--seed", "3", "--env-arg", "note=local"]
    call("run", "--env", env_id, *words, "--output", "sub/out")

    assert len(Run.load("sub/out").trajectories) == 3


def test_without_an_output_each_set_of_settings_has_its_own_folder(call, config, tmp_path):
    bare = CONFIG.replace('[run]\noutput = "out"', "[run]\nworkers = 1")
    call("run", "--config", config(bare))
    call("run", "--config", config(bare.replace("workers = 1", "retries = 1")))
    call("run", "--config", config(bare.replace("seed = 3", "seed = 4")))

    folders = [folder.name for folder in (tmp_path / "runs").iterdir()]
    assert len(folders) == 2
    assert all(name.startswith("x-") for name in folders)


def test_a_paused_file_says_how_to_go_on(call, config, tmp_path):
    (tmp_path / "stop").touch()
    stopped = call("run", "--config", config(more=', stop_file = "stop"'), "--quiet", code=3)
    command = stopped.stderr.splitlines()[-1]
    (tmp_path / "stop").unlink()
    assert shlex.split(command) == ["lifelong-gym", "run", "--config", "sub/x.toml", "--quiet"]

    call(*shlex.split(command)[1:])
    assert len(Run.load("sub/out").trajectories) == 3


@pytest.mark.parametrize(
    "words",
    [["--seed", "1"], ["--env", "x"], ["--agent", "idle"], ["--model", "main=a:b"]],
    ids=lambda words: words[0],
)
def test_what_belongs_in_the_file_is_refused_beside_it(refused, config, words):
    message = refused("run", "--config", config(), *words)

    assert f"{words[0]} cannot stand beside --config: write it into sub/x.toml" in message


def test_without_a_file_env_and_agent_are_needed(refused, env_id):
    assert "--env is missing" in refused("run", "--agent", "idle")
    assert "--agent is missing" in refused("run", "--env", env_id)


def test_a_file_that_is_wrong_is_named_with_table_and_key(refused, config):
    message = refused("run", "--config", config(CONFIG.replace('"shuffle"', '"random"')))

    assert "sub/x.toml: [stream] order must be 'sequential' or 'shuffle', got 'random'" in message


def test_a_dry_run_shows_the_first_prompt_and_records_nothing(call, config, tmp_path):
    shown = call("run", "--config", config(), "--dry-run").stdout

    assert "== system\nSay the right words" in shown
    assert "== user\nsay " in shown
    assert not (tmp_path / "sub/out").exists()


def test_a_dry_run_shows_the_tools(call, env_id):
    words = ["--agent", "idle", "--env-arg", "action_format=tools", "--dry-run"]

    assert '"name": "say"' in call("run", "--env", env_id, *words).stdout


@pytest.mark.slow
def test_workers_play_what_one_process_plays(finish, env_id):
    words = ["run", "--env", env_id, "--agent", "oracle", "--tasks", "7"]
    out, err = finish(*words, "--workers", "3", "--output", "many")
    finish(*words, "--output", "one")

    assert err == ""
    assert "100.0%" in out
    many, one = (Run.load(folder).trajectories for folder in ("many", "one"))
    assert [t.without_times() for t in many] == [t.without_times() for t in one]


@pytest.mark.slow
def test_ctrl_c_stops_workers_and_the_command_goes_on_with_them(start, finish, env_id):
    slow = ["--tasks", "12", "--env-arg", "pause_s=0.3", "--output", "out"]
    process = start("run", "--env", env_id, "--agent", "oracle", *slow, "--workers", "2")
    wait_for_two_tasks()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert 2 <= recorded() < 12

    command = shlex.split(err.splitlines()[-1])
    assert "--workers" in command
    finish(*command[1:])
    assert recorded() == 12


@pytest.mark.slow
def test_a_worker_that_pauses_pauses_the_run(finish, env_id, tmp_path):
    (tmp_path / "stop").touch()
    words = ["run", "--env", env_id, "--agent", "oracle", "--workers", "2", "--output", "out"]
    _, err = finish(*words, "--env-arg", "stop_file=stop", code=3)

    assert "paused: the budget of [5 $] is spent" in err
    assert "Traceback" not in err
