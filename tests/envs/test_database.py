"""Database-v0, on a real server."""

import pickle

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifelong_gym.backends.database import open_database
from lifelong_gym.backends.database.contract import Column, Result, Table
from lifelong_gym.envs.database import DatabaseEnv, rows_text
from lifelong_gym.errors import UsageError
from lifelong_gym.tasks import DatabaseTask, TaskSet

STAFF = Table(
    name="staff",
    columns=(Column(name="id", type="INT"), Column(name="name", type="TEXT")),
    rows=((1, "Ann"), (2, "Bo"), (3, None)),
)
QUESTION = DatabaseTask(
    id="question",
    instruction="Who is there?",
    tables=(STAFF,),
    sql="SELECT id, name FROM staff",
    answer=((1, "Ann"), (2, "Bo"), (3, None)),
)
ORDERED = QUESTION.model_copy(
    update={
        "id": "ordered",
        "sql": "SELECT id, id > 1 AS late FROM staff ORDER BY late DESC",
        "answer": ((2, 1), (3, 1), (1, 0)),
    }
)
CHANGE = DatabaseTask(
    id="change",
    instruction="Rename Bo to Bob.",
    tables=(STAFF,),
    sql="UPDATE staff SET name = 'Bob' WHERE id = 2",
)
RIGHT = "UPDATE staff SET name = 'Bob' WHERE name = 'Bo'"


def operation(sql):
    return f"Action: Operation\n```sql\n{sql}\n```"


def answer(text):
    return f"Action: Answer\nFinal Answer: {text}"


@pytest.fixture
def start(database):
    """Starts an episode of one task and returns the environment."""
    envs = []

    def begin(task, **options):
        envs.append(DatabaseEnv([task], open_database(database), **options))
        envs[-1].reset()
        return envs[-1]

    yield begin
    for env in envs:
        env.close()


class TestOpening:
    def test_the_task_names_its_tables_and_the_rules_its_forms(self, start):
        observation, info = start(QUESTION).reset()

        assert "Action: Operation\n```sql" in info["opening"]["rules"]
        assert "You have 3 turns" in info["opening"]["rules"]
        assert info["opening"]["task"] == (
            "Who is there?\nThe name of this table is staff, and the headers of this table "
            "are id, name."
        )
        assert observation.endswith(info["opening"]["task"])

    def test_tools_are_named_in_their_own_form(self, start):
        env = start(QUESTION, action_format="tools")
        names = [tool["function"]["name"] for tool in env.tools]

        assert names == ["execute_sql", "submit"]
        assert "execute_sql" in env.reset()[1]["opening"]["rules"]


class TestOperations:
    @pytest.mark.parametrize(
        ("sql", "observation"),
        [
            ("SELECT * FROM staff", "[(1, 'Ann'), (2, 'Bo'), (3, None)]"),
            ("SELECT id FROM staff WHERE id > 9", "[]"),
            ("INSERT INTO staff VALUES (4, 'Cy')", "[]"),
            ("SELECT 1;", "[(1,)]"),
            ("SELECT ';' -- one; statement", "[(';',)]"),
            ("SELECT 1 -- a comment\n, 2", "[(1, 2)]"),
            ("SELECT '100%' LIKE '%0\\%'", "[(1,)]"),
            ("SELECT '%s', '{}'", "[('%s', '{}')]"),
            ("SELECT 1.50, CAST('2020-02-29' AS DATE)", None),
        ],
    )
    def test_rows_come_as_a_list_of_tuples(self, start, sql, observation):
        seen, reward, terminated, truncated, info = start(QUESTION).step(operation(sql))

        assert seen == (observation or "[(Decimal('1.50'), datetime.date(2020, 2, 29))]")
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert info == {"turn": 1, "status": "running"}

    def test_a_refused_statement_costs_a_turn_and_says_why(self, start):
        observation, *_, info = start(QUESTION).step(operation("SELECT nope FROM staff"))

        assert "Unknown column 'nope'" in observation
        assert info["status"] == "running"

    def test_no_name_of_this_run_is_seen(self, start):
        env = start(QUESTION)

        assert env.step(operation("SELECT DATABASE()"))[0] == "[('task_database',)]"
        assert "task_database.nope" in env.step(operation("SELECT * FROM nope"))[0]

    @pytest.mark.parametrize(
        "reply",
        [
            operation("SELECT 1; SELECT 2"),
            operation("-- nothing"),
            "INSERT INTO staff VALUES (4, 'Cy')",
            "Action: Operation\nSELECT 1",
        ],
    )
    def test_what_is_no_single_statement_forfeits(self, start, reply):
        *_, terminated, _, info = start(QUESTION).step(reply)

        assert terminated
        assert info["status"] == "invalid_action"

    def test_a_big_result_is_cut_at_a_row_and_marked(self, start):
        env = start(QUESTION, max_observation_bytes=200)
        sql = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900) "
        observation = env.step(operation(f"{sql} SELECT i FROM n"))[0]

        assert len(observation.encode()) <= 200
        assert observation.startswith("[(1,), (2,), ")
        assert observation.endswith(" rows]")
        assert "... cut after" in observation

    def test_a_big_value_is_cut_too(self, start):
        env = start(QUESTION, max_observation_bytes=200)
        observation = env.step(operation("SELECT REPEAT('x', 10000)"))[0]

        assert len(observation.encode()) <= 200
        assert "bytes cut" in observation


