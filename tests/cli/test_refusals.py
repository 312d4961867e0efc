"""What is wrong with a command is one message on stderr and exit code 2; bugs are bugs."""

import pytest

from lifelong_gym import baselines


def run(env_id, *words, agent="oracle"):
    return ["run", "--env", env_id, "--agent", agent, "--output", "out", *words]


@pytest.mark.parametrize(
    ("env", "reason"),
    [
        ("Nothing-v0", "Nothing"),
        ("Database-v9", "version `v9`"),
        ("no_such_module:tests/Scripted-v0", "no_such_module"),
        ("not an id", "Malformed"),
    ],
)
def test_an_unknown_environment(refused, env, reason):
    message = refused(*run(env))

    assert reason in message
    assert "lifelong-gym envs" in message


def test_an_environment_without_tasks(refused):
    assert "task_set" in refused(*run("CartPole-v1"))


def test_an_unknown_argument_is_named_with_those_that_exist(refused, env_id):
    message = refused(*run(env_id, "--env-arg", "max_turn=5"))

    assert "has no argument 'max_turn'" in message
    assert "tasks, note, pause_s, stop_file, password, fail_resets, max_turns" in message


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        ("note", "takes KEY=VALUE, got 'note'"),
        ("=5", "takes KEY=VALUE"),
        ("note=5", "note must be a valid string, got 5"),
        ("max_turns=many", "max_turns must be a valid integer, got 'many'"),
        ("max_turns=0", "max_turns must be a whole number of at least 1, got 0"),
        ("action_format=xml", "action_format must be 'text' or 'tools', got 'xml'"),
        ("tasks=3", "the tasks are not an argument like the others"),
    ],
)
def test_a_bad_argument(refused, env_id, pair, reason):
    assert reason in refused(*run(env_id, "--env-arg", pair))


def test_an_argument_given_twice(refused, env_id):
    message = refused(*run(env_id, "--env-arg", "note=a", "--env-arg", "note=b"))

    assert "note is given twice" in message


def test_a_bad_task_reference(refused, env_id):
    assert "tasks must be a number, got 'x'" in refused(*run(env_id, "--tasks", "x"))
    assert "sources are" in refused(*run("Database-v0", "--tasks", "nowhere"))
    assert "none.jsonl cannot be read" in refused(*run("Database-v0", "--tasks", "none.jsonl"))


@pytest.mark.parametrize("agent", ["nobody", "scripted", "scripted:", "oracle:5"])
def test_an_unknown_agent(refused, env_id, agent):
    message = refused(*run(env_id, agent=agent))

    assert "--agent must be oracle, idle, llm, scripted:FILE or module:Class" in message
    assert f"got {agent!r}" in message


def test_the_llm_agent_says_what_it_needs(refused, env_id):
    message = refused(*run(env_id, agent="llm"))
    if hasattr(baselines, "LanguageModelAgent"):
        assert "add --model main=PROVIDER:MODEL" in message
    else:
        assert "--agent llm is not there yet" in message


def test_a_model_key_is_in_no_message(call, env_id):
    reference = "main=openai:m?api_key=hunter2"
    results = [call(*run(env_id, "--model", reference, "--model", "x"), code=2)]
    results.append(call(*run(env_id, agent="llm"), "--model", f"{reference}&zzz=1", code=2))

    assert all("hunter2" not in result.output for result in results)


def test_a_script_that_is_missing_or_has_no_actions_for_a_task(refused, env_id, tmp_path):
    (tmp_path / "one.json").write_text('{"t0": ["say 0"]}')

    assert "none.json cannot be read" in refused(*run(env_id, agent="scripted:none.json"))
    assert "no actions for the task 't1'" in refused(*run(env_id, agent="scripted:one.json"))


def test_an_unknown_task_id(refused, env_id):
    assert "names 't9'" in refused(*run(env_id, "--task-id", "t9"))


@pytest.mark.parametrize(
    "words",
    [["--limit", "0"], ["--attempts", "0"], ["--seed", "-1"], ["--order", "random"], ["--x"]],
    ids=" ".join,
)
def test_an_option_out_of_its_range(call, env_id, words):
    result = call(*run(env_id, *words), code=2)

    assert words[0] in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("output", ["file", "file/out"])
def test_an_output_that_cannot_be_written(refused, env_id, tmp_path, output):
    (tmp_path / "file").touch()

    message = refused(*run(env_id), "--output", output)
    assert f"the output folder {output} cannot be written" in message


def test_nothing_is_created_where_a_command_is_refused(refused, env_id, tmp_path):
    refused(*run(env_id, agent="nobody"))

    assert list(tmp_path.iterdir()) == []


def test_a_bug_keeps_its_traceback_but_gymnasium_does_not_print_the_arguments(finish, env_id):
    secret = ["--env-arg", "password=broken", "--env-arg", "note=mysql://root:hunter2@host"]
    _, err = finish(*run(env_id, *secret), code=1)

    assert "Traceback" in err
    assert "TypeError: a bug in an entry point" in err
    assert "hunter2" not in err


def test_no_message_prints_a_password(call, env_id, tmp_path):
    (tmp_path / "stop").touch()
    secret = ["--env-arg", "note=mysql://root:hunter2@host", "--env-arg", "password=hunter2"]
    paused = call(*run(env_id, *secret, "--env-arg", "stop_file=stop"), code=3)
    refusals = [
        call(*run(env_id, *secret, "--seed", "1"), code=2),
        call(*run(env_id, "--env-arg", "mysql://root:hunter2@host"), code=2),
        call(*run("Database-v0", "--env-arg", "database=mysq://root:hunter2@host"), code=2),
        call("report", "out"),
        call("report", "out", "--format", "json"),
    ]

    assert "password=***" in paused.stderr
    assert "with the password in the place of ***" in paused.stderr
    assert all("hunter2" not in result.output for result in [paused, *refusals])
