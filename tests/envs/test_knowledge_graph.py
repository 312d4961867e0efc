"""KnowledgeGraph: rules, variables, errors, forms, and what no reply may do to it."""

from __future__ import annotations

import json
import pickle

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

from lifelong_gym.backends.graph import ActionTimeout, Deadline, open_graph
from lifelong_gym.backends.graph.builtin import NAMES
from lifelong_gym.envs.knowledge_graph import KnowledgeGraphEnv, make_knowledge_graph_env
from lifelong_gym.errors import BackendError, UsageError
from lifelong_gym.runs import validate_tasks
from lifelong_gym.tasks import KnowledgeGraphTask
from lifelong_gym.tools import tool_call

STARRING = "film.film.starring"
FILMS = "film.actor.films"
TASK = KnowledgeGraphTask(
    id="cast",
    instruction="Who plays in both?",
    entities=[{"name": NAMES[i], "id": i} for i in ("m.f01", "m.f12", "m.f06", "m.g2", "m.h1")],
    actions=["get_relations(m.f01)"],
    answer=["m.p3"],
)
ONE, OTHER = NAMES["m.f01"], NAMES["m.f12"]


def made(task=TASK, graph=None, **settings):
    return KnowledgeGraphEnv([task], graph or open_graph("builtin"), **settings)


@pytest.fixture
def env():
    env = made()
    env.reset()
    return env


def say(env, *actions):
    """Sends actions and returns the last observation."""
    return [env.step(f"Action: {action}")[0] for action in actions][-1]


def walk(env, *names, relation=STARRING):
    """Makes a variable of each entity's cast."""
    for name in names:
        say(env, f"get_relations({name})", f"get_neighbors({name}, {relation})")


# The walk ----------------------------------------------------------------------------------


def test_the_question_comes_with_the_names_of_its_entities():
    observation, info = made().reset()

    assert f"Question: Who plays in both?\nEntities: ['{ONE}', '{OTHER}'" in observation
    assert info["max_turns"] == 15
    assert "m.f01" not in observation


def test_relations_are_listed_in_full_and_sorted(env):
    assert say(env, f"get_relations({ONE})") == (
        f"get_relations({ONE}) executes successfully. Observation: [film.film.cinemas, "
        "film.film.country, film.film.directed_by, film.film.genre, film.film.starring]"
    )


def test_neighbors_are_a_variable_of_name_type_and_size(env):
    say(env, f"get_relations({ONE})")

    assert say(env, f"get_neighbors({ONE}, {STARRING})") == (
        f"get_neighbors({ONE}, {STARRING}) executes successfully. Observation: "
        "Variable #0, which are instances of people.person (2 entities)"
    )


def test_a_walk_ends_in_the_right_answer(env):
    walk(env, ONE, OTHER)
    assert "Variable #2, which are instances of people.person (1 entity)" in say(
        env, "intersection(#0, #1)"
    )
    *_, reward, terminated, truncated, info = env.step("Final Answer: #2")

    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["success"] is True
    assert info["grading"]["f1"] == 1.0


def test_a_wrong_set_has_precision_and_recall(env):
    walk(env, ONE)
    *_, reward, terminated, _, info = env.step("Final Answer: #0")

    assert (reward, terminated, info["success"]) == (0.0, True, False)
    assert info["grading"]["precision"] == 0.5
    assert info["grading"]["recall"] == 1.0
    assert info["grading"]["f1"] == pytest.approx(2 / 3)


def test_counting_gives_a_number(env):
    walk(env, ONE)

    assert "Variable #1, which is a number: 2" in say(env, "count(#0)")


def test_extremes_hold_all_that_tie(env):
    walk(env, ONE)
    listed = say(env, "get_attributes(#0)")
    largest = say(env, "argmax(#0, people.person.height_meters)")

    assert listed.endswith("[people.person.height_meters]")
    assert "Variable #1, which are instances of people.person (2 entities)" in largest
    assert "(2 entities)" in say(env, "argmin(#0, people.person.height_meters)")


def test_every_variable_says_in_info_which_sparql_defines_it(env):
    say(env, f"get_relations({ONE})")
    info = env.step(f"Action: get_neighbors({ONE}, {STARRING})")[-1]

    assert info["variable"]["name"] == "#0"
    assert info["variable"]["size"] == 2
    assert info["variable"]["sparql"].startswith("SELECT DISTINCT ?x WHERE { <http://rdf.free")
    found = open_graph("builtin").select(info["variable"]["sparql"])
    assert found == {"m.p2", "m.p3"}


