"""Experiments: a file becomes the stack that Python or options would make, or says why not."""

import functools
import pickle
import sys
import textwrap

import gymnasium
import pytest

import lifelong_gym
from lifelong_gym.baselines import IdleAgent, OracleAgent
from lifelong_gym.errors import RunPaused, TaskError, UsageError
from lifelong_gym.experiments import Experiment, Settings, load_experiment
from lifelong_gym.experiments.prompt import first_prompt
from lifelong_gym.runs import Run
from lifelong_gym.runs.fingerprint import describe
from lifelong_gym.wrappers import TaskStream

SMALL = '[env]\nid = "Database-v0"\n\n[[agents]]\ntype = "oracle"\n'

SCRIPTED = "tests.cli.cli_environments:tests/Scripted-v0"

PLUGIN = """
import gymnasium
from gymnasium.utils import RecordConstructorArgs
from dataclasses import dataclass
from pathlib import Path
from lifelong_gym.core import Agent


@dataclass(frozen=True)
class Style:
    loud: bool = False


class Note(gymnasium.Wrapper, RecordConstructorArgs):
    def __init__(self, env, note, *, numbers=(), place: Path | None = None):
        RecordConstructorArgs.__init__(self, note=note, numbers=list(numbers), place=str(place))
        super().__init__(env)


class Says(Agent):
    def __init__(self, env, *, style: Style | None = None, inner=None):
        super().__init__(env, style=style)

    def act(self, messages):
        return "hello"


class Asking(Agent):
    def __init__(self, env, model):
        super().__init__(env, model=model)


class Remembers(Note):
    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass


def function(env):
    return env
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes an experiment and a module beside it; returns the file."""
    monkeypatch.setattr("sys.path", [*sys.path])

    def write(text=SMALL, more="", name="experiment.toml"):
        (tmp_path / "plugin_beside.py").write_text(PLUGIN)
        (tmp_path / name).write_text(text + more)
        return tmp_path / name

    yield write
    sys.modules.pop("plugin_beside", None)


@pytest.fixture
def refused(write):
    """What is said of an experiment that is refused, when it is read or when it is made."""

    def refused(text=SMALL, more="", kind=UsageError):
        file = write(text, more)
        with pytest.raises(kind) as error:
            load_experiment(file).stack()
        message = str(error.value)
        assert message.startswith(str(file))
        return message.removeprefix(f"{file}")

    return refused


def made(file):
    stack = load_experiment(file).stack()
    stack.close()
    return stack


# What a file becomes -------------------------------------------------------------------


def test_a_file_a_program_and_tables_make_stacks_with_the_same_settings(write):
    more = '[stream]\norder = "shuffle"\nseed = 4\nlimit = 5\nattempts = 2\n'
    text = SMALL.replace("\n\n", '\ntasks = "builtin?limit=9"\nargs = { max_turns = 4 }\n\n', 1)
    from_file = describe(made(write(text, more)))
    env = gymnasium.make("lifelong_gym/Database-v0", tasks="builtin?limit=9", max_turns=4)
    stream = TaskStream(env, order="shuffle", seed=4, limit=5, attempts=2)
    settings = Settings(
        env={"id": "Database-v0", "tasks": "builtin?limit=9", "args": {"max_turns": 4}},
        stream={"order": "shuffle", "seed": 4, "limit": 5, "attempts": 2},
        agents=[{"type": "OracleAgent"}],
    )

    assert from_file == describe(OracleAgent(stream)) == describe(Experiment(settings).stack())


def test_wrappers_and_agents_are_put_around_the_innermost_first(write):
    more = """
[[agents]]
type = "plugin_beside:Says"
style = { loud = true }

[[wrappers]]
type = "plugin_beside:Note"
note = "a"

[[wrappers]]
type = "RecordTrajectory"
keep = 3
"""
    stack = made(write(more=more))
    names = []
    while isinstance(stack, gymnasium.Wrapper):
        names.append(type(stack).__name__)
        stack = stack.env

    assert names[:5] == ["Says", "OracleAgent", "RecordTrajectory", "Note", "TaskStream"]
    style = describe(made(write(more=more)))["Says.style.loud"]
    assert style is True


