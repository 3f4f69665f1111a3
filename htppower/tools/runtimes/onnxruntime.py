"""ONNX Runtime's QNN execution provider: provider options, and the options of a run."""

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
from htppower.tools.runtimes.in_code import RUN_CALLS, calls, maps
from htppower.tools.runtimes.settings import Part, Settings

if TYPE_CHECKING:
    from htppower.profiles.expressed import Nearest
    from htppower.profiles.profile import PowerState, Profile

TITLE = "ONNX Runtime's QNN execution provider"
KNOWN = "The provider's votes were measured: the log of onnxruntime-qnn 2.7.0."
# In this mode the provider has no votes of its own.
NO_MODE = "default"


def write(profile: Profile) -> Settings:
    """Return a profile as provider options, held for the session, and as options of each run, lowered after it."""
    found = nearest_mode(profile)
    options = provider_settings(found, profile)
    parts = [Part("provider options", json.dumps(options, indent=2), "json")]
    in_code = maps("provider options", options, "In addition to the host's other options, such as backend_path.")
    if profile.relax is not None and found.mode != NO_MODE:
        of_run, note = _of_a_run(profile, found, profile.relax.to)
        parts.append(Part("options of each run", json.dumps(of_run, indent=2), "json", note=note))
        in_code += calls("options of each run", RUN_CALLS, of_run, note)
    return Settings(tuple(parts), found.lost, KNOWN, in_code)


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
