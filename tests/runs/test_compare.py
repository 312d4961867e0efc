"""compare: two runs paired by task, and the statistics of pairs."""

import itertools
import json
import math

import pytest

from lifelong_gym.baselines import IdleAgent, OracleAgent, ScriptedAgent
from lifelong_gym.core import Agent
from lifelong_gym.errors import UsageError
from lifelong_gym.runs import compare, compare_sections, compare_text, run_stream
from lifelong_gym.runs.compare import newcombe_interval, sign_flip_p
from lifelong_gym.testing import ScriptedEnv, ScriptedTask
from lifelong_gym.wrappers import TaskStream

TEXTS = [f"say {n}" for n in range(8)]


class Solving(Agent):
    """Solves the attempts that it is told to."""

    def __init__(self, env, solved):
        super().__init__(env, solved=solved)
        self._solved = solved

    def act(self, messages):
        stream = self.env
        entry = stream.entry(stream.position)
        right = stream.unwrapped.task.right_action
        return right if (entry.task_id, entry.attempt) in self._solved else "give up"


def solving(*solved, texts=TEXTS, attempts=1, **options):
    chosen = [item if isinstance(item, tuple) else (f"task-{item}", 0) for item in solved]
    stream = TaskStream(ScriptedEnv(texts, **options), attempts=attempts)
    return run_stream(Solving(stream, chosen), retries=0)


def test_pairs_are_counted_by_who_solved_them():
    found = compare(solving(0, 1, 2), solving(1, 2, 3, 4, 5))

    assert (found.pairs, found.both, found.a_only, found.b_only, found.neither) == (8, 2, 1, 3, 2)
    assert (found.rate_a, found.rate_b, found.difference) == (3 / 8, 5 / 8, 0.25)
    assert found.solved_by_a_only == ("task-0",)
    assert found.solved_by_b_only == ("task-3", "task-4", "task-5")
    assert found.p_value == 2 * (1 + 4) / 2**4
    assert found.interval_method == "newcombe"
    low, high = found.difference_interval
    assert -1 < low < 0.25 < high < 1


def test_a_run_compared_with_itself_shows_no_difference():
    run = solving(0, 1)
    found = compare(run, run)

    assert (found.difference, found.p_value, found.settings) == (0.0, 1.0, {})
    assert found.difference_interval[0] == -found.difference_interval[1]


def test_tasks_that_one_run_lacks_and_unscored_ones_are_left_out_and_counted():
    longer = solving(0, texts=[*TEXTS, "more"], fail_resets=[2])
    found = compare(solving(0), longer)

    assert (found.pairs, found.unscored, found.only_in_a, found.only_in_b) == (7, 1, 0, 1)


def test_pairs_are_found_by_task_whatever_the_order():
    stream = TaskStream(ScriptedEnv(TEXTS), order="shuffle", seed=3)
    found = compare(solving(0), run_stream(OracleAgent(stream)))

    assert (found.both, found.b_only) == (1, 7)


def test_the_settings_that_differ_are_named():
    idle = run_stream(IdleAgent(TaskStream(ScriptedEnv(TEXTS))))
    scripted = run_stream(ScriptedAgent(TaskStream(ScriptedEnv(TEXTS, max_turns=2)), ["say 3"]))
    settings = compare(idle, scripted).settings

    assert settings["env.max_turns"] == (3, 2)
    assert settings["ScriptedAgent.actions"] == ("(absent)", ["say 3"])
    assert "tasks.sha256" not in settings


def test_runs_without_a_common_task_are_refused():
    other = [ScriptedTask(id="other", instruction="say it")]

    with pytest.raises(UsageError, match=r"no task in common \(the first are 'task-0' and 'other'"):
        compare(solving(), solving(texts=other))


def test_runs_without_a_task_scored_in_both_are_refused():
    with pytest.raises(UsageError, match="share 8 episodes, of which none is scored in both"):
        compare(solving(fail_resets=range(4)), solving(fail_resets=range(4, 8)))


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(UsageError, match="holds no run"):
        compare(tmp_path, solving())


def test_several_attempts_are_paired_by_attempt_and_tasks_resampled_whole():
    first = solving(("task-0", 0), ("task-1", 1), texts=TEXTS[:3], attempts=2)
    second = solving(("task-0", 0), ("task-0", 1), ("task-2", 0), texts=TEXTS[:3], attempts=2)
    found = compare(first, second)

    assert (found.pairs, found.both, found.a_only, found.b_only) == (6, 1, 1, 2)
    assert found.interval_method == "bootstrap"
    assert found.p_value == 1.0
    assert found.difference_interval[0] <= found.difference <= found.difference_interval[1]
    assert compare(first, second) == found


def test_attempts_at_tasks_that_all_came_out_alike_count_as_one_pair_each():
    run = solving(texts=TEXTS[:3], attempts=4)
    single = solving(texts=TEXTS[:3])

    assert compare(run, run).interval_method == "newcombe"
    assert compare(run, run).difference_interval == pytest.approx(
        compare(single, single).difference_interval
    )


# Statistics ----------------------------------------------------------------------------


def mcnemar(a_only, b_only):
    """As textbooks have it."""
    discordant, fewer = a_only + b_only, min(a_only, b_only)
    tail = sum(math.comb(discordant, k) for k in range(fewer + 1)) / 2**discordant
    return min(1.0, 2 * tail)


@pytest.mark.parametrize(("a_only", "b_only"), list(itertools.product((0, 1, 4, 9), (0, 1, 5, 20))))
def test_for_single_attempts_the_test_is_mcnemars(a_only, b_only):
    found = sign_flip_p([-1] * a_only + [1] * b_only + [0] * 7)

    assert found == pytest.approx(mcnemar(a_only, b_only), abs=1e-12)


def test_the_sign_flip_test_counts_every_flip():
    differences = [3, -1, 2]
    sums = [
        sum(d * s for d, s in zip(differences, signs, strict=True))
        for signs in itertools.product((1, -1), repeat=3)
    ]

    assert sign_flip_p(differences) == sum(abs(total) >= 4 for total in sums) / 8


def test_the_interval_mirrors_if_the_runs_change_places():
    low, high = newcombe_interval(both=30, a_only=4, b_only=11, neither=5)

    assert newcombe_interval(both=30, a_only=11, b_only=4, neither=5) == pytest.approx(
        (-high, -low)
    )


@pytest.mark.parametrize("cells", [(5, 0, 0, 0), (0, 0, 0, 5), (0, 5, 0, 0), (0, 0, 5, 0)])
def test_the_interval_is_within_its_range_at_the_edges(cells):
    low, high = newcombe_interval(*cells)

    assert -1 <= low <= high <= 1


# Texts ---------------------------------------------------------------------------------


def test_json_has_every_figure():
    found = compare(solving(0), solving(1))

    assert json.loads(compare_text(found)) == json.loads(found.model_dump_json())


def test_markdown_and_the_tables_name_the_difference_and_the_tasks():
    found = compare(solving(0), solving(1, 2))
    text = compare_text(found, "markdown")

    assert "| B - A | +12.5 (95 %:" in text
    assert "| A solved | 0 | 1 |" in text
    assert "| B | task-1, task-2 |" in text
    assert [section.title for section in compare_sections(found)][:2] == ["Summary", "Pairs"]


def test_another_format_is_refused():
    with pytest.raises(UsageError, match="format must be one of json, markdown, got 'xml'"):
        compare_text(compare(solving(), solving()), "xml")