@pytest.mark.parametrize(
    ("name", "kind"), [("oracle", OracleAgent), ("IdleAgent", IdleAgent), ("idle", IdleAgent)]
)
def test_agents_have_short_and_long_names(write, name, kind):
    assert type(made(write(SMALL.replace("oracle", name)))) is kind


def test_paths_are_relative_to_the_file(write, tmp_path):
    tasks = lifelong_gym.TaskSet.load("builtin?limit=2", "database")
    tasks.save(tmp_path / "mine.jsonl")
    (tmp_path / "script.json").write_text('["hello"]')
    more = """
actions = "script.json"

[[wrappers]]
type = "RecordTrajectory"
path = "all.jsonl"

[[wrappers]]
type = "plugin_beside:Note"
note = "builtin"
numbers = [1, "./x", "script.json"]
place = "new/place.txt"

[run]
output = "out"
"""
    text = SMALL.replace('"oracle"', '"scripted"').replace(
        'v0"\n', 'v0"\ntasks = "mine.jsonl?limit=1"\n'
    )
    experiment = load_experiment(write(text, more))
    settings = describe(experiment.stack())

    assert settings["tasks.count"] == 1
    assert settings["ScriptedAgent.actions"] == ["hello"]
    assert settings["Note.numbers"] == [1, str(tmp_path / "x"), str(tmp_path / "script.json")]
    assert settings["Note.note"] == "builtin"
    assert settings["Note.place"] == str(tmp_path / "new/place.txt")
    assert experiment.folder == tmp_path / "out"


def test_an_environment_may_be_registered_by_a_module_beside_the_file(write, tmp_path):
    code = """
        import gymnasium
        from lifelong_gym.testing import ScriptedEnv

        gymnasium.register("beside/Env-v0", entry_point=lambda tasks="x": ScriptedEnv([tasks]))
    """
    (tmp_path / "envs_beside.py").write_text(textwrap.dedent(code))
    stack = made(write(SMALL.replace("Database-v0", "envs_beside:beside/Env-v0")))

    assert stack.unwrapped.domain == "scripted"


def test_attempts_may_stand_in_either_table(write):
    in_run = load_experiment(write(more="[run]\nattempts = 3\n"))
    in_stream = load_experiment(write(more="[stream]\nattempts = 3\n"))

    assert in_run.settings.attempts == in_stream.settings.attempts == 3
    assert describe(in_run.stack()) == describe(in_stream.stack())
    assert in_run.folder != load_experiment(write()).folder


def test_one_double_bracket_env_is_an_env(write):
    assert made(write(SMALL.replace("[env]", "[[env]]"))).unwrapped.domain == "database"


def test_a_shard_is_passed_to_the_stream_and_the_experiment_pickles(write):
    experiment = load_experiment(write())
    stack = pickle.loads(pickle.dumps(experiment)).stack((1, 3))

    assert stack.get_wrapper_attr("positions") == range(1, 36, 3)


def test_an_experiment_is_played_and_goes_on(tmp_path):
    settings = functools.partial(
        Settings,
        env={"id": SCRIPTED},
        agents=[{"type": "oracle"}],
    )
    Experiment(settings(stream={"limit": 1})).play(tmp_path / "run")
    run = Experiment(settings()).play(tmp_path / "run")

    assert len(run.trajectories) == 3
    assert Run.load(tmp_path / "run").metrics().success_rate == 1.0


def test_the_first_prompt_is_what_the_agent_is_shown():
    settings = Settings(
        env={
            "id": SCRIPTED,
            "args": {"action_format": "tools"},
        },
        agents=[{"type": "oracle"}],
    )
    prompt = first_prompt(Experiment(settings))

    assert prompt.messages[-1] == {"role": "user", "content": "say 0"}
    assert prompt.tools[0]["function"]["name"] == "say"


# What is refused -----------------------------------------------------------------------


