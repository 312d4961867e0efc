"""`play`: a person types what to do."""

import pytest

from lifelong_gym.cli import app
from lifelong_gym.runs import Run


@pytest.fixture
def play(env_id):
    """Plays with lines that are piped in; returns what was said."""
    from typer.testing import CliRunner

    def play(*lines, words=()):
        arguments = ["play", "--env", env_id, *words]
        result = CliRunner().invoke(app, arguments, input="".join(f"{line}\n" for line in lines))
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result

    return play


def test_the_task_the_rules_and_the_actions_are_shown_and_the_verdict_is_told(play):
    shown = play("1 say 0", words=["--limit", "1"]).stdout

    assert "Task t0, 3 turns" in shown
    assert "Say the right words" in shown
    assert "1  say(text)  Says something." in shown
    assert "=> Yes.\n== solved: the right words were said" in shown
    assert "100.0%" in shown


@pytest.mark.parametrize("line", ["1 say 0", "say say 0", "sa say 0"])
def test_an_action_is_chosen_by_number_name_or_the_beginning_of_it(play, line):
    assert "== solved" in play(line, words=["--limit", "1"]).stdout


def test_a_payload_may_have_several_lines(play):
    play("1", "say", "0", ".", "1 say 0", words=["--limit", "1", "--output", "out"])
    first, second = Run.load("out").trajectories[0].turns

    assert r'"{\"text\": \"say\\n0\"}"' in first.action
    assert second.observation == "Yes."


def test_whole_actions_are_typed_in_the_text_form(play):
    words = ["--limit", "1", "--env-arg", "action_format=text", "--output", "out"]
    shown = play("say", "more", ".", "say 0", ".", words=words).stdout
    actions = [turn.action for turn in Run.load("out").trajectories[0].turns]

    assert actions == ["say\nmore", "say 0"]
    assert "Type the whole action" in shown


def test_commands_help_without_costing_a_turn(play):
    lines = [":help", ":task", ":rules", ":actions", ":history", ":nope", "", "9 x", "1 hm"]
    shown = play(*lines, ":history", "1 say 0", words=["--limit", "1"]).stdout

    assert "there is no :nope; there are :help" in shown
    assert "there is no action '9'" in shown
    assert "nothing was done yet" in shown
    assert "> say hm\n=> No." in shown
    assert "== solved" in shown


@pytest.mark.parametrize("end", [[":quit"], []])
def test_a_person_stops_and_goes_on_later(play, end):
    words = ["--output", "out"]
    stopped = play("1 say 0", "1 hm", *end, words=words)
    assert "the same command goes on" in stopped.stderr
    assert [t.task_id for t in Run.load("out").trajectories] == ["t0"]

    went_on = play("1 say 1", "1 say 2", words=words).stdout
    assert "Task t1" in went_on
    assert "Task t0" not in went_on
    assert len(Run.load("out").trajectories) == 3


def test_tasks_are_chosen_as_for_a_run(play):
    assert "Task t2" in play("1 say 2", words=["--task-id", "t2"]).stdout
