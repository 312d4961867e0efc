"""bubblewrap for users who are not root, with subordinate ids and without."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lifelong_gym

SCRIPT = """
import warnings
from lifelong_gym.backends.sandbox import Command, bash, open_sandboxes
warnings.simplefilter("ignore")
provider = open_sandboxes()
sandbox = provider.create()
run = lambda script: sandbox.run(Command(bash(script))).text().strip()
print(provider.facts["ids"], run("id -u"), run("useradd ann; touch /srv/x; chown ann /srv/x; "
      "stat -c %U /srv/x"), sandbox.check(Command(bash("test -f /srv/x"))).exit_code)
provider.close()
"""
PYTHONS = (sys.executable, "/usr/bin/python3")


@pytest.fixture
def as_user():
    """Runs a program as a user that is made for the test."""
    if os.geteuid() != 0 or not shutil.which("useradd") or not shutil.which("setpriv"):
        pytest.skip("only root can become another user, with useradd and setpriv")
    name = f"lifelong{os.getpid()}"
    subprocess.run(["useradd", "--no-create-home", name], check=True)
    account = pwd.getpwnam(name)
    become = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]
    paths = [str(Path(lifelong_gym.__file__).parents[1]), *filter(None, sys.path)]

    def run(program: str) -> str:
        for python in PYTHONS:
            done = subprocess.run(
                [*become, python, "-c", program],
                capture_output=True,
                text=True,
                check=False,
                cwd="/",
                env={"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(paths), "HOME": "/tmp"},
            )
            if not done.returncode:
                return done.stdout
        pytest.skip(f"a user cannot run Python with this package here: {done.stderr[-300:]}")

    yield name, run
    subprocess.run(["userdel", name], check=True)


def test_a_user_with_subordinate_ids_has_whole_machines(as_user):
    name, run = as_user
    if not shutil.which("newuidmap") or f"{name}:" not in Path("/etc/subuid").read_text():
        pytest.skip("newuidmap or a range in /etc/subuid is missing: apt-get install uidmap")

    assert run(SCRIPT).split() == ["65536", "0", "ann", "0"]


def test_a_user_without_has_machines_with_root_alone(as_user):
    name, run = as_user
    for file in map(Path, ("/etc/subuid", "/etc/subgid")):
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(line for line in lines if not line.startswith(f"{name}:")))

    assert run(SCRIPT).split()[:2] == ["1", "0"]
