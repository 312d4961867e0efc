"""Model references: how they are read, and what is refused."""

from pathlib import Path

import pytest

from lifelong_gym.errors import UsageError
from lifelong_gym.models import ModelReference, Price, Sampling, ScriptedModel
from lifelong_gym.models.reference import resolve_model


def test_a_whole_reference_is_read():
    reference = ModelReference.parse(
        "judge=openai:org/model?base_url=http://h:1/v1&temperature=0.5&max_tokens=9"
        "&stop=END&stop=%0A&retries=2&prompt_price=0.5"
    )

    assert (reference.name, reference.provider, reference.model) == (
        "judge",
        "openai",
        "org/model",
    )
    assert reference.options == {"base_url": "http://h:1/v1", "retries": 2}
    assert reference.sampling == Sampling(0.5, 1.0, 9, ("END", "\n"))
    assert reference.price == Price(prompt=0.5)


@pytest.mark.parametrize(
    ("text", "name", "provider", "model"),
    [
        ("openai:m", "main", "openai", "m"),
        ("a-b=openai:llama3:8b", "a-b", "openai", "llama3:8b"),
        ("transformers:./models/x=y", "main", "transformers", "./models/x=y"),
        ("main=transformers:/m/why%3F", "main", "transformers", "/m/why?"),
    ],
)
def test_names_and_models_may_hold_signs(text, name, provider, model):
    reference = ModelReference.parse(text)

    assert (reference.name, reference.provider, reference.model) == (name, provider, model)


def test_temperature_can_be_left_to_the_model():
    assert ModelReference.parse("openai:o?temperature=none").sampling.temperature is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gpt-4", "a model is NAME=PROVIDER:MODEL"),
        ("main=nope:m", "no provider is called 'nope'.*openai, transformers, scripted"),
        ("openai:m?colour=red", "'main' has no setting 'colour'; openai takes .*base_url"),
        ("openai:m?temperature=hot", "temperature"),
        ("openai:m?temperature=-1", "temperature must be at least 0, got -1"),
        ("openai:m?max_tokens=0", "max_tokens must be at least 1, got 0"),
        ("openai:m?retries", "expected key=value"),
        ("openai:m?retries=1&retries=2", "'retries' is given twice"),
        ("no.such.module:Class", "cannot be imported"),
    ],
)
def test_a_wrong_reference_is_refused(text, message):
    with pytest.raises(UsageError, match=message):
        ModelReference.parse(text)


def test_a_refusal_does_not_repeat_the_key():
    with pytest.raises(UsageError) as caught:
        ModelReference.parse("openai:m?api_key=sk-secret&oops")
    assert "sk-secret" not in str(caught.value)


def test_ones_own_class_is_a_provider():
    reference = ModelReference.parse('lifelong_gym.models:ScriptedModel?replies=["Hi."]')

    assert isinstance(reference.load(), ScriptedModel)


def test_a_table_says_the_same():
    table = {"provider": "openai", "model": "m", "temperature": 0.5, "retries": 2}

    assert ModelReference.from_table("main", table) == ModelReference.parse(
        "openai:m?temperature=0.5&retries=2"
    )
    with pytest.raises(UsageError, match="'main' needs the key 'model'"):
        ModelReference.from_table("main", {"provider": "openai"})


def test_what_changes_no_reply_is_not_in_the_fingerprint(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    text = "openai:m?timeout_s=5&retries=1&api_key=k&reasoning_effort=low"

    assert ModelReference.parse(text).fingerprint == {
        "provider": "openai", "model": "m", "reasoning_effort": "low", "base_url": ""
    }  # fmt: skip


def test_a_file_that_changed_is_another_model(tmp_path):
    (tmp_path / "r.json").write_text('["a"]')
    reference = ModelReference.parse(f"scripted:{tmp_path}/r.json")
    before = reference.identity
    (tmp_path / "r.json").write_text('["a", "b"]')

    assert reference.identity != before
    assert reference.load().generate([[{"content": "x"}]], sampling=Sampling())[0].text == "a"


def test_local_paths_are_resolved_and_hub_names_are_not(tmp_path):
    (tmp_path / "model").mkdir()

    def resolved(text):
        return resolve_model(ModelReference.parse(text), tmp_path).model

    assert Path(resolved("transformers:model")) == tmp_path / "model"
    assert Path(resolved("transformers:./other")) == tmp_path / "other"
    assert resolved("transformers:org/model") == "org/model"
    assert resolved("openai:model") == "model"
