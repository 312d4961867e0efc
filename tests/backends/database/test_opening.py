"""`open_database`: what it takes, what starting needs, and what it never says."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lifelong_gym.backends.database import Column, Table, local, open_database
from lifelong_gym.backends.database.auto import AutoDriver
from lifelong_gym.errors import BackendError, BackendUnavailableError, UsageError

ONE = Table(name="t", columns=(Column(name="a", type="INT"),), rows=((1,),))
SECRET = "s3cret"


@pytest.mark.parametrize(
    "reference",
    [
        "nope",
        "docker:mysql",
        "",
        "postgres://me:s3cret@host",
        "mysql://",
        "mysql://host",
        "mysql://u@h:x",
    ],
)
def test_an_unknown_reference_is_refused_with_the_choices(reference):
    with pytest.raises(UsageError) as caught:
        open_database(reference)

    assert "mysql://user:password@host:port" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("limit", [0, -1, float("nan")])
def test_a_limit_is_a_positive_time(limit):
    with pytest.raises(UsageError, match="a number above 0"):
        open_database("local", statement_timeout_s=limit)


def test_a_wrong_option_of_a_url_is_named():
    with pytest.raises(UsageError, match="tls=maybe"):
        open_database("mysql://u:p@h?tls=maybe")


@pytest.mark.parametrize(
    "reference", ["docker?", "docker?image=", "docker?tag=8", "docker?image=a&image=b", "docker?a"]
)
def test_a_wrong_reference_to_docker_is_refused_with_the_form(reference):
    with pytest.raises(UsageError, match=r"docker\[\?image=NAME\]"):
        open_database(reference)


@pytest.mark.parametrize(
    "reference",
    ["auto", "local", "seekdb", "docker", "docker?image=mysql%3A9", "mysql://me:s3cret@h:3306"],
)
def test_constructing_starts_nothing_and_pickles(reference):
    database = pickle.loads(pickle.dumps(open_database(reference)))

    assert database.name in {"auto", "local", "seekdb", "docker", "mysql"}
    assert SECRET not in repr(database)
    database.close()
    database.close()


def test_constructing_imports_no_driver():
    code = (
        "import sys; from lifelong_gym.backends.database import open_database\n"
        "for name in ('auto', 'local', 'seekdb', 'docker', 'mysql://u:p@h'): open_database(name)\n"
        "print([m for m in ('docker', 'pymysql', 'sqlglot', 'pylibseekdb') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"


def test_a_missing_package_is_answered_with_the_command():
    code = (
        "import sys; sys.modules['pymysql'] = None\n"
        "from lifelong_gym.backends.database import open_database\n"
        "from lifelong_gym.errors import MissingExtraError\n"
        "try: open_database('local').create([])\n"
        "except MissingExtraError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert 'pip install "lifelong-gym[mysql]"' in run.stdout


def test_without_a_server_program_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr(local, "_FOLDERS", ())
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv(local.PROGRAM_VARIABLE, raising=False)

    with pytest.raises(BackendUnavailableError, match="apt-get install mariadb-server-core"):
        open_database("local").create([])


def test_auto_says_why_nothing_works(monkeypatch):
    monkeypatch.setattr(local, "_FOLDERS", ())
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv(local.PROGRAM_VARIABLE, raising=False)
    monkeypatch.setattr("lifelong_gym.backends.database.auto.ORDER", (local.LocalDriver,))

    with pytest.raises(BackendUnavailableError, match=r"no database works(.|\n)*- local: "):
        AutoDriver().start()


def test_auto_takes_the_first_that_works():
    database = open_database("auto")
    try:
        database.create([ONE]).close()
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    assert database.name in {"local", "seekdb", "docker"}
    database.close()


# A server of the user's -----------------------------------------------------------------


def test_a_wrong_password_is_unavailable_and_not_shown(server_url):
    database = open_database(server_url.replace("p%40ss", SECRET))

    with pytest.raises(BackendUnavailableError) as caught:
        database.create([])
    assert "127.0.0.1" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_an_account_without_rights_is_told_what_it_lacks(server_url):
    database = open_database(server_url.replace("harness", "guest"))

    with pytest.raises(BackendUnavailableError, match="CREATE USER"):
        database.create([])
    database.close()


def test_nothing_listening_is_unavailable():
    with pytest.raises(BackendUnavailableError, match=r"127\.0\.0\.1:9"):
        open_database("mysql://u:p@127.0.0.1:9").create([])


def test_what_others_have_on_the_server_stays(server_url):
    database = open_database(server_url)
    database.create([ONE]).close()
    judge = database._connected()

    assert ("theirs",) in judge.run("SHOW DATABASES")[0]
    database.close()


def test_two_databases_on_one_server_do_not_meet(server_url):
    first, second = open_database(server_url), open_database(server_url)
    left, right = first.create([ONE]), second.create([ONE])
    left.execute("DELETE FROM t")
    first.close()

    assert right.snapshot()["t"].rows == ((1,),)
    second.close()


def test_what_a_killed_process_left_is_removed_at_the_next_start(server_url):
    code = (
        "import os, sys; from lifelong_gym.backends.database import open_database\n"
        "w = open_database(sys.argv[1]).create([]); print(w._names.database, flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    run = subprocess.run([sys.executable, "-c", code, server_url], capture_output=True, text=True)
    database = open_database(server_url)
    names = [name for (name,) in database._connected().run("SHOW DATABASES")[0]]

    assert run.stdout.startswith("lifelonggym")
    assert run.stdout.strip() not in names
    database.close()


# Processes ------------------------------------------------------------------------------


def _play(database, answers):
    workspace = database.create([ONE])
    workspace.execute(f"UPDATE t SET a = {os.getpid()}")
    answers.put((os.getpid(), workspace.snapshot()["t"].rows[0][0]))
    workspace.close()
    database.close()


@pytest.mark.usefixtures("needs_local")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_every_process_has_its_own_workspaces(method):
    context = multiprocessing.get_context(method)
    database = open_database("local")
    answers = context.Queue()
    workers = [context.Process(target=_play, args=(database, answers)) for _ in range(3)]
    for worker in workers:
        worker.start()
    found = [answers.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()

    assert all(pid == value for pid, value in found)
    assert len(set(found)) == 3


@pytest.mark.usefixtures("needs_local")
def test_a_child_forked_after_the_start_connects_anew():
    context = multiprocessing.get_context("fork")
    database = open_database("local")
    workspace = database.create([ONE])
    answers = context.Queue()
    child = context.Process(target=_play, args=(database, answers))
    child.start()
    pid, value = answers.get(timeout=60)
    child.join()

    assert pid == value
    assert workspace.execute("SELECT a FROM t").rows == ((1,),)
    assert workspace.snapshot()["t"].rows == ((1,),)
    database.close()


@pytest.mark.usefixtures("needs_local")
def test_a_parents_workspace_is_refused_in_a_child():
    context = multiprocessing.get_context("fork")
    database = open_database("local")
    workspace = database.create([ONE])
    answers = context.Queue()

    def use_it():
        try:
            workspace.execute("SELECT 1")
        except BackendError as error:
            answers.put(str(error))

    child = context.Process(target=use_it)
    child.start()
    assert "parent process" in answers.get(timeout=60)
    child.join()
    database.close()


@pytest.mark.usefixtures("needs_local")
def test_a_server_that_dies_is_a_backend_error_and_then_a_fresh_one():
    database = open_database("local")
    workspace = database.create([ONE])
    os.kill(_server_pid(database), signal.SIGKILL)

    with pytest.raises(BackendError):
        workspace.execute("SELECT 1")
    with pytest.raises(BackendError):
        workspace.snapshot()
    workspace.close()
    fresh = database.create([ONE])
    assert fresh.snapshot()["t"].rows == ((1,),)
    database.close()


def _server_pid(database):
    return int(Path(database._connected().run("SELECT @@pid_file")[0][0][0]).read_text())
