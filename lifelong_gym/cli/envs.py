"""`lifelong-gym envs`."""

from __future__ import annotations

from lifelong_gym.cli.console import show, table
from lifelong_gym.cli.options import examples

EXAMPLES = examples("envs", "run --env Database-v0 --agent oracle --env-arg max_turns=5")


def list_envs() -> None:
    """List the environments and their arguments.

    Shown with their defaults; `--env-arg` sets them. `turns` is what `max_turns=None` stands
    for.
    """
    from lifelong_gym.envs import ENTRY_POINTS
    from lifelong_gym.experiments.environments import arguments_of, class_of, find_spec

    rows = table("id", "domain", "turns", "arguments", show_lines=True)
    for env_id in ENTRY_POINTS:
        spec = find_spec(env_id)
        kind = class_of(spec)
        arguments = "\n".join(
            str(p.replace(annotation=p.empty)) for p in arguments_of(spec).values()
        )
        rows.add_row(env_id, kind.domain, str(kind.default_max_turns), arguments)
    show(rows)