def test_render_shows_the_variables_with_some_members_and_their_sparql():
    env = made(render_mode="ansi")
    env.reset()
    walk(env, ONE)

    assert "Bo Lind, Jr. m.p2" in env.render()
    assert "SELECT DISTINCT ?x" in env.render()


# What it answers to mistakes ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (f"get_neighbors({ONE}, {STARRING})", f"execute get_relations for {ONE} before"),
        ("get_relations(Nobody)", "'Nobody' is neither a Variable nor an entity"),
        ("get_relations(#0)", "Variable #0 is not found in variable list"),
        ("get_relations(#-1)", "Variable #-1 is not found"),
        ("get_relations(#\uff10)", "Variable #\uff10 is not found"),
        ("get_relations(\uff030)", "Variable \uff030 is not found"),
        ("get_relations(#99999999999999)", "is not found"),
        (f"get_relations({ONE}, {OTHER})", "get_relations requires 1 argument (argument), but 2"),
        ("get_relations()", "get_relations requires 1 argument (argument), but 0 arguments are"),
        ("intersection(#0)", "requires 2 arguments (first, second), but 1 argument is"),
        (f"intersection({ONE}, {OTHER})", "is not a Variable"),
        (f"count({ONE})", f"count: {ONE} is not a Variable"),
        ("union(#0, #1)", "Unknown action: union. Available actions: [get_relations,"),
        ("final_answer(#0)", "Unknown action: final_answer"),
        ("__init__(#0)", "Unknown action"),
    ],
)  # fmt: skip
def test_a_mistake_is_an_observation_and_costs_a_turn(env, action, message):
    observation, reward, terminated, truncated, info = env.step(f"Action: {action}")

    assert message in observation
    assert observation.startswith("Error in executing")
    assert "m.f01" not in observation
    assert (reward, terminated, truncated, info["turn"]) == (0.0, False, False, 1)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("get_neighbors(#0, film.none)", "film.none is not a relation of #0. #0 has the following"),
        ("argmax(#0, people.person.height_meters)", "use get_attributes to get attributes of #0"),
        ("get_relations(#1)", "#1 is not found in variable list. Current variable list: [#0]"),
    ],
)  # fmt: skip
def test_a_mistake_about_a_variable_says_what_there_is(env, action, message):
    walk(env, ONE)
    say(env, "get_relations(#0)")

    assert message in say(env, action)


def test_an_attribute_that_was_not_listed_is_refused(env):
    walk(env, ONE)
    say(env, "get_attributes(#0)")

    assert "film.none is not an attribute of #0" in say(env, "argmin(#0, film.none)")


@pytest.mark.parametrize("final", ["count(#0)", "argmax(#0, people.person.height_meters)"])
@pytest.mark.parametrize(
    "action",
    ["get_relations(#1)", "get_neighbors(#1, x)", "intersection(#0, #1)", "count(#1)",
     "get_attributes(#1)", "argmin(#1, x)"],
)  # fmt: skip
def test_what_count_and_extremes_give_can_only_be_the_final_answer(env, final, action):
    walk(env, ONE)
    say(env, "get_attributes(#0)", final)
    observation = say(env, action)

    assert "it can only be used as final answer" in observation
    assert "Variables that actions can use: [#0]" in observation


def test_variables_of_different_types_do_not_intersect(env):
    walk(env, ONE)
    walk(env, NAMES["m.h1"], relation="film.cinema.shows")

    assert (
        "two variables must have the same type, but #0 are instances of people.person and "
        "#1 are instances of film.film" in say(env, "intersection(#0, #1)")
    )


def test_an_empty_set_can_be_the_right_answer():
    env = made(TASK.model_copy(update={"answer": ()}))
    env.reset()
    walk(env, ONE, NAMES["m.f06"])
    assert "(0 entities)" in say(env, "intersection(#0, #1)")
    assert say(env, "get_relations(#2)").endswith("Observation: []")

    assert env.step("Final Answer: #2")[-1]["success"] is True


def test_equal_variables_share_what_was_listed(env):
    walk(env, ONE, ONE)
    say(env, "get_relations(#0)")

    assert "Variable #2" in say(env, f"get_neighbors(#1, {FILMS})")


def test_no_answer_is_a_lost_episode():
    env = made(max_turns=1)
    env.reset()
    *_, terminated, truncated, info = env.step(f"Action: get_relations({ONE})")

    assert (terminated, truncated) == (False, True)
    assert info["status"] == "turn_limit"
    assert info["grading"]["reason"] == "no answer was submitted"


def test_a_final_answer_that_is_no_variable_is_an_observation(env):
    walk(env, ONE)
    for answer in ("#1", "#-1", "#\uff10", "# x"):
        observation, *_, info = env.step(f"Final Answer: {answer}")
        assert "is not found in variable list" in observation
        assert info["status"] == "running"


