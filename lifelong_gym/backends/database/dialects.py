"""What differs between the servers that speak MySQL, so that each acts as MySQL 8 does.

Every connection that runs a task's statements gets the same session: MySQL 8's defaults,
and a clock and a random generator that stand still, so that an episode can be replayed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from lifelong_gym.backends.database import refusals, rewrites

CLOCK = 1_735_689_600
"""What `NOW()` is in every session: 2025-01-01 00:00:00 UTC, as a Unix timestamp."""

SQL_MODE = ",".join(
    (
        "ONLY_FULL_GROUP_BY",
        "STRICT_TRANS_TABLES",
        "NO_ZERO_IN_DATE",
        "NO_ZERO_DATE",
        "ERROR_FOR_DIVISION_BY_ZERO",
        "NO_ENGINE_SUBSTITUTION",
    )
)
"""MySQL 8's default."""

_COMMON = (
    f"sql_mode='{SQL_MODE}'",
    "group_concat_max_len=1024",
    "time_zone='+00:00'",
    "lc_time_names='en_US'",
    f"timestamp={CLOCK}",
)
_SEEDS = ("rand_seed1=20250101", "rand_seed2=31415926")
_REFUSALS = (refusals.refuse_empty, refusals.refuse_xa)
_PRIVILEGES = (
    "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER, REFERENCES, LOCK TABLES, "
    "CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE, TRIGGER"
)


@dataclass(frozen=True)
class Dialect:
    """How to talk to one product.

    Attributes:
        product: Its name, as people write it.
        version: Its version's number.
        collation: The collation closest to MySQL 8's `utf8mb4_0900_ai_ci`.
        settings: Assignments for `SET`, for every session.
        limit: The assignment that limits a statement, with `{seconds:g}`,
            `{milliseconds}` or `{microseconds}`.
        judge_limit: The assignments that limit the judge's statements and its waits.
        privileges: What an agent's account may do in its own database.
        rewrite: Makes a statement mean here what it means in MySQL 8.
        refusals: Raise QueryError for what MySQL 8 refuses and this server runs.
    """

    product: str
    version: str
    collation: str
    settings: tuple[str, ...]
    limit: str
    judge_limit: str
    privileges: str
    rewrite: Callable[[str], str] = str
    refusals: tuple[Callable[[str], None], ...] = _REFUSALS

    def session(self, limit_s: float) -> str:
        """The statement that prepares a session for a task's statements."""
        return f"{self.limited(limit_s)}, " + ", ".join(self.settings)

    def limited(self, limit_s: float) -> str:
        """The statement that limits how long each later one of a session may run."""
        return "SET " + self.limit.format(
            seconds=limit_s,
            milliseconds=max(1, round(limit_s * 1e3)),
            microseconds=max(1, round(limit_s * 1e6)),
        )

    def judge_session(self) -> str:
        """The statement that prepares the connection that sets up and judges."""
        return "SET " + ", ".join((*self.settings, self.judge_limit))


def dialect_of(version: str) -> Dialect:
    """The dialect of a server whose `VERSION()` is `version`.

    Examples:
        >>> dialect_of("10.11.19-MariaDB-0+deb12u1").collation
        'utf8mb4_uca1400_nopad_ai_ci'
        >>> dialect_of("8.0.36").product
        'MySQL'
    """
    if found := re.search(r"seekdb-v([\d.]+)", version):
        return _seekdb(found[1])
    if found := re.search(r"([\d.]+)-MariaDB", version):
        return _mariadb(found[1])
    number = re.match(r"[\d.]+", version)
    return _mysql(number[0] if number else version)


def _mysql(version: str) -> Dialect:
    return Dialect(
        product="MySQL",
        version=version,
        collation="utf8mb4_0900_ai_ci" if _number(version) >= (8, 0) else "utf8mb4_general_ci",
        settings=(*_COMMON, *_SEEDS),
        limit="max_execution_time={milliseconds}",
        judge_limit="max_execution_time=60000, lock_wait_timeout=1, innodb_lock_wait_timeout=1",
        privileges=f"{_PRIVILEGES}, CREATE TEMPORARY TABLES",
    )


def _mariadb(version: str) -> Dialect:
    has_uca14 = _number(version) >= (10, 10)
    return Dialect(
        product="MariaDB",
        version=version,
        collation=f"utf8mb4_{'uca1400' if has_uca14 else 'unicode_520'}_nopad"
        + ("_ai_ci" if has_uca14 else "_ci"),
        settings=(*_COMMON, *_SEEDS, "max_recursive_iterations=1000", "tmp_memory_table_size=0"),
        limit="max_statement_time={seconds:g}",
        judge_limit="max_statement_time=60, lock_wait_timeout=1, innodb_lock_wait_timeout=1, "
        "tmp_memory_table_size=DEFAULT",  # it sorts nothing, and SHOW needs temporary tables
        privileges=f"{_PRIVILEGES}, CREATE TEMPORARY TABLES",
        rewrite=rewrites.for_mariadb,
        refusals=(*_REFUSALS, refusals.refuse_target_in_subquery),
    )


def _seekdb(version: str) -> Dialect:
    return Dialect(
        product="seekdb",
        version=version,
        collation="utf8mb4_general_ci",
        settings=_COMMON,
        limit="ob_query_timeout={microseconds}",
        judge_limit="ob_query_timeout=10000000",
        privileges=_PRIVILEGES,
        refusals=(
            *_REFUSALS,
            refusals.refuse_second_statement,
            refusals.refuse_sessions,
            refusals.refuse_target_in_subquery,
            refusals.refuse_limit_in_subquery,
        ),
    )


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])