def test_a_file_that_is_not_there_or_not_toml(tmp_path, refused):
    with pytest.raises(UsageError, match=r"none.toml cannot be read: No such file"):
        load_experiment(tmp_path / "none.toml")
    assert " is not TOML: " in refused("[env\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": [env] is missing: an experiment needs it"),
        ("[env]\n[[agents]]\ntype='idle'\n", ": [env] needs the key 'id'"),
        ("[env]\nid = 5\n[[agents]]\ntype='idle'", ": [env] id must be a valid string, got 5"),
        ("[env]\nid = 'Database-v0'\n", ": [agents] is missing"),
        ("agents = []\n[env]\nid = 'Database-v0'\n", ": [agents] there must have at least 1 item"),
        (SMALL + "[[agents]]\nkeep = 1\n", ": [[agents]] 2 needs the key 'type'"),
        (SMALL + "[run]\nworker = 2\n", ": [run] has no key 'worker', did you mean 'workers'?"),
        (SMALL + "[run]\nzzz = 2\n", ": [run] has no key 'zzz'; there are output, workers"),
        (SMALL + "[runs]\nx = 2\n", ": there is no table [runs], did you mean 'run'?"),
        (SMALL + "[run]\nworkers = 0\n", ": [run] workers must be greater than or equal to 1"),
        (SMALL + "[run]\nretries = true\n", ": [run] retries must be a valid integer, got True"),
        (SMALL + "[stream]\nseed = 1.5\n", ": [stream] seed must be a valid integer, got 1.5"),
        (SMALL + "[stream]\nshard = [0, 2]\n", ": [stream] has no key 'shard'"),
        (SMALL + "[stream]\ntask_ids = ['x']\n", ": [stream]: task_ids names 'x'"),
        (SMALL + "[sweep]\n", ": [sweep]: sweeps are not there yet"),
        (
            SMALL.replace("[env]", "[[env]]\nid='a'\n[[env]]"),
            ": [[env]]: several environments in one stream are not there yet, got 2",
        ),
        (
            SMALL + "[run]\nattempts = 2\n[stream]\nattempts = 2\n",
            ": [run] attempts is also in [stream]",
        ),
        (SMALL + "[models]\nmain = 'x'\n", ": [models] main must be a valid dictionary, got 'x'"),
        (SMALL + "[run]\ncache = 'c'\n", ": [run] has a cache or a budget, but no model uses it"),
    ],
)
def test_what_is_wrong_is_named_with_its_table_and_key(refused, text, message):
    assert message in refused(text)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('id = "Databse-v0"', ": [env] id Databse-v0: "),
        ("args = { max_turn = 1 }", "has no argument 'max_turn'"),
        ('args = { max_turns = "x" }', ": [env] args.max_turns must be a valid integer"),
        (
            "args = { max_turns = 0 }",
            ": [env]: max_turns must be a whole number of at least 1, got 0",
        ),
        ('args = { tasks = "builtin" }', ": [env] args.tasks: the tasks are not an argument"),
        ('tasks = "nowhere"', ": [env]: no task source is called 'nowhere'"),
    ],
)
def test_an_environment_that_cannot_be_made(refused, line, message):
    kept = "" if line.startswith("id") else '\nid = "Database-v0"'

    assert message in refused(SMALL.replace('id = "Database-v0"', line + kept))


def test_a_malformed_task_stays_a_task_error(refused, tmp_path):
    (tmp_path / "bad.jsonl").write_text("{}\n")

    refused(SMALL.replace('v0"\n', 'v0"\ntasks = "bad.jsonl"\n'), kind=TaskError)


@pytest.mark.parametrize(
    ("wrapper", "message"),
    [
        ('type = "Nope"', ": [[wrappers]] 1, type must be one of RecordTrajectory, TaskStream or"),
        ('type = "TaskStream"', "type TaskStream stands in every stack: write its arguments in"),
        ('type = "lifelong_gym.baselines:OracleAgent"', "is an agent: write it under [[agents]]"),
        ('type = "no_module:X"', "1, type='no_module:X' cannot be imported"),
        ('type = "plugin_beside:function"', "1, type must be a gymnasium.Wrapper, got plugin"),
        ('type = "plugin_beside:Note"', "1 plugin_beside:Note needs an argument 'note'"),
        (
            'type = "plugin_beside:Note"\nnotes = 1',
            "1, notes: plugin_beside:Note has no argument 'notes'; its arguments are note, numbers",
        ),
        ('type = "RecordTrajectory"\nkeep = -1', "1 (RecordTrajectory): keep must be at least 0"),
    ],
)
def test_a_wrapper_that_cannot_be_made(refused, wrapper, message):
    assert message in refused(more=f"[[wrappers]]\n{wrapper}\n")


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ('type = "Nope"', ": [[agents]] 1, type must be one of IdleAgent,"),
        ('type = "RecordTrajectory"', ": [[agents]] 1, type must be one of IdleAgent,"),
        ('type = "plugin_beside:Note"\nnote = 1', "is no agent (a subclass of lifelong_gym.Agent)"),
        ('type = "scripted"\nactions = "none.json"', "none.json cannot be read"),
        ('type = "scripted"', "1 scripted needs an argument 'actions'"),
        ('type = "plugin_beside:Says"\nstyle = { a = 1 }', "(plugin_beside:Says): style: "),
        (
            'type = "plugin_beside:Asking"',
            "1 needs a model called 'main', but there is no model: add a table [models.main]",
        ),
    ],
)
def test_an_agent_that_cannot_be_made(refused, agent, message):
    assert message in refused(SMALL.replace('type = "oracle"', agent))


