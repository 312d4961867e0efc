"""`run`: what it plays, what it records, what it says."""

import pytest

from lifelong_gym.runs import Run


@pytest.fixture
def run(call, env_id):
    def run(*words, env=env_id, agent="oracle", code=0):
        return call("run", "--env", env, "--agent", agent, *words, code=code)

    return run


def played(folder="out"):
    return [(t.task_id, t.attempt, t.success) for t in Run.load(folder).trajectories]


def test_the_oracle_solves_every_task_and_the_report_is_printed(run):
    result = run("--output", "out")

    assert played() == [("t0", 0, True), ("t1", 0, True), ("t2", 0, True)]
    assert "100.0%" in result.stdout
    assert result.stdout.endswith("Recorded in out\n")


def test_without_a_terminal_nothing_is_on_stderr_and_nothing_is_coloured(run):
    result = run("--output", "out")

    assert result.stderr == ""
    assert "\x1b" not in result.stdout


def test_the_idle_agent_solves_nothing(run):
    run("--output", "out", "--tasks", "1", agent="idle")

    assert played() == [("t0", 0, False)]


def test_a_scripted_agent_plays_its_file(run, tmp_path):
    (tmp_path / "actions.jsonl").write_text(
        '{"task_id": "t0", "actions": ["hm", "say 0"]}\n{"task_id": "t1", "actions": ["hm"]}\n'
    )
    run("--output", "out", "--tasks", "2", agent="scripted:actions.jsonl")

    assert played() == [("t0", 0, True), ("t1", 0, False)]


def test_limit_task_ids_and_attempts_choose_what_is_played(run):
    run("--output", "a", "--limit", "1")
    run("--output", "b", "--task-id", "t2", "--task-id", "t0", "--attempts", "2")

    assert [task_id for task_id, _, _ in played("a")] == ["t0"]
    assert played("b") == [("t2", 0, True), ("t2", 1, True), ("t0", 0, True), ("t0", 1, True)]


def test_a_shuffled_order_depends_on_the_seed_alone(run):
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        run("--output", folder, "--tasks", "9", "--order", "shuffle", "--seed", seed)

    assert played("a") == played("b") != played("c")


def test_an_env_arg_is_json_or_else_a_text(run):
    arguments = ["max_turns=1", "note=local", "on_invalid_action=retry", "fail_resets=[]"]
    run("--output", "out", *(word for pair in arguments for word in ("--env-arg", pair)))
    settings = Run.load("out").settings

    assert settings["env.max_turns"] == 1
    assert settings["env.note"] == "local"


def test_json_quotes_make_a_text_of_what_would_be_a_number(run):
    run("--output", "out", "--env-arg", 'note="7"')

    assert Run.load("out").settings["env.note"] == "7"


def test_a_value_may_hold_equals_signs(run):
    run("--output", "out", "--env-arg", "note=a=b")

    assert Run.load("out").settings["env.note"] == "a=b"


def test_the_namespace_may_be_left_out(refused):
    message = refused("run", "--env", "Databse-v0", "--agent", "idle")

    assert "namespace lifelong_gym" in message
    assert "Did you mean: `Database`" in message


def test_running_again_adds_nothing_and_a_larger_limit_goes_on(run):
    run("--output", "out", "--limit", "2")
    before = Run.load("out").trajectories
    run("--output", "out", "--limit", "2")
    assert Run.load("out").trajectories == before

    run("--output", "out")
    assert Run.load("out").trajectories[:2] == before
    assert len(played()) == 3


def test_a_folder_with_other_settings_is_refused_with_both_values(run):
    run("--output", "out", "--seed", "1")
    result = run("--output", "out", "--seed", "2", code=2)

    assert "TaskStream.seed: recorded 1, now 2" in result.stderr
    assert "another output folder" in result.stderr
    assert "Traceback" not in result.stderr


def test_without_an_output_each_set_of_arguments_has_its_own_folder(run, tmp_path):
    for words in ([], ["--quiet"], ["--seed", "1"], ["--env-arg", "note=x"]):
        run(*words)
    folders = sorted(folder.name for folder in (tmp_path / "runs").iterdir())

    assert len(folders) == 3
    assert all(name.startswith("Scripted-v0-oracle-") for name in folders)


def test_without_an_output_the_same_command_finds_its_run_again(run, tmp_path):
    run("--limit", "1")
    run("--limit", "2")
    (folder,) = (tmp_path / "runs").iterdir()

    assert len(played(folder)) == 2


def test_what_the_system_broke_is_told_and_exits_with_0(run):
    words = ["--output", "out", "--tasks", "1", "--env-arg"]
    result = run(*words, "fail_resets=[0, 1, 2]")
    assert "1 unscored" in result.stderr
    assert played() == [("t0", 0, None)]


def test_a_first_reset_that_fails_is_tried_again(run):
    run("--output", "out", "--env-arg", "fail_resets=[0]")

    assert played() == [("t0", 0, True), ("t1", 0, True), ("t2", 0, True)]


def test_a_paused_run_exits_with_3_and_says_why_and_how_to_go_on(run, tmp_path):
    (tmp_path / "stop").touch()
    words = ["--output", "my runs/out", "--env-arg", "stop_file=stop"]
    result = run(*words, code=3)

    assert "paused: the budget of [5 $] is spent" in result.stderr
    assert "--env-arg stop_file=stop --output 'my runs/out'" in result.stderr
    assert len(played("my runs/out")) == 2
    (tmp_path / "stop").unlink()
    run(*words)
    assert len(played("my runs/out")) == 3
