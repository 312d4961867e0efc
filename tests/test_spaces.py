"""Unicode: the space of texts."""

import pickle

import pytest
from gymnasium.spaces.utils import flatdim
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array
from hypothesis import given
from hypothesis import strategies as st

from lifelong_gym.spaces import Unicode
from lifelong_gym.text import replace_surrogates


@given(st.text())
def test_every_text_belongs(text):
    assert text in Unicode()


@pytest.mark.parametrize("value", [None, 3, b"bytes", ["list"]])
def test_nothing_else_belongs(value):
    assert value not in Unicode()


def test_samples_are_texts_that_can_be_encoded():
    space = Unicode(max_sample_length=50, seed=0)
    samples = [space.sample() for _ in range(500)]

    assert all(len(sample.encode()) >= 0 for sample in samples)
    assert {len(sample) for sample in samples} == set(range(51))


def test_the_same_seed_gives_the_same_samples():
    assert [Unicode(seed=3).sample() for _ in range(3)] == [Unicode(seed=3).sample()] * 3


def test_masks_are_refused():
    with pytest.raises(ValueError, match="neither mask nor probability"):
        Unicode().sample(mask=True)


def test_a_negative_length_is_refused():
    with pytest.raises(ValueError, match="at least 0, got -1"):
        Unicode(max_sample_length=-1)


def test_spaces_are_equal_whatever_they_draw():
    assert Unicode(seed=1) == Unicode(max_sample_length=5)
    assert Unicode() != 3
    assert pickle.loads(pickle.dumps(Unicode())) == Unicode()


def test_samples_go_through_json():
    space = Unicode()

    assert space.from_jsonable(space.to_jsonable(["a", "🗼"])) == ["a", "🗼"]


def test_texts_are_batched_as_tuples():
    space = Unicode()
    batched = batch_space(space, 2)
    empty = create_empty_array(space, 2)

    assert ("a", "🗼") in batched
    assert concatenate(space, ("a", "🗼"), empty) == ("a", "🗼")


def test_texts_do_not_flatten():
    with pytest.raises((ValueError, NotImplementedError)):
        flatdim(Unicode())


@given(st.text(st.characters()))
def test_surrogates_are_replaced_and_the_rest_kept(text):
    replaced = replace_surrogates(text)

    assert replaced.encode().decode() == replaced
    assert replaced == text or any("\ud800" <= c <= "\udfff" for c in text)
