"""ONNX Runtime's QNN execution provider: provider options, and the options of a run; and onnxruntime-genai."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import attrs

from htppower.hosts.qnn_provider import (
    PERFORMANCE_MODE,
    RUN_LATENCY,
    RUN_MODE,
    RUN_MODE_AFTER,
    nearest_mode,
    provider_settings,
)
from htppower.tools.runtimes.settings import GENAI_CALLS, RUN_CALLS, Part, Runtime, Settings, calls, maps

if TYPE_CHECKING:
    from htppower.profiles.expressed import Nearest
    from htppower.profiles.profile import PowerState, Profile

_KNOWN = "The provider's votes were measured: the log of onnxruntime-qnn 2.7.0."
# In this mode the provider has no votes of its own.
NO_MODE = "default"
# The path in genai_config.json to the provider options of the language model; other models of a pipeline have the same
# path under their names.
_PATH = ("model", "decoder", "session_options", "provider_options")


def _write(profile: Profile) -> Settings:
    """Return a profile as provider options, held for the session, and as options of each run, lowered after it."""
    found = nearest_mode(profile)
    options = provider_settings(found, profile)
    parts = [Part("provider options", json.dumps(options, indent=2), "json")]
    in_code = maps("provider options", options, "In addition to the host's other options, such as backend_path.")
    if profile.relax is not None and found.mode != NO_MODE:
        of_run, note = _of_a_run(profile, found, profile.relax.to)
        parts.append(Part("options of each run", json.dumps(of_run, indent=2), "json", note=note))
        in_code += calls("options of each run", RUN_CALLS, of_run, note)
    return Settings(tuple(parts), found.lost, _KNOWN, in_code)


def _of_a_run(profile: Profile, found: Nearest, state: PowerState) -> tuple[dict[str, str], str]:
    """Return the options of a run that raise before it and lower directly after it, and a comment on them."""
    lowered = nearest_mode(attrs.evolve(profile, votes=state.votes, relax=None, lineage=()))
    latency_us = profile.votes.rpc_control_latency_us
    options = {
        RUN_MODE: found.mode,
        RUN_MODE_AFTER: lowered.mode,
        **({RUN_LATENCY: str(latency_us)} if latency_us else {}),
    }
    note = (
        f"Instead, with the provider option {PERFORMANCE_MODE}={NO_MODE}: each run raises, and lowers to mode "
        f"{lowered.mode} at its end, whatever the sustain time is."
    )
    return options, note


def _write_genai(profile: Profile) -> Settings:
    """Return a profile as provider options of genai_config.json; ONNX Runtime's provider then votes."""
    found = nearest_mode(profile)
    options = provider_settings(found, profile)
    node: object = [{"qnn": options}]
    for key in reversed(_PATH):
        node = {key: node}
    note = "In addition to the options in the file, such as backend_path; each model of a pipeline needs the same."
    text = json.dumps(node, indent=2)
    in_code = calls(
        "options of a Config", GENAI_CALLS, options, "For a config with the provider qnn, before its model."
    )
    return Settings((Part("genai_config.json", text, "json", "genai_config.json", note),), found.lost, _KNOWN, in_code)


ONNXRUNTIME = Runtime("ONNX Runtime's QNN execution provider", _write)
GENAI = Runtime("onnxruntime-genai", _write_genai)
