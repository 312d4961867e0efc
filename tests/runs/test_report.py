"""report: the same figures for programs, pages and the terminal."""

import json

import pytest
from rich.console import Console

from lifelong_gym.errors import UsageError
from lifelong_gym.runs import Run, export_trajectories, report, report_table, run_stream
from lifelong_gym.trajectory import Trajectory


@pytest.fixture
def folder(make_stack, tmp_path):
    run_stream(make_stack(20, fail_resets=[3, 4, 5]), tmp_path / "my run")
    return tmp_path / "my run"


def test_json_has_the_documented_fields(folder):
    data = json.loads(report(folder))

    assert {
        "tasks",
        "scored",
        "unscored",
        "success_rate",
        "success_interval",
        "by_skill",
        "by_status",
        "mean_turns",
        "tokens",
        "backend",
    } <= set(data)
    assert (data["tasks"], data["scored"], data["unscored"]) == (20, 19, 1)
    assert set(data["by_skill"]["even"]) == {"tasks", "scored", "success_rate"}
    assert data["tokens"] == {"prompt": 0, "completion": 0}
    assert data["backend"] is None
    assert data["settings"]["TaskStream.limit"] == 20


def test_json_equals_the_metrics(folder):
    metrics = Run.load(folder).metrics()
    data = json.loads(report(folder, "json"))

    assert data["success_rate"] == metrics.success_rate
    assert data["success_interval"] == list(metrics.success_interval)


def test_markdown_has_a_table_for_each_part(folder):
    text = report(folder, "markdown")

    assert text.startswith("# Run my run\n")
    for title in ("Summary", "By skill", "By status", "Over time", "Settings"):
        assert f"\n## {title}\n" in text
    assert "| environment_error | 1 |" in text


def test_html_is_one_page_that_needs_nothing_else(folder):
    page = report(folder, "html")

    assert page.startswith("<!doctype html>")
    assert "<polyline" in page
    assert "http" not in page


def test_html_escapes_what_settings_hold(make_stack, tmp_path):
    run_stream(make_stack(1, note="<script>"), tmp_path)

    assert "<script>" not in report(tmp_path, "html")
    assert "&lt;script&gt;" in report(tmp_path, "html")


def test_markdown_keeps_its_columns_whatever_settings_hold(make_stack, tmp_path):
    run_stream(make_stack(1, note="a|b\nc"), tmp_path)

    assert "| Remember.note | a\\|b c |" in report(tmp_path, "markdown")


def test_table_prints_the_summary(folder):
    console = Console(width=80)
    with console.capture() as captured:
        console.print(report_table(Run.load(folder)))

    assert "success rate" in captured.get()


def test_run_without_a_scored_task_has_a_report(make_stack, tmp_path):
    run_stream(make_stack(1, fail_resets=range(9)), tmp_path)

    assert json.loads(report(tmp_path))["success_rate"] is None
    assert "| success rate | - |" in report(tmp_path, "markdown")
    assert "<polyline" not in report(tmp_path, "html")


def test_unknown_format_is_refused(folder):
    with pytest.raises(UsageError, match="format must be one of json, markdown, html, got 'pdf'"):
        report(folder, "pdf")


def test_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(UsageError, match="holds no run"):
        report(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_trajectories_export_as_json_lines(folder, tmp_path):
    count = export_trajectories(folder, tmp_path / "all.jsonl")
    lines = (tmp_path / "all.jsonl").read_text().splitlines()

    assert count == len(lines) == 20
    assert tuple(map(Trajectory.model_validate_json, lines)) == Run.load(folder).trajectories
    assert list(tmp_path.glob("*.partial")) == []
