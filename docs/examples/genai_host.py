"""onnxruntime-genai: an answer, token by token, is one inference, and decoding has another mode than the prompt.

How a host calls it::

session = controller.session("burst", owner="chat")
modes = session.modes({"prompt": "burst", "decode": "balanced"})
model = load("phi-4-mini-qnn", session)
tokenizer = genai.Tokenizer(model)
for token in answer(model, modes, tokenizer.encode("Which chip is this?"), 200):
    print(tokenizer.decode([token]), end="")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnxruntime_genai as genai

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower import ModeSession, Session


def load(folder: str, votes: Session, provider: str | None = "qnn") -> genai.Model:
    """Load a model within INIT, on the NPU by default; another provider can be named, and None means the CPU."""
    config = genai.Config(folder)
    config.clear_providers()
    if provider is not None:
        config.append_provider(provider)
    if provider == "qnn":
        # In this mode the provider sends no votes; see the page on ONNX Runtime.
        config.set_provider_option("qnn", "htp_performance_mode", "default")
    with votes.init():
        return genai.Model(config)


def answer(model: genai.Model, modes: ModeSession, prompt: Sequence[int], longest: int) -> Iterator[int]:
    """Return the tokens after a prompt, up to a length; the votes of each mode are up while its tokens are made."""
    parameters = genai.GeneratorParams(model)
    parameters.set_search_options(max_length=longest)
    generator = genai.Generator(model, parameters)

    def tokens() -> Iterator[int]:
        generator.append_tokens(list(prompt))
        while not generator.is_done():
            generator.generate_next_token()
            yield int(generator.get_next_tokens()[0])

    # The mode changes after the first token, when the prompt has been processed.
    return modes.stream(tokens(), "prompt", then="decode")
