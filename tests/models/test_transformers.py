"""TransformersModel: batches, seeds, stops, limits, over tiny random models."""

import math
import os

import pytest

from lifelong_gym.errors import UsageError
from lifelong_gym.models import (
    BatchError,
    ContextTooLongError,
    ModelSetupError,
    Sampling,
    TransformersModel,
)

TEXTS = ["Hi!", "What is the longest word that you know?", "a", "Count to three, please."]
GREEDY = Sampling(max_tokens=20)
WARM = Sampling(temperature=1.0, max_tokens=20)


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
@pytest.mark.parametrize("sampling", [GREEDY, WARM, Sampling(0.8, 0.7, 20)])
def test_a_batch_says_what_each_conversation_gets_alone(kind, sampling, tiny, say):
    model = tiny(kind)
    conversations = [say(text) for text in TEXTS]
    together = model.generate(conversations, sampling=sampling, seed=3)
    alone = [model.generate([one], sampling=sampling, seed=3)[0] for one in conversations]

    assert [one.completion_ids for one in together] == [one.completion_ids for one in alone]
    assert [one.text for one in together] == [one.text for one in alone]
    for a, b in zip(together, alone, strict=True):
        assert a.logprobs == pytest.approx(b.logprobs, abs=1e-4)


def test_batches_of_any_size_say_the_same(tiny, say):
    conversations = [say(text) for text in TEXTS]
    found = [tiny(batch_size=size).generate(conversations, sampling=GREEDY) for size in (1, 3, 16)]

    texts = [[completion.text for completion in each] for each in found]
    assert texts[0] == texts[1] == texts[2]


def test_greedy_takes_the_likeliest_token_of_the_plain_model(tiny, tiny_folder, ask):
    import torch
    import transformers

    completion = ask(tiny(), sampling=Sampling(max_tokens=1))
    network = transformers.AutoModelForCausalLM.from_pretrained(tiny_folder())
    with torch.inference_mode():
        scores = network(torch.tensor([completion.prompt_ids])).logits[0, -1]

    assert completion.completion_ids == (int(scores.argmax()),)
    assert completion.logprobs[0] == pytest.approx(float(scores.log_softmax(-1).max()), abs=1e-4)


def test_ids_and_logprobs_go_together(tiny, ask):
    completion = ask(tiny(), sampling=WARM, seed=1)

    assert len(completion.completion_ids) == len(completion.logprobs) <= 20
    assert all(logprob <= 0 and math.isfinite(logprob) for logprob in completion.logprobs)
    assert completion.usage == {
        "prompt_tokens": len(completion.prompt_ids),
        "completion_tokens": len(completion.completion_ids),
    }


def test_a_seed_repeats_and_another_differs(tiny, ask):
    model = tiny()
    first, again, other = (ask(model, sampling=WARM, seed=seed).text for seed in (1, 1, 2))

    assert first == again != other


def test_the_same_conversation_twice_gives_two_samples(tiny, say):
    first, second = tiny().generate([say("Hi!")] * 2, sampling=WARM, seed=1)

    assert first.text != second.text


def test_the_callers_generator_is_left_alone(tiny, ask):
    import torch

    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    ask(tiny(), sampling=WARM, seed=1)

    assert torch.equal(torch.rand(1), expected)


def test_a_tiny_top_p_is_greedy(tiny, ask):
    narrow = ask(tiny(), sampling=Sampling(1.0, 1e-6, 20), seed=9)

    assert narrow.completion_ids == ask(tiny(), sampling=GREEDY).completion_ids


@pytest.mark.parametrize("sampling", [GREEDY, WARM])
def test_a_stop_text_ends_a_reply_and_is_no_part_of_it(sampling, tiny, ask):
    whole = ask(tiny(), sampling=sampling, seed=4)
    stop = next(c for c in whole.text[3:] if c.isascii())
    place = whole.text.index(stop)
    stopped = Sampling(sampling.temperature, 1.0, 20, (stop,))
    completion = ask(tiny(), sampling=stopped, seed=4)

    assert completion.text == whole.text[:place]
    assert completion.finish_reason == "stop"
    count = len(completion.completion_ids)
    assert completion.completion_ids == whole.completion_ids[:count]
    assert count < len(whole.completion_ids)


