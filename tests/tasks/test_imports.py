"""What importing the task sets costs, and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys

import lifelong_gym.tasks


def test_importing_loads_no_driver_and_no_parquet():
    code = (
        "import sys, lifelong_gym.tasks as t; t.TaskSet.load('builtin', 'database'); "
        "late = {'pymysql', 'sqlglot', 'pyarrow', 'huggingface_hub'}; "
        "print(sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_everything_that_is_exported_exists():
    assert all(hasattr(lifelong_gym.tasks, name) for name in lifelong_gym.tasks.__all__)
