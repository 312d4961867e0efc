"""`doctor`: what works, what does not, and the command that would help."""

import json
import sys

import pytest

from lifelong_gym import diagnosis
from lifelong_gym.diagnosis import Check, diagnose, machine
from lifelong_gym.errors import BackendUnavailableError, MissingExtraError


def broken():
    raise BackendUnavailableError("there is no server here. Run: apt-get install it")


def missing():
    raise MissingExtraError("driver", "extra", "The driver")


def bug():
    raise ZeroDivisionError("a bug")


@pytest.fixture
def only(monkeypatch):
    """Leaves only the given checks."""

    def only(*checks):
        monkeypatch.setattr(diagnosis, "SOURCES", [])
        monkeypatch.setattr(diagnosis, "_registered", [lambda: checks])

    return only


def test_what_works_is_shown_with_its_version(call, only):
    only(Check("database", "mine", lambda: "Mine 1.0"))
    shown = call("doctor").stdout

    assert all(text in shown for text in ("database", "mine", "OK", "Mine 1.0"))
    assert "To make the rest work" not in shown


def test_what_is_missing_is_shown_with_the_reason_and_the_command(call, only):
    only(
        Check("database", "a", broken, fix="brew install it"),
        Check("database", "b", missing, fix="never this"),
        Check("database", "c", bug),
    )
    shown = call("doctor").stdout

    assert "there is no server here." in shown
    assert "apt-get" not in shown
    assert "  brew install it   # a\n" in shown
    assert '  pip install "lifelong-gym[extra]"   # b\n' in shown
    assert "ZeroDivisionError: a bug" in shown


def test_strict_fails_where_something_is_missing(call, only):
    only(Check("x", "good", lambda: "1"))
    call("doctor", "--strict")
    only(Check("x", "good", lambda: "1"), Check("x", "bad", broken))

    call("doctor")
    call("doctor", "--strict", code=1)


def test_json_has_a_finding_for_each_check(call, only):
    only(Check("x", "good", lambda: "1"), Check("x", "bad", broken))
    good, bad = json.loads(call("doctor", "--format", "json").stdout)

    assert (good["works"], good["version"], good["problem"]) == (True, "1", "")
    assert (bad["works"], bad["name"], bad["problem"]) == (False, "bad", "there is no server here.")


def test_a_registered_source_comes_after_the_packages_own(monkeypatch):
    monkeypatch.setattr(diagnosis, "_registered", [])
    diagnosis.register(lambda: [Check("x", "mine", lambda: "1")])
    found = [(check.group, check.name) for check in diagnosis.checks()]

    assert ("database", "local") in found
    assert found[-1] == ("x", "mine")


def test_a_server_that_is_not_there_is_reported_without_its_password(call, only):
    only()
    shown = call("doctor", "--database", "mysql://root:hunter2@127.0.0.1:9").stdout

    assert "mysql://..." in shown
    assert "missing" in shown
    assert "hunter2" not in shown


def test_the_command_is_that_of_the_package_manager_which_is_there(monkeypatch):
    monkeypatch.setattr(machine.shutil, "which", lambda name: name == "dnf")
    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000)
    assert machine.install("mariadb") == "sudo dnf install -y mariadb-server"

    monkeypatch.setattr(machine.shutil, "which", lambda name: None)
    assert machine.install("mariadb") == ""


def test_without_the_drivers_packages_each_says_what_to_install(monkeypatch):
    for name in ("pymysql", "pylibseekdb"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, f"{name}.cursors", raising=False)
    monkeypatch.delitem(sys.modules, "lifelong_gym.backends.database.judge", raising=False)
    found = {finding.name: finding for finding in diagnose() if finding.group == "database"}

    assert found["seekdb"].fix == 'pip install "lifelong-gym[seekdb]"'
    assert found["mysql://"].fix == 'pip install "lifelong-gym[mysql]"'


def test_every_database_that_works_says_its_version_and_time():
    findings = [finding for finding in diagnose() if finding.group == "database"]
    working = [finding for finding in findings if finding.works]
    if not working:
        pytest.skip("no database works here: " + "; ".join(f.problem for f in findings))

    assert all(finding.version for finding in working)
    assert all(finding.fix or finding.works for finding in findings)
