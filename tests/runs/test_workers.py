"""run_parallel: several processes make the run that one would, and none of them stays."""

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lifelong_gym.errors import (
    RunPaused,
    SettingsChangedError,
    UsageError,
)
from lifelong_gym.runs import Run, RunStore, run_parallel, run_stream

HERE = Path(__file__).parent


@pytest.fixture
def parallel(monkeypatch):
    """The module with the stacks, under the name by which workers import it."""
    monkeypatch.syspath_prepend(HERE)
    return importlib.import_module("parallel")


@pytest.fixture
def sorted_contents(contents):
    """What a run folder holds, times and the order of arrival apart."""

    def read(folder):
        trajectories, _, states, items = contents(folder)
        return trajectories, states, items

    return read


@pytest.fixture
def playing(tmp_path):
    """A process that plays with two workers and has recorded some episodes."""
    process = subprocess.Popen(
        [sys.executable, HERE / "parallel.py", tmp_path / "run", "2", "0.1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 60
        while recorded(tmp_path / "run") < 4:
            assert time.monotonic() < deadline
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.communicate()


def recorded(folder):
    try:
        return len(Run.load(folder).trajectories)
    except UsageError:
        return 0


def session(leader):
    """The living processes of a session."""
    found = subprocess.run(
        ["ps", "-o", "pid=,stat=", "-s", str(leader)], capture_output=True, text=True, check=False
    )
    lines = (line.split() for line in found.stdout.splitlines())
    return [int(pid) for pid, state in lines if not state.startswith("Z")]


def wait_until_gone(leader):
    deadline = time.monotonic() + 20
    while session(leader):
        assert time.monotonic() < deadline, session(leader)
        time.sleep(0.05)


def workers_of(process):
    """Its workers; the interpreter's own resource tracker is none."""
    return [
        pid
        for pid in session(process.pid)
        if pid != process.pid and "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()
    ]


def test_three_workers_make_the_run_that_one_makes(parallel, sorted_contents, tmp_path):
    run_parallel(parallel.maker(), tmp_path / "parallel", workers=3)
    run_stream(parallel.make(), tmp_path / "serial")

    assert sorted_contents(tmp_path / "parallel") == sorted_contents(tmp_path / "serial")
    assert Run.load(tmp_path / "parallel").settings == Run.load(tmp_path / "serial").settings
    assert recorded(tmp_path / "parallel") == parallel.COUNT


@pytest.mark.slow
def test_a_serial_run_goes_on_with_other_numbers_of_workers(parallel, sorted_contents, tmp_path):
    run_stream(parallel.make(limit=5), tmp_path / "mixed")
    run_parallel(parallel.maker(limit=12), tmp_path / "mixed", workers=2)
    run_parallel(parallel.maker(limit=20), tmp_path / "mixed", workers=3)
    run_stream(parallel.make(), tmp_path / "mixed")
    run_stream(parallel.make(), tmp_path / "serial")

    assert sorted_contents(tmp_path / "mixed") == sorted_contents(tmp_path / "serial")


def test_a_finished_run_starts_no_worker(parallel, tmp_path):
    run_stream(parallel.make(), tmp_path)
    run = run_parallel(parallel.maker(fault="bug"), tmp_path, workers=2)

    assert len(run.trajectories) == parallel.COUNT


def test_a_run_in_memory_has_every_episode(parallel):
    run = run_parallel(parallel.maker(limit=4), workers=2)

    assert [trajectory.position for trajectory in run.trajectories] == [0, 1, 2, 3]


def test_what_the_system_broke_is_retried_by_the_worker_and_later_again(parallel, tmp_path):
    broken = parallel.maker(fail_resets=range(3), limit=4)
    run = run_parallel(broken, tmp_path, workers=2, retries=2)
    assert [t.position for t in run.trajectories if not t.is_scored] == [0, 1]

    again = run_parallel(parallel.maker(limit=4), tmp_path, workers=2)
    assert all(trajectory.is_scored for trajectory in again.trajectories)


@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        pytest.param("usage", UsageError, "no such thing", marks=pytest.mark.slow),
        ("paused", RunPaused, "the budget is spent"),
        pytest.param("unsendable", RunPaused, "3 of 5 are spent", marks=pytest.mark.slow),
        pytest.param("unavailable", RunPaused, "went away: no server", marks=pytest.mark.slow),
        pytest.param("bug", ZeroDivisionError, "a bug", marks=pytest.mark.slow),
        ("killed", RunPaused, "ended by SIGKILL"),
    ],
)
def test_what_stops_one_worker_stops_the_run_which_can_be_resumed(
    parallel, sorted_contents, tmp_path, fault, kind, message
):
    with pytest.raises(kind, match=message) as raised:
        run_parallel(parallel.maker(fault=fault), tmp_path / "stopped", workers=2)
    if fault != "killed":
        assert "In a worker:\nTraceback" in raised.value.__notes__[-1]
    assert recorded(tmp_path / "stopped") < parallel.COUNT
    run_parallel(parallel.maker(), tmp_path / "stopped", workers=2)
    run_stream(parallel.make(), tmp_path / "serial")

    assert sorted_contents(tmp_path / "stopped") == sorted_contents(tmp_path / "serial")


