"""Turns SNPE's perf config into a profile."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from htppower.errors import Finding, Place, ProfileError, printable
from htppower.profiles.paths import stem_of
from htppower.profiles.yaml_text import ProfileFiles, comment, profile_name, quoted
from htppower.tools.runtimes.profile_text import state_lines, vote_lines

if TYPE_CHECKING:
    from htppower.tools.runtimes.snpe_reading import PerfConfig

# Keys of a perf config that a profile lacks.
_NO_COUNTERPART = ("DSP_SLEEP_DISABLE_MS", "HIGH_PERFORMANCE_MODE", "FAST_INIT_ENABLE")


def imported(config: PerfConfig, path: str) -> ProfileFiles:
    """Return a perf config as a profile and its power state.

    Raises:
        ProfileError: it has keys or values that SNPE does not have, or does not vote on clocks.
    """
    problems = [
        *(Finding("SET-1", (), f"SNPE has no {key}", hint, place=place) for key, place, hint in config.said.unread),
        *(
            Finding("SET-2", (), f"{key} is {value}", hint, place=place)
            for key, value, place, hint in config.said.unknown
        ),
    ]
    if not problems and config.raised.dcvs_v3 is None:
        hint = "state BUS_ and CORE_VOLTAGE_CORNER_MIN_, _TARGET_ and _MAX_START in the section execute"
        problems = [Finding.of_file(path, "SET-1", "the section execute votes no clock", hint)]
    if problems:
        raise ProfileError(problems)
    name = profile_name(stem_of(path) or "perf_config")
    state = f"{name}_done"
    place = config.places.get(("execute",), Place(path))
    comments = [f"{place}: SNPE's section execute; its section init is not read in addition."]
    for at, where in config.places.items():
        if at[-1:] and at[-1] in _NO_COUNTERPART:
            comments.append(f"{where}: {at[-1]} has no counterpart.")
    summary = f"As SNPE's perf config {os.path.basename(path) or 'votes'}."
    lines = [
        *map(comment, comments),
        f"profile: {name}",
        f"summary: {quoted(printable(summary))}",
        *vote_lines(config.raised),
        "relax:",
        f"  to: {state}",
        "  after_init_us: 0",
        f"  after_inference_us: {config.sustain_us}",
        f"  lowering: {'background' if config.in_background else 'foreground'}",
    ]
    states = {state: state_lines(state, f"The votes after the inferences of {name}.", config.lowered)}
    if config.ends_in is not None and config.ends_in != config.lowered:
        last = f"{name}_deinit_done"
        lines.append(f"  after_deinit_to: {last}")
        states[last] = state_lines(last, f"The votes after DE-INIT of {name}.", config.ends_in)
    return ProfileFiles(name, "\n".join(lines) + "\n", states, place)