class TestQuestions:
    @pytest.mark.parametrize(
        "text",
        [
            "[(1, 'Ann'), (2, 'Bo'), (3, None)]",
            "[(3, NULL), (1, 'Ann'), ('2', 'Bo')]",
            "[(1, 'Ann'),\n (2, 'Bo'),\n (3, None)]\nThat is all (I think).",
        ],
    )
    def test_right_rows_succeed(self, start, text):
        _, reward, terminated, _, info = start(QUESTION).step(answer(text))

        assert (reward, terminated) == (1.0, True)
        assert info["success"] is True

    @pytest.mark.parametrize(
        "text", ["[]", "nothing", "[(1, 'Ann'), (2, 'Bo'), (3, 'None')]", "[(1, 'Ann')]", ""]
    )
    def test_wrong_rows_fail_and_are_explained(self, start, text):
        _, reward, *_, info = start(QUESTION).step(answer(text))

        assert reward == 0.0
        assert info["success"] is False
        assert info["grading"]["reason"]

    @pytest.mark.parametrize(
        ("text", "success"),
        [
            ("[(2, 1), (3, 1), (1, 0)]", True),
            ("[(3, 1), (2, 1), (1, 0)]", True),
            ("[(1, 0), (2, 1), (3, 1)]", False),
            ("[(2, 1), (1, 0), (3, 1)]", False),
        ],
    )
    def test_rows_that_tie_under_order_by_may_change_places(self, start, text, success):
        assert start(ORDERED).step(answer(text))[-1]["success"] is success

    def test_a_question_without_an_answer_fails_at_the_limit(self, start):
        *_, truncated, info = start(QUESTION, max_turns=1).step(operation(QUESTION.sql))

        assert truncated
        assert info["grading"]["reason"] == "no answer was submitted"

    def test_the_answer_is_free_of_the_tables(self, start):
        env = start(QUESTION)
        env.step(operation("DROP TABLE staff"))

        assert env.step(answer(str(list(QUESTION.answer))))[-1]["success"] is True


class TestChanges:
    def test_the_right_state_succeeds_whatever_the_answer_says(self, start):
        env = start(CHANGE)
        env.step(operation(RIGHT))
        _, reward, *_, info = env.step(answer("done"))

        assert reward == 1.0
        assert info["grading"]["reason"] == "the database is right"

    @pytest.mark.parametrize(
        ("sql", "reason"),
        [
            ("SELECT 1", "in 'staff', rows missing: 1"),
            ("UPDATE staff SET name = 'Bob'", "in 'staff'"),
            ("DROP TABLE staff", "the table 'staff' is gone"),
            (f"{RIGHT} OR name IS NULL", "in 'staff'"),
            ("DELETE FROM staff WHERE id = 2", "in 'staff'"),
        ],
    )
    def test_a_wrong_state_fails_and_is_explained(self, start, sql, reason):
        env = start(CHANGE)
        env.step(operation(sql))
        info = env.step(answer("done"))[-1]

        assert info["success"] is False
        assert reason in info["grading"]["reason"]

    @pytest.mark.parametrize(
        "extra",
        [
            "CREATE TABLE notes (a INT)",
            "ALTER TABLE staff ADD COLUMN age INT",
            "ALTER TABLE staff MODIFY name VARCHAR(50)",
            "CREATE VIEW v AS SELECT 1",
        ],
    )
    def test_what_else_was_changed_is_seen(self, start, extra):
        env = start(CHANGE)
        env.step(operation(RIGHT))
        env.step(operation(extra))

        assert env.step(answer("done"))[-1]["success"] is False

    def test_a_change_that_was_not_committed_does_not_count(self, start):
        env = start(CHANGE, max_turns=4)
        env.step(operation("START TRANSACTION"))
        env.step(operation(RIGHT))

        assert env.step(answer("done"))[-1]["success"] is False

    def test_a_temporary_table_deceives_nobody(self, start):
        env = start(CHANGE, max_turns=4)
        env.step(operation("CREATE TEMPORARY TABLE staff SELECT 1 AS id, 'Ann' AS name"))
        env.step(operation("UPDATE staff SET name = 'Bob'"))

        # seekdb has no temporary tables, so there the UPDATE hits the real one.
        missing = 2 if env.backend["name"] == "seekdb" else 1
        assert (
            f"in 'staff', rows missing: {missing};"
            in env.step(answer("done"))[-1]["grading"]["reason"]
        )

    def test_at_the_limit_the_state_matches_but_was_not_submitted(self, start):
        *_, truncated, info = start(CHANGE, max_turns=1).step(operation(RIGHT))

        assert truncated
        assert info["success"] is False
        assert info["grading"]["state"] is True
        assert "no answer was submitted" in info["grading"]["reason"]

    def test_without_require_commit_the_state_alone_counts(self, start):
        env = start(CHANGE, max_turns=1, require_commit=False)

        assert env.step(operation(RIGHT))[-1]["success"] is True

    def test_partial_credit_is_the_way_made(self, start):
        both = CHANGE.model_copy(update={"sql": "UPDATE staff SET name = 'X' WHERE id < 3"})
        env = start(both, reward_shaper="partial")
        env.step(operation("UPDATE staff SET name = 'X' WHERE id = 1"))

        assert env.step(answer("half"))[1] == 0.5

    def test_a_reference_that_is_refused_is_a_lost_episode(self, start):
        broken = CHANGE.model_copy(update={"sql": "UPDATE nope SET a = 1"})
        info = start(broken).step(answer("done"))[-1]

        assert info["success"] is False
        assert "the reference SQL was refused" in info["grading"]["reason"]