def test_a_stack_that_remembers_is_refused_with_the_reason(parallel, tmp_path):
    with pytest.raises(UsageError, match=r"Remembering remembers .* cannot share that"):
        run_parallel(parallel.maker(kind=parallel.Remembering), tmp_path / "run", workers=2)

    assert not (tmp_path / "run").exists()


def test_a_maker_that_cannot_be_sent_is_refused(parallel):
    with pytest.raises(UsageError, match="make_agent is sent to other processes"):
        run_parallel(lambda shard: parallel.make(shard), workers=2)


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_workers_are_at_least_one(parallel, workers):
    with pytest.raises(UsageError, match=f"workers must be at least 1, got {workers}"):
        run_parallel(parallel.maker(), workers=workers)


def test_changed_settings_are_refused_before_a_worker_starts(parallel, tmp_path):
    run_parallel(parallel.maker(limit=4), tmp_path, workers=2)

    with pytest.raises(SettingsChangedError, match=r"TaskStream.limit: recorded 4, now 3"):
        run_parallel(parallel.maker(limit=3), tmp_path, workers=2)


def test_workers_that_two_backends_serve_are_refused(parallel, tmp_path):
    with pytest.raises(SettingsChangedError, match="backend: recorded 'server-"):
        run_parallel(parallel.maker(env=parallel.OtherBackend), tmp_path, workers=2)


@pytest.mark.slow
def test_killing_the_run_leaves_no_worker_and_a_run_that_goes_on(
    playing, parallel, sorted_contents, tmp_path
):
    assert len(workers_of(playing)) == 2
    playing.kill()
    playing.wait()
    wait_until_gone(playing.pid)
    assert 4 <= recorded(tmp_path / "run") < parallel.COUNT
    run_parallel(parallel.maker(), tmp_path / "run", workers=2)
    run_stream(parallel.make(), tmp_path / "serial")

    assert sorted_contents(tmp_path / "run") == sorted_contents(tmp_path / "serial")


@pytest.mark.slow
def test_killing_one_worker_stops_the_others_and_says_so(playing, tmp_path):
    os.kill(workers_of(playing)[0], signal.SIGKILL)
    _, said = playing.communicate(timeout=30)

    assert "RunPaused: a worker, process" in said
    wait_until_gone(playing.pid)
    with RunStore(tmp_path / "run", read_only=True) as store:
        assert len(store.outcomes) >= 4


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_ends_all_without_a_word_from_the_workers(playing):
    os.killpg(playing.pid, signal.SIGINT)
    _, said = playing.communicate(timeout=30)

    assert said.count("Traceback") == 1
    wait_until_gone(playing.pid)
