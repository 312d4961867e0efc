"""`report`, `compare` and `export`: pure output for programs, tables for people."""

import json

import pytest


@pytest.fixture
def runs(call, env_id):
    """`a` has 3 solved tasks, `b` has 2 lost ones."""
    call("run", "--env", env_id, "--agent", "oracle", "--output", "a")
    call("run", "--env", env_id, "--agent", "idle", "--limit", "2", "--output", "b")


@pytest.mark.usefixtures("runs")
def test_json_on_stdout_is_json_and_nothing_else(finish):
    out, err = finish("report", "a", "--format", "json", FORCE_COLOR="1", COLUMNS="20")
    told = json.loads(out)

    assert err == ""
    assert told["tasks"] == told["scored"] == 3
    assert told["success_rate"] == 1.0
    assert told["by_skill"]["talking"] == {"tasks": 3, "scored": 3, "success_rate": 1.0}
    assert told["tokens"] == {"prompt": 0, "completion": 0}


@pytest.mark.usefixtures("runs")
def test_the_table_has_the_summary_the_skills_and_the_statuses(call):
    shown = call("report", "a").stdout

    for text in ("100.0%", "By skill", "talking", "By status", "completed"):
        assert text in shown


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("format", "start"),
    [("table", " "), ("json", "{"), ("markdown", "# Run a"), ("html", "<!doctype html>")],
)
def test_each_format_goes_into_a_file(call, tmp_path, format, start):
    result = call("report", "a", "--format", format, "--output", "report")
    text = (tmp_path / "report").read_text()

    assert result.output == ""
    assert text.startswith(start)
    assert text.endswith("\n")
    assert "\x1b" not in text


@pytest.mark.usefixtures("runs")
def test_several_runs_stand_side_by_side(call):
    rows = call("report", "a", "b").stdout.splitlines()
    markdown = call("report", "a", "b", "--format", "markdown").stdout.splitlines()

    assert any("a " in row and "100.0%" in row for row in rows)
    assert any("b " in row and "0.0%" in row for row in rows)
    assert markdown[1] == "|---|---|---|---|---|---|---|"
    assert markdown[3].startswith("| b | 2 | 2 | 0.0% |")


@pytest.mark.usefixtures("runs")
def test_json_of_several_runs_is_refused(refused):
    assert "json takes one folder, got 2" in refused("report", "a", "b", "--format", "json")


def test_a_folder_without_a_run_is_refused(refused):
    assert "holds no run" in refused("report", "nowhere")
    assert "holds no run" in refused("export", "nowhere")
    assert "holds no run" in refused("export", "nowhere", "--output", "x.jsonl")


@pytest.mark.usefixtures("runs")
def test_a_file_that_cannot_be_written_is_refused(refused):
    assert "--output a cannot be written" in refused("report", "a", "--output", "a")
    assert "--output no/x cannot be written" in refused("export", "a", "--output", "no/x")


@pytest.mark.usefixtures("runs")
def test_export_writes_one_json_object_a_line_to_stdout_or_a_file(call, tmp_path):
    lines = call("export", "a").stdout
    call("export", "a", "--format", "jsonl", "--output", "a.jsonl")

    assert [json.loads(line)["task_id"] for line in lines.splitlines()] == ["t0", "t1", "t2"]
    assert (tmp_path / "a.jsonl").read_text() == lines


@pytest.mark.usefixtures("runs")
def test_export_writes_what_the_name_or_the_format_says(call, refused, tmp_path):
    pytest.importorskip("pyarrow")
    call("export", "a", "--output", "a.parquet")
    call("export", "a", "--format", "parquet", "--output", "a.any")

    assert all((tmp_path / name).read_bytes()[:4] == b"PAR1" for name in ("a.parquet", "a.any"))
    assert "add --output" in refused("export", "a", "--format", "parquet")


@pytest.mark.usefixtures("runs")
def test_compare_shows_who_solved_what_and_what_differs(call):
    shown = call("compare", "a", "b").stdout

    for text in ("-100.0 (95 %", "p (exact McNemar)", "0.5", "t0, t1", "TaskStream.limit"):
        assert text in shown


@pytest.mark.usefixtures("runs")
def test_a_comparison_is_json_or_markdown(call, tmp_path):
    told = json.loads(call("compare", "a", "b", "--format", "json").stdout)
    call("compare", "a", "b", "--format", "markdown", "--output", "x.md")

    assert (told["pairs"], told["a_only"], told["only_in_a"], told["p_value"]) == (2, 2, 1, 0.5)
    assert (tmp_path / "x.md").read_text().startswith("# Comparison\n")


@pytest.mark.usefixtures("runs")
def test_runs_that_cannot_be_compared_are_refused(call, refused, env_id):
    call("run", "--env", env_id, "--tasks", "unsound", "--agent", "idle", "--output", "c")

    assert "no task in common" in refused("compare", "a", "c")
    assert "holds no run" in refused("compare", "a", "nowhere")


def test_attempts_make_pass_at_k(call, env_id):
    words = ["--agent", "oracle", "--attempts", "3", "--output", "a"]
    call("run", "--env", env_id, *words)
    told = json.loads(call("report", "a", "--format", "json").stdout)

    assert told["pass_at"] == {"1": 1.0, "2": 1.0, "3": 1.0}
    assert "pass@3" in call("report", "a").stdout
