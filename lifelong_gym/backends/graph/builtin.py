"""The graph that comes with the package: the films of a small festival, all invented.

Names are as awkward as names get: commas, parentheses that do not close, quotes, `#`, emoji,
one that looks like an action and one that looks like a final answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from lifelong_gym.backends.graph.sources import Triple
from lifelong_gym.backends.graph.terms import NAME_PREDICATES, TYPE_PREDICATES, XSD, Literal

NAMES = {
    "m.f01": "Tea, Toast (and Rain)",
    "m.f02": 'The "Quiet" Hour',
    "m.f03": "C#",
    "m.f04": "#0",
    "m.f05": "Snow 🎿 at Noon",
    "m.f06": "Half a Bracket (",
    "m.f07": "Final Answer: #0",
    "m.f08": "Tea",
    "m.f09": "L'Été — été, bis",
    "m.f10": "count(#0)",
    "m.f11": ":-)",
    "m.f12": "Tea, Toast",
    "m.p1": "Ines O'Hara",
    "m.p2": "Bo Lind, Jr.",
    "m.p3": "Chen (Charlie) Wu",
    "m.p4": "Dana #4 Ruiz",
    "m.p5": "Émile Zaïd",
    "m.p6": "Faye",
    "m.g1": "Comedy, dark",
    "m.g2": "Thriller",
    "m.g3": "Documentary (short)",
    "m.c1": "Northland",
    "m.c2": "Côte d'Azur-sur-Mer",
    "m.c3": "South & East",
    "m.h1": "Odeon #2",
    "m.h2": "The Old [Barn]",
    "m.h3": "Empty House",
}
"""Id to name; the letter says the type."""

_TYPES = {
    "f": "film.film",
    "p": "people.person",
    "g": "film.genre",
    "c": "location.country",
    "h": "film.cinema",
}

# Film, directors, cast, genres, country, minutes, day or year of its release.
_FILMS = (
    ("f01", "p1", "p2 p3", "g1", "c1", "95", "2019-03-02"),
    ("f02", "p1", "p1 p4", "g2", "c1", "128", "2021"),
    ("f03", "p2", "p5", "g3", "c2", "41", "2018-11-30"),
    ("f04", "p3", "p2 p5", "g1 g2", "c2", "128", "2021-01-01"),
    ("f05", "p3", "p4", "g1", "c3", "88", "2020-06-15"),
    ("f06", "p4", "p4 p6", "g2", "c3", "110", "2017"),
    ("f07", "p4", "p3", "g2", "c1", "99", "2022-02-22"),
    ("f08", "p5 p6", "p6", "g3", "c1", "12", "2015-05-05"),
    ("f09", "p5", "p1 p5", "g1", "c2", "101", "2016-07-14"),
    ("f10", "p2", "p3 p6", "g2", "c2", "7", "2023"),
    ("f11", "p6", "p2", "g1", "c3", "64", "2014-04-01"),
    ("f12", "p1", "p3 p4", "g1", "c1", "95", "2018-11-30"),
)
_HEIGHTS = {"p1": "1.71", "p2": "1.880", "p3": "1.88", "p4": "1.60", "p5": "1.6", "p6": "1.79"}
_BORN_IN = {"p1": "c1", "p2": "c1", "p3": "c2", "p4": "c3", "p5": "c2", "p6": "c3"}
_SHOWS = {"h1": "f01 f02 f04 f05 f10", "h2": "f03 f08 f09 f11 f02"}
_SEATS = {"h1": "220", "h2": "90", "h3": "0090"}

_REVERSES = {
    "film.film.directed_by": "film.director.films",
    "film.film.starring": "film.actor.films",
    "film.film.genre": "film.genre.films",
    "film.film.country": "location.country.films",
    "people.person.born_in": "location.country.people",
    "film.cinema.shows": "film.film.cinemas",
}
"""Relation to the one that leads back: the graph has both directions of each."""


def triples() -> Iterator[Triple]:
    """The triples of the graph."""
    for entity_id, name in NAMES.items():
        yield entity_id, TYPE_PREDICATES[1], _TYPES[entity_id[2]]
        yield entity_id, NAME_PREDICATES[1], Literal(name)
    for subject, relation, target in _facts():
        yield subject, relation, target
        yield target, _REVERSES[relation], subject
    yield from _values()


def _facts() -> Iterator[tuple[str, str, str]]:
    for film, directors, cast, genres, country, _, _ in _FILMS:
        for relation, targets in (
            ("film.film.directed_by", directors),
            ("film.film.starring", cast),
            ("film.film.genre", genres),
            ("film.film.country", country),
        ):
            for target in targets.split():
                yield f"m.{film}", relation, f"m.{target}"
    for person, country in _BORN_IN.items():
        yield f"m.{person}", "people.person.born_in", f"m.{country}"
    for cinema, films in _SHOWS.items():
        for film in films.split():
            yield f"m.{cinema}", "film.cinema.shows", f"m.{film}"


def _values() -> Iterator[Triple]:
    for film, *_, minutes, released in _FILMS:
        yield f"m.{film}", "film.film.minutes", Literal(minutes, XSD + "integer")
        datatype = XSD + ("gYear" if len(released) == 4 else "date")
        yield f"m.{film}", "film.film.released", Literal(released, datatype)
    for person, height in _HEIGHTS.items():
        yield f"m.{person}", "people.person.height_meters", Literal(height, XSD + "decimal")
    for cinema, seats in _SEATS.items():
        yield f"m.{cinema}", "film.cinema.seats", Literal(seats, XSD + "integer")
    # An ill-typed value takes no part: the shortest film is another.
    yield "m.f11", "film.film.minutes", Literal("very short", XSD + "integer")
