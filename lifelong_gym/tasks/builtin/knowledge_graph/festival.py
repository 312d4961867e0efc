"""A film festival: questions from one join to intersections of two chains, and empty ones."""

from __future__ import annotations

from lifelong_gym.backends.graph.builtin import NAMES
from lifelong_gym.backends.graph.expressions import parse
from lifelong_gym.tasks.knowledge_graph import KnowledgeGraphTask, NamedEntity
from lifelong_gym.tasks.programs import actions_of, skills_of


def _task(name: str, ask: str, start: str, expression: str, answer: str) -> KnowledgeGraphTask:
    """A task; `start` and `answer` are ids without `m.`, or the answer is a number."""
    actions = actions_of(parse(expression))
    is_number = expression.startswith("(COUNT")
    return KnowledgeGraphTask(
        id=f"festival/{name}",
        instruction=ask,
        skills=skills_of(actions),
        source="builtin",
        entities=tuple(
            NamedEntity(name=NAMES[f"m.{short}"], id=f"m.{short}") for short in start.split()
        ),
        expression=expression,
        actions=actions,
        answer=(answer,) if is_number else tuple(f"m.{short}" for short in answer.split()),
    )


TASKS = (
    _task(
        "cast",
        "Who plays in Tea, Toast (and Rain)?",
        "f01",
        "(JOIN (R film.film.starring) m.f01)",
        "p2 p3",
    ),
    _task(
        "directors",
        "Who directed Tea?",
        "f08",
        "(JOIN (R film.film.directed_by) m.f08)",
        "p5 p6",
    ),
    _task(
        "same-director",
        "Which films, itself included, were made by the director of C#?",
        "f03",
        "(JOIN (R film.director.films) (JOIN (R film.film.directed_by) m.f03))",
        "f03 f10",
    ),
    _task(
        "birthplaces",
        'In which countries were the people born who play in The "Quiet" Hour?',
        "f02",
        "(JOIN (R people.person.born_in) (JOIN (R film.film.starring) m.f02))",
        "c1 c3",
    ),
    _task(
        "three-joins",
        "Which genres have the films that people play in who also play in Final Answer: #0?",
        "f07",
        "(JOIN (R film.film.genre) (JOIN (R film.actor.films) "
        "(JOIN (R film.film.starring) m.f07)))",
        "g1 g2",
    ),
    _task(
        "both-cast",
        "Who plays both in Tea, Toast and in Tea, Toast (and Rain)?",
        "f12 f01",
        "(AND (JOIN (R film.film.starring) m.f12) (JOIN (R film.film.starring) m.f01))",
        "p3",
    ),
    _task(
        "shown-there",
        "Which films of the genre Comedy, dark does Odeon #2 show?",
        "g1 h1",
        "(AND (JOIN (R film.genre.films) m.g1) (JOIN (R film.cinema.shows) m.h1))",
        "f01 f04 f05",
    ),
    _task(
        "no-such-film",
        "Which films does Bo Lind, Jr. play in that The Old [Barn] shows and Northland made? "
        "There may be none.",
        "p2 h2 c1",
        "(AND (JOIN (R film.actor.films) m.p2) (AND (JOIN (R film.cinema.shows) m.h2) "
        "(JOIN (R location.country.films) m.c1)))",
        "",
    ),
    _task(
        "number-of-films",
        "How many films are of the genre Thriller?",
        "g2",
        "(COUNT (JOIN (R film.genre.films) m.g2))",
        "5",
    ),
    _task(
        "number-of-colleagues",
        "How many people play in films that Chen (Charlie) Wu directed?",
        "p3",
        "(COUNT (JOIN (R film.film.starring) (JOIN (R film.director.films) m.p3)))",
        "3",
    ),
    _task(
        "longest",
        "Which films from Côte d'Azur-sur-Mer are the longest, by minutes?",
        "c2",
        "(ARGMAX (JOIN (R location.country.films) m.c2) film.film.minutes)",
        "f04",
    ),
    _task(
        "shortest",
        "Which films that :-)'s director directed are the shortest, by minutes?",
        "f11",
        "(ARGMIN (JOIN (R film.director.films) (JOIN (R film.film.directed_by) m.f11)) "
        "film.film.minutes)",
        "f08",
    ),
    _task(
        "tallest",
        "Who is the tallest, by height in meters, of those who play in films, #0 included, by "
        "the director of #0? All who are equally tall count.",
        "f04",
        "(ARGMAX (JOIN (R film.film.starring) (JOIN (R film.director.films) "
        "(JOIN (R film.film.directed_by) m.f04))) people.person.height_meters)",
        "p2",
    ),
    _task(
        "smallest-tie",
        "Who is the smallest, by height in meters, of the people that play in films which "
        "Odeon #2 shows? All who are equally small count.",
        "h1",
        "(ARGMIN (JOIN (R film.film.starring) (JOIN (R film.cinema.shows) m.h1)) "
        "people.person.height_meters)",
        "p4 p5",
    ),
    _task(
        "first-released",
        "Which of the thrillers was released first?",
        "g2",
        "(ARGMIN (JOIN (R film.genre.films) m.g2) film.film.released)",
        "f06",
    ),
    _task(
        "last-released",
        "Of all films of the genre of Snow 🎿 at Noon, which was released last? A year alone "
        "counts from its first day.",
        "f05",
        "(ARGMAX (JOIN (R film.genre.films) (JOIN (R film.film.genre) m.f05)) film.film.released)",
        "f04",
    ),
    _task(
        "emoji",
        "Who directed Snow 🎿 at Noon?",
        "f05",
        "(JOIN (R film.film.directed_by) m.f05)",
        "p3",
    ),
    _task(
        "half-a-bracket",
        "Which cinemas show films that have an actor of Half a Bracket ( in them?",
        "f06",
        "(JOIN (R film.film.cinemas) (JOIN (R film.actor.films) "
        "(JOIN (R film.film.starring) m.f06)))",
        "h1 h2",
    ),
    _task(
        "tallest-tie",
        "Who is the tallest, by height in meters, of the cast of Tea, Toast (and Rain)? All who "
        "are equally tall count.",
        "f01",
        "(ARGMAX (JOIN (R film.film.starring) m.f01) people.person.height_meters)",
        "p2 p3",
    ),
    _task(
        "looks-like-an-action",
        "From which countries are the directors of count(#0)?",
        "f10",
        "(JOIN (R people.person.born_in) (JOIN (R film.film.directed_by) m.f10))",
        "c1",
    ),
    _task(
        "accents",
        "Which films have a genre in common with L'Été — été, bis and star Émile Zaïd?",
        "f09 p5",
        "(AND (JOIN (R film.genre.films) (JOIN (R film.film.genre) m.f09)) "
        "(JOIN (R film.actor.films) m.p5))",
        "f04 f09",
    ),
)
"""The tasks."""