def test_a_stack_that_remembers_is_not_played_by_workers(write):
    more = '[[wrappers]]\ntype = "plugin_beside:Remembers"\nnote = "a"\n[run]\nworkers = 2\n'

    with pytest.raises(UsageError, match="Remembers remembers from task to task"):
        load_experiment(write(more=more)).play()


# Models --------------------------------------------------------------------------------


@pytest.fixture
def models():
    return pytest.importorskip("lifelong_gym.models", reason="this version has no models")


@pytest.mark.usefixtures("models")
def test_a_model_of_a_file_and_of_an_option_make_the_same_settings(write, tmp_path):
    (tmp_path / "replies.json").write_text('["hello"]')
    more = '[models.main]\nprovider = "scripted"\nmodel = "./replies.json"\ntemperature = 0.5\n'
    file = write(SMALL.replace("oracle", "llm"), more)
    reference = f"main=scripted:{tmp_path}/replies.json?temperature=0.5"
    typed = Settings(env={"id": "Database-v0"}, agents=[{"type": "llm"}], models=(reference,))

    assert describe(made(file)) == describe(Experiment(typed).stack())


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('model = "m"', "needs the key 'provider'"),
        ('provider = "nope"\nmodel = "m"', "no provider is called 'nope'"),
        ('provider = "openai"\nmodel = "m"\nzzz = 1', "has no setting 'zzz'"),
    ],
)
def test_a_model_that_cannot_be_made(refused, table, message):
    found = refused(SMALL.replace("oracle", "llm"), f"[models.main]\n{table}\n")

    assert found.startswith(": [models]: ")
    assert message in found


@pytest.mark.usefixtures("models")
def test_a_budget_pauses_the_run_and_workers_share_it(write, tmp_path):
    from lifelong_gym.experiments.models import closing_models, open_models
    from lifelong_gym.models import Sampling

    (tmp_path / "replies.json").write_text('["hello"]')
    text = SMALL.replace("oracle", "llm").replace("Database-v0", SCRIPTED)
    more = '[models.main]\nprovider = "scripted"\nmodel = "./replies.json"\n'
    more += '[run]\nbudget_tokens = 1\noutput = "out"\ncache = "replies.sqlite"\n'
    experiment = load_experiment(write(text, more))

    with pytest.raises(RunPaused):
        experiment.play()
    assert (tmp_path / "replies.sqlite").exists()
    with (
        closing_models(open_models(experiment.settings, experiment.source, share=4)) as pool,
        pytest.raises(RunPaused, match="the budget of 1 "),
    ):
        pool["main"].generate([[{"role": "user", "content": "more"}]], sampling=Sampling())


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(("cache", "tokens"), [("", 25), ('cache = "c.sqlite"', 100)])
def test_workers_have_parts_of_a_budget_or_share_it_through_the_cache(
    write, tmp_path, cache, tokens
):
    from lifelong_gym.experiments.models import budget_of

    (tmp_path / "replies.json").write_text('["hello"]')
    more = '[models.main]\nprovider = "scripted"\nmodel = "./replies.json"\n'
    more += f'[run]\nbudget_tokens = 100\noutput = "out"\n{cache}\n'
    experiment = load_experiment(write(SMALL.replace("oracle", "llm"), more))

    assert budget_of(experiment.settings.run, workers=4).tokens == tokens
