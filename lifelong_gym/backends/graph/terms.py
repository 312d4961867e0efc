"""Ids and IRIs, literals, and the predicates that describe a graph instead of being in it.

An id is what tasks, agents and TSV files say: `m.03fwl`, `food.cheese.milk`. In RDF it is
the IRI `http://rdf.freebase.com/ns/m.03fwl`; any other IRI is an id as it stands. Blank
nodes have no id and take no part.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote

NAMESPACE = "http://rdf.freebase.com/ns/"
XSD = "http://www.w3.org/2001/XMLSchema#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"

STRING = XSD + "string"
LANG_STRING = _RDF + "langString"

TYPE_PREDICATES = (_RDF + "type", "type.object.type")
"""What says of which types an entity is."""

NAME_PREDICATES = (_RDFS + "label", "type.object.name")
"""What says how an entity is called."""

RANGE_PREDICATES = (_RDFS + "range", "type.property.expected_type")
"""What says of which type the objects of a relation are."""

SCHEMA_PREDICATES = frozenset((*TYPE_PREDICATES, *NAME_PREDICATES, *RANGE_PREDICATES))
"""What describes the graph: neither a relation nor an attribute to an agent."""

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_UNSAFE = re.compile(r"(?:%(?![0-9A-Fa-f]{2}))|[^A-Za-z0-9._~!$&'()*+,;=@:/%-]")


class Literal(NamedTuple):
    """A value of an attribute.

    Attributes:
        text: Its lexical form.
        datatype: The IRI of its type.
        language: Its language tag; empty where it has none.
    """

    text: str
    datatype: str = STRING
    language: str = ""


def iri(entity_id: str) -> str:
    """The IRI of an id; what no IRI may hold is percent-encoded, so it is always safe.

    Examples:
        >>> iri("m.03fwl"), iri("http://example.org/a#b")
        ('http://rdf.freebase.com/ns/m.03fwl', 'http://example.org/a#b')
        >>> iri("a> <b")
        'http://rdf.freebase.com/ns/a%3E%20%3Cb'
    """
    if _ABSOLUTE.match(entity_id):
        return "#".join(
            "?".join(map(_encoded, part.split("?"))) for part in entity_id.split("#", 1)
        )
    return NAMESPACE + _encoded(entity_id)


def _encoded(text: str) -> str:
    return _UNSAFE.sub(
        lambda found: found[0] if _is_legal(found[0]) else quote(found[0], safe=""), text
    )


def _is_legal(character: str) -> bool:
    """Whether a character that is not ASCII may stand in an IRI (`ucschar` of RFC 3987)."""
    code = ord(character)
    if code < 0x10000:
        return 0xA0 <= code <= 0xD7FF or 0xF900 <= code <= 0xFDCF or 0xFDF0 <= code <= 0xFFEF
    return code <= 0xEFFFD and code & 0xFFFF <= 0xFFFD and not 0xE0000 <= code < 0xE1000


def id_of(address: str) -> str:
    """The id of an IRI.

    Examples:
        >>> id_of("http://rdf.freebase.com/ns/m.03fwl"), id_of("urn:x")
        ('m.03fwl', 'urn:x')
    """
    if address.startswith(NAMESPACE):
        tail = address[len(NAMESPACE) :]
        if tail and not _ABSOLUTE.match(tail):
            return tail
    return address


def normal_id(text: str) -> str:
    """An id as the graph spells it: what `id_of(iri(text))` is.

    Examples:
        >>> normal_id("New York")
        'New%20York'
    """
    return id_of(iri(text))


_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+")
_ZONE = r"(?:Z|[+-][0-9]{2}:[0-9]{2})?"
_DATE = re.compile(rf"-?[0-9]{{4,}}-[0-9]{{2}}-[0-9]{{2}}{_ZONE}")
_DATE_TIME = re.compile(
    rf"-?[0-9]{{4,}}-[0-9]{{2}}-[0-9]{{2}}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:\.[0-9]+)?{_ZONE}"
)
_MONTH = re.compile(r"-?[0-9]{4,}-[0-9]{2}")
_FORMS = (
    (_INTEGER, "integer"),
    (_DECIMAL, "decimal"),
    (_DOUBLE, "double"),
    (_DATE_TIME, "dateTime"),
    (_DATE, "date"),
    (_MONTH, "gYearMonth"),
)


def typed(text: str) -> Literal:
    """A value of a TSV file, typed by how it parses: a number, a date, else a text.

    A year alone is a number.

    Examples:
        >>> typed("12").datatype[-7:], typed("1969-07-20").datatype[-4:]
        ('integer', 'date')
    """
    for form, name in _FORMS:
        if form.fullmatch(text):
            return Literal(text, XSD + name)
    return Literal(text)
