"""Chat templates: those that refuse, and those that leave out."""

import json

import pytest

from lifelong_gym.conversation import turn
from lifelong_gym.models import TemplateRefusedError
from lifelong_gym.models.templates import render_plainly, render_prompt
from lifelong_gym.models.tool_text import read_tool_calls
from lifelong_gym.tools import tool_call

pytest.importorskip("transformers", reason="the extra transformers is not installed")

NO_SYSTEM = """
{%- for m in messages -%}
{%- if m.role == 'system' -%}{{ raise_exception('System role not supported') }}{%- endif -%}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) -%}
{{ raise_exception('Conversation roles must alternate user/assistant') }}{%- endif -%}
<{{ m.role }}>{{ m.content }}
{%- endfor -%}"""
DROPS_SYSTEM = (
    "{% for m in messages if m.role != 'system' %}<{{ m.role }}>{{ m.content }}{% endfor %}"
)
KNOWS_TOOLS = """
{%- for t in tools or [] -%}[{{ t.function.name }}]{%- endfor -%}
{%- for m in messages -%}<{{ m.role }}>{{ m.content }}
{%- for c in m.tool_calls or [] -%}
({{ c.function.name }} {{ c.function.arguments.text }})
{%- endfor -%}
{%- endfor -%}"""
NO_TOOLS = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
TOOL = {"type": "function", "function": {"name": "say", "parameters": {"type": "object"}}}
OPENING = [{"role": "system", "content": "Rules."}, {"role": "user", "content": "Task."}]


@pytest.fixture
def tokenizer():
    """Makes a tokenizer with a template."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    def tokenizer(template):
        made = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()))
        made.chat_template = template
        return made

    return tokenizer


@pytest.mark.parametrize("template", [NO_SYSTEM, DROPS_SYSTEM], ids=["refuses", "drops"])
def test_the_system_text_joins_the_first_user_message(template, tokenizer):
    messages = [*OPENING, *turn("Act.", "Seen.")]

    assert render_prompt(tokenizer(template), messages) == (
        "<user>Rules.\n\nTask.<assistant>Act.<user>Seen."
    )


def test_neighbours_are_joined_for_a_template_that_wants_turns(tokenizer):
    messages = [*OPENING, {"role": "user", "content": "More."}]

    assert render_prompt(tokenizer(NO_SYSTEM), messages) == "<user>Rules.\n\nTask.\n\nMore."


def test_a_template_that_takes_a_system_role_gets_one(tokenizer):
    assert render_prompt(tokenizer(NO_TOOLS), OPENING) == "<system>Rules.<user>Task."


def test_tools_go_through_the_template(tokenizer):
    messages = [*OPENING, *turn(tool_call("say", {"text": "hi"}), "Seen.")]

    assert render_prompt(tokenizer(KNOWS_TOOLS), messages, [TOOL]) == (
        "[say]<system>Rules.<user>Task.<assistant>(say hi)<tool>Seen."
    )


def test_calls_keep_their_results_where_a_template_wants_long_ids(tokenizer):
    template = KNOWS_TOOLS + (
        "{%- for m in messages if m.role == 'tool' -%}"
        "{%- if m.tool_call_id|length != 9 or m.tool_call_id != messages[2].tool_calls[0].id -%}"
        "{{ raise_exception('nine letters, please') }}{%- endif -%}{%- endfor -%}"
    )
    messages = [*OPENING, *turn(tool_call("say", {"text": "hi"}), "Seen.")]

    assert render_prompt(tokenizer(template), messages, [TOOL]).endswith("(say hi)<tool>Seen.")


def test_tools_are_spelled_out_for_a_template_that_knows_none(tokenizer):
    messages = [*OPENING, *turn(tool_call("say", {"text": "hi"}), "Seen.")]
    text = render_prompt(tokenizer(NO_SYSTEM), messages, [TOOL])

    assert text.startswith("<user>Rules.\n\nYou can call these functions")
    assert json.dumps(TOOL["function"]) in text
    assert '<tool_call>\n{"name": "say", "arguments": {"text": "hi"}}\n</tool_call>' in text
    assert text.endswith("<user><tool_response>\nSeen.\n</tool_response>")


def test_a_template_that_refuses_everything_is_named_with_its_reasons(tokenizer):
    with pytest.raises(TemplateRefusedError, match=r"in every form \(never\)"):
        render_prompt(tokenizer("{{ raise_exception('never') }}"), OPENING)


def test_a_template_that_leaves_the_task_out_is_refused(tokenizer):
    with pytest.raises(TemplateRefusedError, match="it leaves out"):
        render_prompt(tokenizer("Hello."), OPENING)


def test_a_plain_rendering_has_every_part():
    messages = [*OPENING, *turn(tool_call("say", {"text": "hi"}), "Seen.")]
    text = render_plainly(messages, [TOOL])

    assert text.startswith("System: Rules.\n\nYou can call")
    assert text.endswith("User: <tool_response>\nSeen.\n</tool_response>\n\nAssistant:")


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "say", "arguments": {"text": "hi"}}\n</tool_call>',
        'First.<tool_call>{"name": "say", "arguments": {"text": "hi"}}',
        '[TOOL_CALLS][{"name": "say", "arguments": {"text": "hi"}}]',
        '{"name": "say", "parameters": {"text": "hi"}}',
        '<|python_tag|>{"name": "say", "parameters": {"text": "hi"}}',
        "<think><tool_call>{}</tool_call></think>"
        '<tool_call>{"name": "say", "arguments": {"text": "hi"}}</tool_call>',
    ],
    ids=["hermes", "unclosed", "mistral", "llama", "llama tagged", "after a thought"],
)
def test_tool_calls_are_read_as_models_write_them(text):
    _, calls = read_tool_calls(text)

    assert [call["function"] for call in calls] == [{"name": "say", "arguments": '{"text": "hi"}'}]


@pytest.mark.parametrize("text", ["Hello.", '{"name": 1}', "<tool_call>{oops}</tool_call>", "[1]"])
def test_what_is_no_call_stays_text(text):
    assert read_tool_calls(text) == (text, ())
