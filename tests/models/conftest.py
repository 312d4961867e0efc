"""What the tests of models share: an endpoint with faults, a tiny model, conversations."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lifelong_gym.models import OpenAIModel, Sampling, TransformersModel

CHAT = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<eos>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def reply(content="Hello.", **message):
    """A chat completion that says `content`."""
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": message.pop("finish_reason", "stop"),
                "logprobs": message.pop("logprobs", None),
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
    }


class Endpoint:
    """Serves `answers` one after the other, the last one again and again.

    An answer is a body (status 200), a pair of status and body, a triple with headers, a
    function of the request that returns one of these, or `"lost"`, `"half"` or `"slow"`.
    """

    def __init__(self):
        self.answers = [reply()]
        self.requests, self.headers, self.times = [], [], []
        self.most_at_once = self._now = 0
        self._lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                size = int(self.headers["Content-Length"])
                endpoint._serve(self, json.loads(self.rfile.read(size)))

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _serve(self, handler, body):
        with self._lock:
            answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
            self.requests.append(body)
            self.headers.append({k.lower(): v for k, v in handler.headers.items()})
            self.times.append(time.monotonic())
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            self._answer(handler, answer(body) if callable(answer) else answer)
        finally:
            with self._lock:
                self._now -= 1

    def _answer(self, handler, answer):
        handler.close_connection = True
        if answer == "lost":
            return
        if answer == "slow":
            time.sleep(1.0)
            return
        is_half = answer == "half"
        if is_half or not isinstance(answer, tuple):
            answer = (200, reply() if is_half else answer)
        status, body, headers = (*answer, {})[:3]
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data[: len(data) // 2] if is_half else data)


@pytest.fixture
def endpoint():
    """An endpoint whose `answers` a test sets."""
    served = Endpoint()
    yield served
    served.close()


@pytest.fixture
def body():
    """Makes the body of a chat completion."""
    return reply


@pytest.fixture
def connect(endpoint):
    """Makes an `OpenAIModel` of the endpoint that waits for next to nothing."""
    pytest.importorskip("openai", reason="the extra openai is not installed")
    pytest.importorskip("tenacity", reason="the extra openai is not installed")
    made = []

    def connect(name="m", **options):
        settings = {"base_url": endpoint.url, "first_wait_s": 0.001, "retries": 2} | options
        made.append(OpenAIModel(name, **settings))
        return made[-1]

    yield connect
    for model in made:
        model.close()


@pytest.fixture
def say():
    """Makes a conversation of one message."""
    return lambda text: [{"role": "user", "content": text}]


@pytest.fixture
def ask(say):
    """Asks a model about one text and returns its completion."""

    def ask(model, text="Hi!", **options):
        sampling = options.pop("sampling", Sampling(max_tokens=8))
        return model.generate([say(text)], sampling=sampling, **options)[0]

    return ask


def _tokenizer():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    special = ["<eos>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*special, *letters])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>")


def _network(kind, size):
    import transformers

    small = {"vocab_size": size, "bos_token_id": 0, "eos_token_id": 0, "initializer_range": 0.5}
    if kind == "gpt2":
        shape = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 256}
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(**shape, **small))
    shape = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
    }
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**shape, **small))


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    """Makes a random causal model of a byte a token, saves it, and returns its folder."""
    torch = pytest.importorskip("torch", reason="the extra transformers is not installed")
    pytest.importorskip("transformers", reason="the extra transformers is not installed")
    torch.set_num_threads(1)  # more only wait for each other at this size
    made = {}

    def tiny_folder(kind="llama", template=CHAT):
        if (kind, template) not in made:
            folder = tmp_path_factory.mktemp(kind)
            tokenizer = _tokenizer()
            tokenizer.chat_template = template
            torch.manual_seed(1)
            tokenizer.save_pretrained(folder)
            _network(kind, len(tokenizer)).save_pretrained(folder)
            made[kind, template] = folder
        return made[kind, template]

    return tiny_folder


@pytest.fixture(scope="session")
def tiny(tiny_folder):
    """Makes a `TransformersModel` of such a folder, once for the same arguments."""
    made = {}

    def tiny(kind="llama", template=CHAT, **options):
        key = repr((kind, template, options))
        if key not in made:
            made[key] = TransformersModel(str(tiny_folder(kind, template)), **options)
        return made[key]

    # The first reply of a process imports much of torch: that is no test's time.
    message = {"role": "user", "content": "Hi!"}
    tiny().generate([[message]], sampling=Sampling(max_tokens=1))
    return tiny
