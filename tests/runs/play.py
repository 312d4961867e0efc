"""Plays the stack of conftest.py: `play.py FOLDER COUNT PAUSE_S MAX_FILE_BYTES`."""

from __future__ import annotations

import resource
import sys


def main(folder: str, count: str, pause_s: str, max_file_bytes: str) -> int:
    from conftest import stack  # this script's own folder comes first in sys.path

    from lifelong_gym.errors import RunPaused
    from lifelong_gym.runs import run_stream

    if int(max_file_bytes):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(max_file_bytes), resource.RLIM_INFINITY))
    agent = stack(int(count), float(pause_s))
    sys.stdout.write("playing\n")
    sys.stdout.flush()
    try:
        run_stream(agent, folder)
    except RunPaused as paused:
        sys.stdout.write(f"{paused}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
