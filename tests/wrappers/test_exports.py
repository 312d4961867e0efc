"""What lifelong_gym.wrappers promises is there."""

import gymnasium

from lifelong_gym import wrappers


def test_every_exported_name_is_a_documented_wrapper():
    for name in wrappers.__all__:
        wrapper = getattr(wrappers, name)
        assert issubclass(wrapper, gymnasium.Wrapper)
        assert wrapper.__doc__


def test_exports_are_sorted():
    assert wrappers.__all__ == sorted(wrappers.__all__)
