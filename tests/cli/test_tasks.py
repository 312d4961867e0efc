"""`envs` and `tasks`: what there is, and whether it is sound."""

import json

import pytest

TASK = {
    "format": 1,
    "domain": "database",
    "id": "[red]pets/1",
    "instruction": "Which pets are older than [bold]3[/bold]?\nGive their names.",
    "skills": ["select"],
    "tables": [
        {
            "name": "pets",
            "columns": [{"name": "name", "type": "TEXT"}, {"name": "age", "type": "INT"}],
            "rows": [["Nero", 5], ["Mimi", None], *([f"pet {n}", 1] for n in range(30))],
        }
    ],
    "sql": "SELECT name FROM pets WHERE age > 3",
    "answer": [["Nero"]],
}


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.jsonl").write_text(json.dumps(TASK) + "\n")
    return "mine.jsonl"


def test_envs_lists_ids_turns_and_arguments_with_their_defaults(call):
    shown = call("envs").stdout

    for text in ("lifelong_gym/Database-v0", "database='auto'", "max_turns=None", "text"):
        assert text in shown


def test_list_shows_a_line_a_task_and_how_many(call):
    lines = call("tasks", "list", "builtin?limit=3").stdout.splitlines()

    assert sum("library/" in line for line in lines) == 3
    assert lines[-1] == "3 tasks"


def test_list_shows_texts_as_they_are(call, mine):
    shown = call("tasks", "list", mine).stdout

    assert "[red]pets/1" in shown
    assert "Which pets are older than [bold]3[/bold]? Give their names." in shown
    assert shown.endswith("1 task\n")


def test_list_takes_the_tasks_of_another_environment(call, env_id):
    assert "t3" in call("tasks", "list", "4", "--env", env_id).stdout


def test_show_shows_the_instruction_the_tables_the_solution_and_the_answer(call, mine):
    shown = call("tasks", "show", mine, "[red]pets/1").stdout

    for text in ("[bold]3[/bold]?\nGive", "Nero", "NULL", "and 12 rows more", TASK["sql"], "INT"):
        assert text in shown
    assert 'Answer\n["Nero"]' in shown


def test_show_says_so_where_the_final_state_is_judged(call):
    shown = call("tasks", "show", "builtin", "library/new-book").stdout

    assert "none: the final state is judged" in shown


def test_show_of_an_unknown_id_suggests_one_that_exists(refused):
    message = refused("tasks", "show", "builtin?limit=20", "library/newbook")

    assert "Did you mean library/new-book?" in message
    assert "tasks list 'builtin?limit=20'" in message


def test_a_bad_reference_or_file_is_refused(refused, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"format": 1, "domain": "database"}\n')

    assert "bad.jsonl" in refused("tasks", "list", "bad.jsonl")
    assert "bad.jsonl" in refused("tasks", "validate", "bad.jsonl")
    assert "sources are" in refused("tasks", "show", "nowhere", "x")


def test_an_environment_without_tasks_is_refused(refused):
    assert "no argument 'tasks'" in refused("tasks", "list", "builtin", "--env", "CartPole-v1")


def test_validate_exits_with_0_where_all_is_sound(call, env_id):
    result = call("tasks", "validate", "5", "--env", env_id)

    assert result.stdout == "5 tasks, all sound\n"
    assert result.stderr == ""


def test_validate_lists_what_it_found_and_exits_with_1(call, env_id):
    result = call("tasks", "validate", "unsound", "--env", env_id, code=1)

    assert "doing nothing succeeds" in result.stdout
    assert result.stdout.endswith("1 task, 1 not sound\n")


def test_validate_passes_arguments_to_the_environment(call, env_id):
    words = ["tasks", "validate", "2", "--env", env_id, "--env-arg"]

    assert "the backend failed" in call(*words, "fail_resets=[0]", code=1).stdout
    assert "no argument 'depth'" in call(*words, "depth=3", code=2).stderr
