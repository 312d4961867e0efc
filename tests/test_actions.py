"""Reading actions: the tables of docs/actions.md, and what hostile replies cost."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifelong_gym.actions import (
    Action,
    Form,
    Invalid,
    labelled,
    nothing,
    read_action,
    strip_thinking,
)
from lifelong_gym.backends.database import open_database
from lifelong_gym.envs.database import DatabaseEnv
from lifelong_gym.fences import fence, here_documents_end
from lifelong_gym.tasks import TaskSet

PAGE = Path(__file__).parent.parent / "docs" / "actions.md"
ROW = re.compile(
    r"^\| (?P<what>.+?) \| (`{4,}) (?P<reply>.*?) \2 \| (?P<read>.+) \|$", re.MULTILINE
)


def rows(title):
    section = PAGE.read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]
    return [
        pytest.param(unescape(row["reply"]), row["read"], id=row["what"])
        for row in ROW.finditer(section)
    ]


def unescape(text):
    return text.replace("⏎", "\n").replace("␍", "\r")


def expected(read):
    if read == "refused":
        return None
    name, payload = re.fullmatch(r"(\w+): (`{4,}) (.*) \2", read).group(1, 3)
    return Action(name, unescape(payload))


def database_env(action_format):
    tasks = TaskSet.load("builtin?limit=1", "database")
    return DatabaseEnv(tasks, open_database("local"), action_format=action_format)


@pytest.mark.parametrize(("reply", "read"), rows("Database"))
def test_the_database_reads_what_the_table_says(reply, read):
    action = database_env("text")._read(reply)

    assert (None if isinstance(action, Invalid) else action) == expected(read)


@pytest.mark.parametrize(("reply", "read"), rows("Tool calls"))
def test_tool_calls_are_read_as_the_table_says(reply, read):
    action = database_env("tools")._read(reply)

    assert (None if isinstance(action, Invalid) else action) == expected(read)


def test_the_tables_are_found():
    assert len(rows("Database")) > 50
    assert len(rows("Tool calls")) > 10


def test_a_refusal_says_what_was_expected():
    assert "Expected `Action: Operation`" in database_env("text").why_invalid("hello")
    assert "Expected one of execute_sql, submit" in database_env("tools").why_invalid(
        '[{"function": {"name": "x"}}]'
    )


SHELL = [
    Form("bash", ("Act", "bash"), fence("bash", "sh", "shell", is_complete=here_documents_end)),
    Form("finish", ("Act", "finish"), nothing),
]


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("Act: bash\n```bash\nls\n```", Action("bash", "ls")),
        ("Act: bash\n```sh\nls\n```", Action("bash", "ls")),
        ("Think: done.\nAct: finish", Action("finish")),
        (
            "Act: bash\n```bash\ncat > a.md <<'EOF'\n```\ncode\n```\nEOF\n```",
            Action("bash", "cat > a.md <<'EOF'\n```\ncode\n```\nEOF"),
        ),
        (
            "Act: bash\n```bash\ncat <<-END\n\t```\n\tEND\necho done\n```\nbye",
            Action("bash", "cat <<-END\n\t```\n\tEND\necho done"),
        ),
        (
            "Act: bash\n```bash\ncat <<A <<B\n```\nA\n```\nB\n```",
            Action("bash", "cat <<A <<B\n```\nA\n```\nB"),
        ),
        ("Act: bash\n```bash\nwc <<<text\n```\nAct: finish", Action("bash", "wc <<<text")),
        ("I cannot Act: bash yet", None),
    ],
)
def test_a_fence_in_a_here_document_belongs_to_the_script(reply, action):
    assert read_action(reply, SHELL) == action


@given(st.text())
def test_any_text_is_read_without_an_error(text):
    forms = [
        Form("Operation", ("Action", "Operation"), fence("sql")),
        Form("Answer", ("Action", "Answer"), labelled("Final Answer")),
    ]

    for reply in (text, f"Action: Operation\n```sql\n{text}\n```", f"<think>{text}"):
        action = read_action(reply, forms)
        assert action is None or action.name in {"Operation", "Answer"}


@given(st.text(alphabet=st.characters(exclude_characters="`\r", exclude_categories=["Cs"])))
def test_what_stands_in_a_fence_is_kept(sql):
    form = Form("Operation", ("Action", "Operation"), fence("sql"))
    action = read_action(f"Action: Operation\n```sql\n{sql}\n```", [form])

    assert (action.payload if action else "") == sql.strip("\n").rstrip()


@given(st.text())
def test_a_text_without_tags_keeps_all_of_itself(text):
    assert strip_thinking(text.replace("<", "")) == text.replace("<", "")


@pytest.mark.parametrize(
    "piece",
    [
        "```",
        "```\n",
        "``` ",
        "<think>",
        "```</think>",
        "Action: Operation\n",
        "Action: Operation\n```sql\n",
        "Action: Operation\n```sql\n\n```\n",
        "Action: Operation\n```py\n",
        "Action: Answer\n",
        "Final Answer: ",
        "- ",
        "*",
        "\n ",
    ],
)
def test_reading_time_grows_with_the_length_only(piece):
    forms = [
        Form("Operation", ("Action", "Operation"), fence("sql")),
        Form("Answer", ("Action", "Answer"), labelled("Final Answer")),
    ]
    started = time.process_time()
    read_action(piece * (400_000 // len(piece)), forms)

    assert time.process_time() - started < 20  # minutes, were it quadratic
