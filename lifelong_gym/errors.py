"""Every error of the suite, and whose fault it is.

```
LifelongGymError
├── UsageError                 the caller's: an argument, a setting, a name
│   ├── TaskError              the task set's: a file, an entry, a field
│   ├── MissingExtraError      the installation's: a package that is not there
│   └── SettingsChangedError   a run resumed with settings that change its results
├── BackendError               the system's: never scored, tried again
│   └── BackendUnavailableError    cannot start on this machine: tell the user
├── RunPaused                  nobody's: the run stops here and can be resumed
└── StreamExhausted            nobody's: every task of the stream was played
```

What an *agent* does wrong is none of these: it is an observation or a lost episode.
"""

from __future__ import annotations


class LifelongGymError(Exception):
    """The base of every error that this package raises on purpose."""


class UsageError(LifelongGymError, ValueError):
    """The caller asked for what cannot be; the message says what would be."""


class TaskError(UsageError):
    """A task or a task set is malformed; the message names file, entry and field."""


class MissingExtraError(UsageError, ImportError):
    """A package from an extra is not installed.

    Args:
        package: The distribution that could not be imported, `"pymysql"`.
        extra: The extra of this package that installs it, `"mysql"`.
        purpose: What needs it, as the start of a sentence: `"The local database"`.
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.package, self.extra, self.purpose = package, extra, purpose
        super().__init__(
            f"{purpose} needs {package}, which is not installed. "
            f'Run: pip install "lifelong-gym[{extra}]"'
        )

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        """Pickles by its three arguments, so that it crosses process borders whole."""
        return type(self), (self.package, self.extra, self.purpose)


class SettingsChangedError(UsageError):
    """A run folder holds another experiment than the one that would resume it."""


class BackendError(LifelongGymError, RuntimeError):
    """The system beneath an environment failed: the server, the container, the check.

    Never the agent's loss: the runner plays the task again on a fresh backend and, if
    that fails as well, records it as unscored.
    """


class BackendUnavailableError(BackendError):
    """The backend cannot start on this machine; the message says what would help."""


class RunPaused(LifelongGymError):
    """Stops a run resumably: the task in flight is not recorded."""


class StreamExhausted(LifelongGymError):
    """`reset` was called after the last task of a stream."""
