"""One server for all, and none once they are gone, however they go."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lifelong_gym.backends.servers import RUNTIME_VARIABLE, Orders, fast_folder, lease
from lifelong_gym.errors import BackendUnavailableError

USER = """
import sys, time
from lifelong_gym.backends.servers import Orders, lease
held = lease("sleeper", lambda data: Orders(
    serve=["/bin/sh", "-c", f"cd {data}; echo $$ > new; mv new pid; exec sleep 1000"],
    ready=f"{data}/pid",
    hello={"pid_file": f"{data}/pid"}))
print(open(held.hello["pid_file"]).read().strip(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A runtime folder of this test's own, with a path short enough for a socket."""
    monkeypatch.setenv(RUNTIME_VARIABLE, str(tmp_path))
    os.chdir(tmp_path)
    return tmp_path


def user():
    return subprocess.Popen(
        [sys.executable, "-c", USER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def said(process):
    return process.stdout.readline().strip()


def leave(process):
    process.stdin.close()
    process.wait()
    process.stdout.close()


def lives(pid):
    return (
        Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    )


def until(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def left(folder):
    """What lies there; os.walk minds no folder that goes meanwhile."""
    found = [name for _, *names in os.walk(folder) for name in itertools.chain(*names)]
    return [name for name in found if name != f"lifelong-gym-{os.getuid()}"]


def watchdog_of(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("PPid:")[2].split()[0])


def test_several_processes_that_start_at_once_get_one_server(folder):
    users = [user() for _ in range(6)]
    pids = {said(process) for process in users}

    assert len(pids) == 1
    for process in users:
        leave(process)


def test_the_last_user_takes_the_server_along(folder):
    first, second = user(), user()
    pid = said(first)
    assert said(second) == pid
    leave(first)
    time.sleep(0.1)
    assert lives(pid)
    leave(second)

    until(lambda: not lives(pid) and not left(folder))


def test_a_killed_user_takes_the_server_along(folder):
    process = user()
    pid = said(process)
    process.kill()
    leave_killed(process)

    until(lambda: not lives(pid) and not left(folder))


def leave_killed(process):
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_a_killed_watchdog_takes_the_server_along_and_is_reaped_at_the_next_start(folder):
    first = user()
    pid = said(first)
    os.kill(watchdog_of(pid), signal.SIGKILL)
    until(lambda: not lives(pid))
    leave(first)
    second = user()

    assert said(second) != pid
    assert len(list(folder.glob("lifelong-gym-data-*"))) == 1
    leave(second)
    until(lambda: not left(folder))


def test_what_another_servers_watchdog_left_is_reaped_too(folder):
    first = user()
    pid = said(first)
    os.kill(watchdog_of(pid), signal.SIGKILL)
    until(lambda: not lives(pid))
    leave(first)
    with contextlib.closing(lease("other", orders_of("sleep", "1000"))):
        assert len(list(folder.glob("lifelong-gym-data-*"))) == 1
    until(lambda: not left(folder))


def orders_of(*command, **more):
    return lambda data: Orders(serve=list(command), ready=str(data), hello={}, **more)


def test_a_server_that_ends_by_itself_is_started_again(folder):
    first = user()
    pid = said(first)
    os.kill(int(pid), signal.SIGKILL)
    until(lambda: not left(folder))
    second = user()

    assert said(second) != pid
    leave(first)
    leave(second)
    until(lambda: not left(folder))


def test_a_server_that_does_not_start_says_why_and_leaves_nothing(folder):
    orders = lambda data: Orders(  # noqa: E731
        serve=["/bin/sh", "-c", "echo no room >&2; exit 3"], ready=f"{data}/never", hello={}
    )
    with pytest.raises(BackendUnavailableError, match="no room"):
        lease("broken", orders)

    assert not left(folder)


def test_a_server_that_hangs_at_its_start_is_given_up(folder):
    orders = lambda data: Orders(  # noqa: E731
        serve=["sleep", "1000"], ready=f"{data}/never", hello={}, timeout_s=0.2
    )
    with pytest.raises(BackendUnavailableError, match="did not start"):
        lease("hanging", orders)


def test_a_program_that_does_not_exist_is_unavailable(folder):
    with pytest.raises(BackendUnavailableError, match="/no/such/program"):
        lease("absent", orders_of("/no/such/program"))

    assert not left(folder)


def test_a_folder_of_somebody_else_is_refused(folder):
    (folder / f"lifelong-gym-{os.getuid()}").mkdir(mode=0o777)
    (folder / f"lifelong-gym-{os.getuid()}").chmod(0o777)

    with pytest.raises(BackendUnavailableError, match="mode 0700"):
        lease("any", orders_of("sleep", "1000"))


def test_servers_live_in_memory_where_they_can(monkeypatch):
    monkeypatch.delenv(RUNTIME_VARIABLE)

    assert fast_folder() == Path("/dev/shm") or not Path("/dev/shm").is_dir()


def test_a_ctrl_c_in_the_terminal_does_not_reach_the_server(folder):
    process = user()
    pid = said(process)

    assert os.getsid(int(pid)) != os.getsid(process.pid)
    leave(process)


@pytest.mark.slow
def test_users_that_come_and_go_never_find_a_dying_server(folder):
    again = USER.replace("held = lease", "for _ in range(15):\n    held = lease")
    again = again.replace("\nprint(", "\n    print(").replace(
        "sys.stdin.read()", "    held.close()"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", again], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    answers = [process.communicate(timeout=120)[0].split() for process in processes]

    assert [process.returncode for process in processes] == [0] * 4
    assert [len(pids) for pids in answers] == [15] * 4
    until(lambda: not left(folder))


STARTS = """
import sys, time
from lifelong_gym.backends.servers import Orders, lease
def orders(data):
    return Orders(
        serve=["/bin/sh", "-c", f"cd {data}; echo $$ > new; mv new pid; exec sleep 1000"],
        ready=f"{data}/pid", hello={"pid_file": f"{data}/pid"})
for line in sys.stdin:
    held = lease("sleeper", orders)
    print(open(held.hello["pid_file"]).read().strip(), flush=True)
    if sys.stdin.readline() == "":
        break
    held.close()
    print("left", flush=True)
"""


@pytest.fixture
def workers(folder):
    """Eight processes that take a lease, say the server's pid, and give it back, as told."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", STARTS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        for _ in range(8)
    ]
    yield started
    for process in started:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def tell(processes):
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()


@pytest.mark.slow
def test_eight_workers_share_one_server_in_a_hundred_starts(folder, workers):
    seen = set()
    for _ in range(100):
        tell(workers)
        pids = {said(process) for process in workers}
        assert len(pids) == 1
        tell(workers)
        assert [said(process) for process in workers] == ["left"] * 8
        until(lambda pids=pids: not lives(*pids) and not left(folder))
        seen |= pids

    assert len(seen) == 100


@pytest.mark.slow
def test_killing_some_or_all_of_eight_workers_leaves_nothing(folder, workers):
    tell(workers)
    (pid,) = {said(process) for process in workers}
    for process in workers[:7]:
        process.kill()
        process.wait()
        time.sleep(0.05)
        assert lives(pid)
    workers[7].kill()

    until(lambda: not lives(pid) and not left(folder))


@pytest.mark.slow
@pytest.mark.parametrize("delay_s", [0, 0.02, 0.05, 0.1, 0.2, 0.3])
def test_killing_all_at_any_moment_of_the_start_leaves_nothing(folder, workers, delay_s):
    tell(workers)
    time.sleep(delay_s)
    for process in workers:
        process.kill()

    until(lambda: not left(folder))