# Reading replies ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        "Final Answer: #0",
        "**Final Answer:** #0",
        "Final answer:#0.",
        "The two are right.\nFinal Answer: Variable #0",
        "Final Answer: var #0",
        "Final Answer: `#0`",
        "Final Answer： #0",
        "I am sure. Final Answer: #0",
    ],
)
def test_a_final_answer_is_read_however_it_is_dressed(env, reply):
    walk(env, ONE)

    assert env.step(reply)[-1]["status"] == "completed"


@pytest.mark.parametrize(
    "reply",
    [
        f"Action: get_relations( {ONE} )",
        f'Action: get_relations("{ONE}")',
        f"Action: `get_relations({ONE})`",
        f"- **Action: get_relations({ONE})**",
        f"Action: Get_Relations ({ONE})",
        f"I think\nAction: get_relations({ONE}) and then\nFinal Answer: #0",
        f"<think>Final Answer: #0</think>Action: get_relations({ONE})",
        f"Later I will say Final Answer: #0.\nAction: get_relations({ONE})",
        f"Action: get_relations({ONE})\nObservation: []\nFinal Answer: #0",
        "Action: get_relations(m.f01)",
    ],
)
def test_an_action_is_read_however_it_is_dressed(env, reply):
    observation, _, terminated, _, _ = env.step(reply)

    assert "executes successfully. Observation: [film.film.cinemas," in observation
    assert not terminated


@pytest.mark.parametrize(
    "reply", ["", "get_relations(x)", "Action: get_relations", "Action: get_relations(x",
              "Final Answer: none", "Final Answer: m.p3", "Action: (x)"]
)  # fmt: skip
def test_a_reply_without_an_action_forfeits(env, reply):
    *_, reward, terminated, _, info = env.step(reply)

    assert (reward, terminated, info["status"]) == (0.0, True, "invalid_action")
    assert info["success"] is False


@pytest.mark.parametrize("name", NAMES.values())
def test_an_entity_of_any_name_can_be_named(name):
    entity_id = next(i for i, n in NAMES.items() if n == name)
    entities = [{"name": n, "id": i} for i, n in NAMES.items()]
    env = made(TASK.model_copy(update={"entities": TASK.model_validate(
        {**TASK.model_dump(), "entities": entities}).entities}))  # fmt: skip
    env.reset()

    observation = say(env, f"get_relations({name})")
    expected = open_graph("builtin")
    soon = Deadline(10)
    relations = expected.relations(expected.entity(entity_id, soon), soon)
    assert observation.endswith(f"Observation: [{', '.join(relations)}]")


def test_the_longest_name_that_fits_is_meant(env):
    assert f"get_relations for {ONE} before" in say(env, f"get_neighbors({ONE}, x)")
    assert f"get_relations for {OTHER} before" in say(env, f"get_neighbors({OTHER}, x)")


def test_an_action_whose_parenthesis_only_a_name_closes_is_a_mistake(env):
    assert "the closing parenthesis is missing" in say(env, f"get_relations({ONE}")


# The forms of the contract ------------------------------------------------------------------


def test_check_env_finds_nothing():
    check_env(gym.make("lifelong_gym/KnowledgeGraph-v0").unwrapped, skip_render_check=True)


@pytest.mark.parametrize("action_format", ["text", "tools"])
def test_every_builtin_task_is_sound(action_format):
    env = gym.make("lifelong_gym/KnowledgeGraph-v0", action_format=action_format)

    assert [finding for finding in validate_tasks(env) if not finding.is_valid] == []


def test_the_spec_rebuilds_the_environment():
    env = gym.make("lifelong_gym/KnowledgeGraph-v0", tasks="builtin?limit=3", graph="builtin")
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))

    assert again.unwrapped.task_set == env.unwrapped.task_set


def test_it_pickles_before_its_first_reset():
    env = pickle.loads(pickle.dumps(make_knowledge_graph_env()))

    assert env.reset(seed=1)[1]["task_id"]


def test_copies_in_other_processes_play_the_same():
    vec = gym.make_vec(
        "lifelong_gym/KnowledgeGraph-v0",
        num_envs=2,
        vectorization_mode="async",
        vector_kwargs={"shared_memory": False, "context": "spawn"},
    )
    observations, infos = vec.reset(seed=[3, 3])
    vec.close()

    assert observations[0] == observations[1]
    assert infos["task_id"][0] == infos["task_id"][1]


