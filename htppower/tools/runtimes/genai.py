"""onnxruntime-genai: the provider options in ``genai_config.json``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from htppower.hosts.qnn_provider import nearest_mode, provider_settings
from htppower.tools.runtimes.in_code import GENAI_CALLS, calls
from htppower.tools.runtimes.onnxruntime import KNOWN
from htppower.tools.runtimes.settings import Part, Settings

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile

TITLE = "onnxruntime-genai"
# The path to the provider options of the language model; other models of a pipeline have the same path under their
# names.
PATH = ("model", "decoder", "session_options", "provider_options")


def write(profile: Profile) -> Settings:
    """Return a profile as provider options of genai_config.json; ONNX Runtime's provider then votes."""
    found = nearest_mode(profile)
    options = provider_settings(found, profile)
    node: object = [{"qnn": options}]
    for key in reversed(PATH):
        node = {key: node}
    note = "In addition to the options in the file, such as backend_path; each model of a pipeline needs the same."
    text = json.dumps(node, indent=2)
    in_code = calls(
        "options of a Config", GENAI_CALLS, options, "For a config with the provider qnn, before its model."
    )
    return Settings((Part("genai_config.json", text, "json", "genai_config.json", note),), found.lost, KNOWN, in_code)
