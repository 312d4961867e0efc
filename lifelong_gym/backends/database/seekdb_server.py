"""Runs one seekdb server in the foreground: `python -I -S seekdb_server.py PACKAGES DATA`.

The watchdog starts it (see `lifelong_gym.backends.watchdog`). pylibseekdb's own server
ends with this process, whatever ends it. `DATA/ready` then holds how to connect.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path


def main() -> None:
    """Runs until it is told to stop."""
    packages, data = sys.argv[1], Path(sys.argv[2])
    sys.path.append(packages)
    import pylibseekdb

    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    pylibseekdb.open(db_dir=str(data / "files"))
    options = pylibseekdb.connection_options()
    # pylibseekdb reaches the server through a link in /tmp, which would stay behind.
    link = Path(options["unix_socket"]).parent
    options["unix_socket"] = os.path.realpath(options["unix_socket"])
    (data / "starting").write_text(json.dumps(options))
    (data / "starting").rename(data / "ready")
    signal.sigwait({signal.SIGTERM})
    pylibseekdb.close()
    with contextlib.suppress(ChildProcessError):
        os.wait()
    if link.name == "run" and link.parent.name.startswith("pylibseekdb-uds-"):
        shutil.rmtree(link.parent, ignore_errors=True)


if __name__ == "__main__":
    main()