def test_tool_calls_walk_as_texts_do():
    env = made(action_format="tools")
    env.reset()
    env.step(tool_call("get_relations", {"argument": ONE}))
    found = env.step(tool_call("get_neighbors", {"relation": STARRING, "argument": ONE}))[0]
    answered = env.step(tool_call("final_answer", {"variable": "#0"}))[-1]

    assert "Variable #0, which are instances of people.person (2 entities)" in found
    assert answered["status"] == "completed"
    assert [tool["function"]["name"] for tool in env.tools][-1] == "final_answer"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (tool_call("union", {}), "there is no tool 'union'"),
        (tool_call("count", {}), "the argument 'variable' is missing"),
        (tool_call("count", {"variable": 7}), "the argument 'variable' is int"),
        (tool_call("count", {"variable": "#7"}), "Variable #7 is not found"),
    ],
)
def test_a_wrong_tool_call_is_an_observation(call, message):
    env = made(action_format="tools")
    env.reset()
    observation, _, terminated, _, _ = env.step(call)

    assert message in observation
    assert not terminated


def test_the_paper_s_reward_is_shaped_by_f1_on_request():
    env = made(reward_shaper="partial")
    env.reset()
    walk(env, ONE)

    assert env.step("Final Answer: #0")[1] == pytest.approx(2 / 3)


# The graph beneath ------------------------------------------------------------------------


class Broken:
    """A graph whose every action raises."""

    name, version = "broken", "1"

    def __init__(self, error):
        self.error, self.closed, self.is_broken = error, 0, False
        self._good = open_graph("builtin")

    def __getattr__(self, name):
        def method(*args, **kwargs):
            if self.is_broken:
                raise self.error
            return getattr(self._good, name)(*args, **kwargs)

        return method

    def close(self):
        self.closed += 1


def test_an_action_past_its_deadline_is_stopped_and_the_agent_told():
    graph = Broken(ActionTimeout("stopped after 10 s"))
    env = made(graph=graph)
    env.reset()
    graph.is_broken = True
    observation, _, terminated, _, info = env.step(f"Action: get_relations({ONE})")

    assert "stopped after 10 s: the set is too large" in observation
    assert (terminated, info["status"]) == (False, "running")


def test_a_graph_that_fails_is_let_go_and_the_next_reset_starts_afresh():
    graph = Broken(BackendError("gone"))
    env = made(graph=graph)
    env.reset()
    graph.is_broken = True
    with pytest.raises(BackendError, match="gone"):
        env.step(f"Action: get_relations({ONE})")
    assert graph.closed == 1

    graph.is_broken = False
    env.reset()
    assert "Observation: [film" in say(env, f"get_relations({ONE})")


def test_a_deadline_of_no_time_is_refused():
    with pytest.raises(UsageError, match="action_timeout_s must be above 0, got 0"):
        made(action_timeout_s=0)


def test_tasks_of_another_graph_are_refused_with_what_to_do():
    env = made(TASK.model_validate({**TASK.model_dump(), "entities": [{"name": "x", "id": "m.x"}]}))

    with pytest.raises(UsageError, match=r"the graph has none of m\.x"):
        env.reset()


def test_a_set_intersected_with_itself_again_and_again_costs_nothing():
    env = made(max_turns=500)
    env.reset()
    walk(env, ONE)
    for number in range(60):
        info = env.step(f"Action: intersection(#{number}, #{number})")[-1]

    assert "too many to write out" in info["variable"]["sparql"]
    assert "executes successfully" in say(env, "get_relations(#60)")
    json.dumps(info)


def test_observations_are_bounded_at_a_name():
    env = made(max_observation_bytes=170)
    env.reset()

    observation = say(env, f"get_relations({ONE})")
    assert len(observation.encode()) <= 170
    assert observation.endswith(" more]")


def test_half_a_character_in_a_tool_call_is_an_observation():
    env = gym.make("lifelong_gym/KnowledgeGraph-v0", action_format="tools")
    env.reset(options={"task_id": "festival/directors"})
    call = r'[{"function": {"name": "get_relations", "arguments": "{\"argument\": \"\\ud800\"}"}}]'
    observation, _, terminated, *_ = env.step(call)
    env.close()

    assert "neither a Variable nor an entity" in observation
    assert not terminated


def test_blanks_and_quotes_around_a_tools_argument_do_not_count():
    env = gym.make("lifelong_gym/KnowledgeGraph-v0", action_format="tools")
    env.reset(options={"task_id": "festival/directors"})
    name = env.unwrapped.task.entities[0].name
    seen = [
        env.step(tool_call("get_relations", {"argument": argument}))[0]
        for argument in (name, f" {name} ", f"'{name}'")
    ]
    env.close()

    assert "neither" not in seen[0]
    assert len(set(seen)) <= 2  # the observation names the entity as it was written
