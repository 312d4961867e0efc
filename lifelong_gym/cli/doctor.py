"""`lifelong-gym doctor`."""

from __future__ import annotations

import dataclasses
import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from lifelong_gym.cli.console import show, table, write
from lifelong_gym.cli.failures import FOUND
from lifelong_gym.cli.options import examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lifelong_gym.diagnosis import Check, Finding

EXAMPLES = examples(
    "doctor",
    "doctor --database mysql://root:secret@127.0.0.1:3306",
    "doctor --format json | jq '.[] | select(.works | not) | .fix'",
)


class DoctorFormat(StrEnum):
    """`doctor --format`."""

    table = "table"
    json = "json"


def doctor(
    format: Annotated[DoctorFormat, typer.Option(help="How to write it.")] = DoctorFormat.table,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Check this server of yours as well.", show_default=False),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if anything does not work.")
    ] = False,
) -> None:
    """Say what works on this machine.

    Each driver is started and stopped again. Where one does not work, the reason and the
    command that would help are shown. One working database is enough.
    """
    from lifelong_gym.diagnosis import diagnose

    findings = list(diagnose(_checks(database)))
    if format is DoctorFormat.json:
        write(json.dumps([dataclasses.asdict(one) for one in findings], indent=2))
    else:
        _show(findings)
    if strict and not all(finding.works for finding in findings):
        raise typer.Exit(FOUND)


def _checks(database: str | None) -> Iterator[Check]:
    from lifelong_gym.diagnosis import checks

    yield from checks()
    if database is not None:
        from lifelong_gym.diagnosis.databases import database_check

        yield database_check(database)


def _show(findings: Sequence[Finding]) -> None:
    rows = table("", "driver", "", "seconds", "version, or what is missing")
    for one in findings:
        told = one.version if one.works else one.problem
        state = "OK" if one.works else "missing"
        rows.add_row(one.group, one.name, state, f"{one.seconds:.2f}", told)
    show(rows)
    fixes = dict.fromkeys((one.name, one.fix) for one in findings if one.fix)
    if fixes:
        write("To make the rest work:")
    for name, fix in fixes:
        write(f"  {fix}   # {name}")