class TestPaperScoring:
    def test_order_counts_even_without_order_by(self, start):
        env = start(
            QUESTION.model_copy(update={"answer": ((1, "Ann"), (2, "Bo"))}), scoring="paper"
        )

        assert env.step(answer("[(2, 'Bo'), (1, 'Ann')]"))[-1]["success"] is False

    def test_an_extra_table_goes_unseen(self, start):
        env = start(CHANGE, scoring="paper")
        env.step(operation(RIGHT))
        env.step(operation("CREATE TABLE notes (a INT)"))

        assert env.step(answer("done"))[-1]["success"] is True

    def test_a_table_that_is_gone_fails(self, start):
        env = start(CHANGE, scoring="paper")
        env.step(operation("DROP TABLE staff"))

        assert env.step(answer("done"))[-1]["grading"]["reason"] == "the table is gone"

    def test_an_unknown_scoring_is_refused(self, database):
        with pytest.raises(UsageError, match="scoring must be one of"):
            DatabaseEnv([QUESTION], open_database(database), scoring="loose")


class TestTools:
    def test_calls_work_like_texts(self, make):
        env = make(tasks="builtin", action_format="tools")
        env.reset(options={"task_index": 0})
        reference = env.unwrapped.reference_actions(env.unwrapped.task)
        observation, *_ = env.step(next(reference))
        _, reward, terminated, *_ = env.step(reference.send(observation))

        assert (reward, terminated) == (1.0, True)


class TestGymnasium:
    @pytest.mark.parametrize("action_format", ["text", "tools"])
    def test_passes_gymnasiums_checks_without_a_warning(self, make, action_format):
        check_env(make(tasks="builtin", action_format=action_format).unwrapped)

    def test_its_spec_rebuilds_it(self, make):
        env = make(tasks="builtin?limit=3", max_turns=5)
        again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
        observation, info = env.reset(seed=3)

        assert again.reset(seed=3) == (observation, info)
        assert again.unwrapped.max_turns == 5
        again.close()

    def test_it_pickles_before_its_first_reset(self, make):
        env = make(tasks="builtin?limit=3")
        again = pickle.loads(pickle.dumps(env))

        assert again.reset(seed=1)[0] == env.reset(seed=1)[0]
        again.close()

    def test_pickling_it_later_says_why_not(self, make):
        env = make(tasks="builtin?limit=1")
        env.reset()
        with pytest.raises(TypeError, match="before the first reset"):
            pickle.dumps(env)

    def test_it_takes_a_task_set_made_in_python(self, make):
        env = make(tasks=TaskSet([QUESTION], domain="database"))

        assert env.reset()[1]["task_id"] == "question"

    def test_it_can_be_used_again_after_closing(self, make):
        env = make(tasks="builtin?limit=1").unwrapped
        first = env.reset()
        env.close()
        env.close()

        assert env.reset() == first

    def test_render_shows_the_episode(self, make):
        env = make(tasks="builtin?limit=1", render_mode="ansi")
        env.reset()
        env.step(operation("SELECT 42"))

        assert env.render().endswith("== Environment\n[(42,)]")

    def test_the_backend_is_named(self, make):
        backend = make(tasks="builtin").unwrapped.backend

        assert set(backend) == {"name", "version"}
        assert all(backend.values())

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"database": "oracle"}, "database"),
            ({"tasks": "nope"}, "nope"),
            ({"statement_timeout_s": 0}, "statement_timeout_s"),
        ],
    )
    def test_a_bad_argument_is_refused_by_name(self, make, options, message):
        with pytest.raises(UsageError, match=message):
            make(**options)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20))
def test_any_unicode_goes_through_a_whole_episode(start, text):
    task = QUESTION.model_copy(
        update={
            "tables": (STAFF.model_copy(update={"rows": ((1, text),)}),),
            "answer": ((1, text),),
        }
    )
    env = start(task)
    observation, *_ = env.step(operation("SELECT * FROM staff"))

    assert env.step(answer(observation))[-1]["success"] is True


def test_a_result_without_rows_is_an_empty_list():
    assert rows_text(Result(), 100) == "[]"
