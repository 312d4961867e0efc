"""Errors: whose fault they are, and that they cross process borders whole."""

import pickle

import pytest

from lifelong_gym import errors


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (errors.TaskError("x"), ValueError),
        (errors.MissingExtraError("p", "e", "The x"), ImportError),
        (errors.BackendUnavailableError("x"), errors.BackendError),
        (errors.SettingsChangedError("x"), errors.UsageError),
        (errors.RunPaused("x"), errors.LifelongGymError),
        (errors.StreamExhausted("x"), errors.LifelongGymError),
    ],
)
def test_an_error_is_of_its_kind_and_pickles(error, base):
    assert isinstance(error, base)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_missing_extra_says_what_to_run():
    error = errors.MissingExtraError("pymysql", "mysql", "The local database")

    assert str(error) == (
        "The local database needs pymysql, which is not installed. "
        'Run: pip install "lifelong-gym[mysql]"'
    )