def test_rows_stop_on_their_own(tiny, say):
    conversations = [say(text) for text in TEXTS]
    whole = tiny().generate(conversations, sampling=GREEDY)
    stop = next(c for c in whole[0].text[3:] if c.isascii())
    found = tiny().generate(conversations, sampling=Sampling(max_tokens=20, stop=(stop,)))

    assert [one.text for one in found] == [one.text.partition(stop)[0] for one in whole]


def test_an_end_token_ends_a_reply(tiny, say):
    found = tiny().generate([say("Hi!")] * 30, sampling=Sampling(1.0, 1.0, 60), seed=1)
    ended = [one for one in found if one.finish_reason == "stop"]

    assert ended
    assert all(one.completion_ids[-1] == 0 and "<eos>" not in one.text for one in ended)
    assert all(0 not in one.completion_ids[:-1] for one in found)


def test_bfloat16_is_taken(tiny, ask):
    import torch

    model = tiny(dtype="bfloat16")

    assert model._model.dtype is torch.bfloat16
    assert ask(model).completion_ids


def test_a_device_map_is_taken(tiny, ask):
    pytest.importorskip("accelerate", reason="the extra transformers is not installed")

    assert ask(tiny(device_map="auto")).text == ask(tiny()).text


# Limits --------------------------------------------------------------------------------


def test_a_conversation_that_does_not_fit_is_refused_before_it_is_played(tiny, ask):
    with pytest.raises(ContextTooLongError, match="tokens, the model takes 256 with the reply"):
        ask(tiny(), "long " * 60)


def test_one_conversation_too_long_costs_the_others_nothing(tiny, say):
    with pytest.raises(BatchError) as caught:
        tiny().generate([say("Hi!"), say("long " * 60)], sampling=GREEDY)

    assert caught.value.outcomes[0].text == tiny().generate([say("Hi!")], sampling=GREEDY)[0].text
    assert isinstance(caught.value.outcomes[1], ContextTooLongError)


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_a_reply_takes_the_room_there_is(kind, tiny, say):
    conversations = [say("x" * 238), say("Hi!")]
    found = tiny(kind).generate(conversations, sampling=Sampling(max_tokens=20))

    assert len(found[0].prompt_ids) + len(found[0].completion_ids) <= 256
    assert found[0].finish_reason == "length"
    assert found[1] == tiny(kind).generate(conversations[1:], sampling=Sampling(max_tokens=20))[0]


def test_an_own_limit_counts(tiny, ask):
    with pytest.raises(ContextTooLongError, match="takes 10"):
        ask(tiny(max_context=10), "more than ten")


def test_too_little_memory_halves_the_batch(tiny, say, monkeypatch):
    import torch

    from lifelong_gym.models import drawing, transformers

    def draw(model, tokenizer, prompts, *arguments, **options):
        if len(prompts) > 1:
            raise torch.OutOfMemoryError("too much")
        return drawing.draw(model, tokenizer, prompts, *arguments, **options)

    monkeypatch.setattr(transformers, "draw", draw)
    conversations = [say(text) for text in TEXTS]

    assert len(tiny().generate(conversations, sampling=GREEDY)) == 4


# Templates and loading -----------------------------------------------------------------


def test_a_model_without_a_template_is_rendered_plainly(tiny, ask):
    model = tiny(template=None)
    completion = ask(model)

    assert model._tokenizer.decode(completion.prompt_ids) == "User: Hi!\n\nAssistant:"


def test_another_template_can_be_given(tiny, ask):
    model = tiny(chat_template="{% for m in messages %}{{ m.content }}{% endfor %}{{ tail }}",
                 template_options={"tail": "?!"})  # fmt: skip

    assert model._tokenizer.decode(ask(model).prompt_ids) == "Hi!?!"


def test_a_folder_without_a_model_is_the_callers(tmp_path):
    pytest.importorskip("transformers", reason="the extra transformers is not installed")
    with pytest.raises(ModelSetupError, match="cannot be loaded"):
        TransformersModel(str(tmp_path))


def test_other_weights_under_the_same_name_are_another_model(tiny, tiny_folder):
    before = tiny().identity
    os.utime(tiny_folder() / "model.safetensors", ns=(1, 1))
    after = tiny().identity

    assert after.pop("files") != before.pop("files")
    assert after == before == tiny().fingerprint


def test_seeds_must_be_one_for_each(tiny, say):
    with pytest.raises(UsageError, match="one for each of the 2 conversations, got 1"):
        tiny().generate([say("a"), say("b")], sampling=GREEDY, seed=[1])
