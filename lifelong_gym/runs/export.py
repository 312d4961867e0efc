"""Trajectories as files that other tools read."""

from __future__ import annotations

from pathlib import Path

from lifelong_gym.runs.store import RunStore


def export_trajectories(folder: Path | str, path: Path | str) -> int:
    """Writes the trajectories of a run as JSON lines, in the order of the stream.

    The file is there whole or not at all.

    Args:
        folder: The output folder of a run.
        path: The file to write.

    Returns:
        How many were written.

    Raises:
        UsageError: There is no run in `folder`.
    """
    target = Path(path)
    partial = target.with_name(f"{target.name}.partial")
    count = 0
    with RunStore(folder, read_only=True) as store, partial.open("w", encoding="utf-8") as file:
        for trajectory in store.trajectories():
            file.write(trajectory.model_dump_json() + "\n")
            count += 1
    partial.replace(target)
    return count
