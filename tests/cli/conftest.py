"""Ways to call the command line: in this process, and as the program it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lifelong_gym.cli import app
from tests.conftest import ROOT

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(HERE)


@pytest.fixture
def env_id():
    """An environment without a server, registered by the module in front of the colon."""
    return "cli_environments:tests/Scripted-v0"


@pytest.fixture
def call():
    """Calls the command line in this process; a bug raises."""

    def call(*words, code=0):
        result = CliRunner().invoke(app, [str(word) for word in words], prog_name="lifelong-gym")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return call


@pytest.fixture
def refused(call):
    """Calls the command line with something wrong; returns the one message."""

    def refused(*words):
        result = call(*words, code=2)
        assert result.stdout == ""
        assert result.stderr.startswith("Error: ")
        return result.stderr

    return refused


@pytest.fixture
def start():
    """Starts the program in a process of its own, which is killed at the end of the test."""
    processes = []

    def start(*words, **environ):
        process = subprocess.Popen(
            [sys.executable, "-m", "lifelong_gym", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}", **environ},
            # A shell in the background has its children ignore Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture
def finish(start):
    """Runs the program to its end."""

    def finish(*words, code=0, **environ):
        process = start(*words, **environ)
        out, err = process.communicate(timeout=120)
        assert process.returncode == code, err
        return out, err

    return finish
