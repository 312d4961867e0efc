"""What README and the examples promise: the programs run and print what is shown."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from lifelong_gym.baselines import OracleAgent
from lifelong_gym.experiments import load_experiment
from lifelong_gym.testing import ScriptedEnv
from tests.conftest import ROOT
from tests.envs.conftest import database  # noqa: F401 - a fixture

README = (ROOT / "README.md").read_text()


@pytest.mark.usefixtures("database")
def test_the_readmes_program_prints_what_the_readme_shows(capsys, tmp_path):
    program = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    shown = re.search(r"````text\n(.*?)````", README, re.DOTALL)[1]
    path = tmp_path / "program.py"
    path.write_text(program)
    runpy.run_path(str(path))

    assert capsys.readouterr().out == shown


def test_the_readme_is_ready_within_its_first_screen():
    assert README.index("make test") < 2500


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_an_example_runs(path, tmp_path):
    done = subprocess.run(
        [sys.executable, path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda p: p.stem)
def test_an_experiment_runs(path, tmp_path):
    command = [sys.executable, "-m", "lifelong_gym", "run", "--config", path, "--output", "out"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "100.0%" in done.stdout


def test_the_experiment_of_the_docs_is_read(tmp_path):
    page = (ROOT / "docs" / "experiments.md").read_text()
    file = tmp_path / "experiment.toml"
    file.write_text(re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1])

    assert load_experiment(file).settings.wrappers[0].arguments == {"k": 4}


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.*")), ids=lambda p: p.stem)
def test_an_example_is_short(path):
    assert len(path.read_text().splitlines()) < 60


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name
)
def test_every_link_of_a_page_leads_somewhere(page):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())

    assert [target for target in targets if not (page.parent / Path(target)).exists()] == []


def test_the_wrapper_of_the_documentation_works():
    page = (ROOT / "docs" / "environments.md").read_text()
    names = {}
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], names)
    agent = OracleAgent(names["ShowExample"](ScriptedEnv(["Say it."])))
    observation, _ = agent.reset()

    assert "Who is the oldest?" in observation
    assert "Look at the columns first." in agent.conversation[0]["content"]
    assert agent.step()[1] == 1.0
