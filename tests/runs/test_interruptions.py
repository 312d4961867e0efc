"""A run that something stopped goes on as if nothing had."""

import random
import signal
import subprocess

import pytest

from lifelong_gym.errors import RunPaused, UsageError
from lifelong_gym.runs import Run, RunStore, run_stream


@pytest.mark.slow
def test_run_killed_at_twenty_random_moments_equals_an_uninterrupted_one(
    start, make_stack, contents, tmp_path
):
    moments = random.Random(20)
    count = 200
    for _ in range(20):
        process = start(tmp_path / "killed", count, pause_s=0.003)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(moments.uniform(0.0, 0.12))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert 0 < len(Run.load(tmp_path / "killed").trajectories) < count
    assert start(tmp_path / "killed", count).wait() == 0
    run_stream(make_stack(count), tmp_path / "whole")

    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_run_that_filled_the_disk_equals_an_uninterrupted_one(make_stack, contents, small_disk):
    folder, enlarge = small_disk
    with pytest.raises(RunPaused, match="disk is full"):
        run_stream(make_stack(200), folder)
    with RunStore(folder, read_only=True) as store:
        assert 0 < len(store.outcomes) < 200
    enlarge()
    run_stream(make_stack(200), folder)
    run_stream(make_stack(200), folder.parent / "whole")

    assert contents(folder) == contents(folder.parent / "whole")


def test_run_whose_file_may_grow_no_further_equals_an_uninterrupted_one(
    start, make_stack, contents, tmp_path
):
    process = start(tmp_path / "bounded", 100, max_file_bytes=150_000)
    said, _ = process.communicate()
    assert process.returncode == 3
    assert "disk is full or cannot be written" in said
    assert 0 < len(Run.load(tmp_path / "bounded").trajectories) < 100
    assert start(tmp_path / "bounded", 100).wait() == 0
    run_stream(make_stack(100), tmp_path / "whole")

    assert contents(tmp_path / "bounded") == contents(tmp_path / "whole")


def test_second_process_is_refused_until_the_first_is_gone(start, make_stack, tmp_path):
    process = start(tmp_path, 200, pause_s=5)
    while not (tmp_path / "run.sqlite").exists():
        assert process.poll() is None
    with pytest.raises(UsageError, match=f"written by process {process.pid}"):
        RunStore(tmp_path)
    process.kill()
    process.wait()

    RunStore(tmp_path).close()


def test_second_writer_in_one_process_is_refused(tmp_path):
    with RunStore(tmp_path), pytest.raises(UsageError, match="is being written by process"):
        RunStore(tmp_path)


def test_folder_is_free_after_a_run_that_raised(make_stack, tmp_path):
    with pytest.raises(UsageError, match="needs an agent"):
        run_stream(make_stack().env, tmp_path)
    run_stream(make_stack(), tmp_path)

    assert not list(tmp_path.glob("run.sqlite-*"))


def test_interrupt_loses_the_task_in_flight_only(make_stack, contents, tmp_path):
    agent = make_stack()
    act, calls = agent.act, iter(range(1000))
    agent.act = lambda messages: act(messages) if next(calls) < 9 else _interrupt()
    with pytest.raises(KeyboardInterrupt):
        run_stream(agent, tmp_path / "stopped")
    run_stream(make_stack(), tmp_path / "stopped")
    run_stream(make_stack(), tmp_path / "whole")

    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")


def _interrupt():
    raise KeyboardInterrupt


def test_pause_leaves_every_wrapper_as_of_the_last_task(make_stack, contents, tmp_path):
    agent = make_stack()
    act, calls = agent.act, iter(range(1000))
    agent.act = lambda messages: act(messages) if next(calls) != 9 else _pause()
    with pytest.raises(RunPaused, match="the budget is spent"):
        run_stream(agent, tmp_path / "stopped")
    with RunStore(tmp_path / "stopped", read_only=True) as store:
        done = len(store.outcomes)
    assert len(agent.env.met) == agent.env.resets == done
    run_stream(agent, tmp_path / "stopped")
    run_stream(make_stack(), tmp_path / "whole")

    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")


def _pause():
    raise RunPaused("the budget is spent")


def test_run_can_be_read_while_it_is_written(make_stack, tmp_path):
    agent = make_stack()
    act, seen = agent.act, []

    def watched(messages):
        seen.append(len(Run.load(tmp_path).trajectories))
        return act(messages)

    agent.act = watched
    run_stream(agent, tmp_path)

    assert (seen[0], seen[-1]) == (0, 11)


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    mounted = subprocess.run(mount, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"mounting a small disk is not permitted here: {mounted.stderr.strip()}")
    remount = ["mount", "-o", "remount,size=64m", str(disk)]
    try:
        yield disk / "run", lambda: subprocess.run(remount, check=True)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
