"""Reads SNPE's perf config as votes and as a profile, and finds keys and values that SNPE does not have."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from htppower.errors import Finding, Place, ProfileError, printable
from htppower.profiles.did_you_mean import did_you_mean
from htppower.profiles.fields import vote_fields
from htppower.profiles.paths import joined, stem_of
from htppower.profiles.profile import PowerState
from htppower.profiles.strict_yaml import read_document
from htppower.profiles.yaml_text import ProfileFiles, comment, field_lines, profile_name, quoted, state_text
from htppower.profiles.yaml_words import Unreadable
from htppower.tools.runtimes.snpe import CORNERS, HMX_CORNERS, LIMITS, PERF_MODES, POWER_MODES, SECTIONS
from htppower.tools.runtimes.statements import Said
from htppower.votes.clock_votes import DcvsV3, HmxV2, VoltageRange
from htppower.votes.corners import ClkPerfMode, PowerMode
from htppower.votes.option import Limits
from htppower.votes.vote_set import LIMITS as VOTE_LIMITS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.profiles.strict_yaml import Document

PERF_CONFIG = "SNPE's perf config"
_TRUTH = ("true", "false")
_NUMBER = "a whole number"
_WHEN = ("START", "DONE")
_GENERAL: Mapping[str, Any] = {
    "ASYNC_VOTING_ENABLE": _TRUTH,
    "DSP_HYSTERESIS_TIME_US": _NUMBER,
    "DSP_SLEEP_DISABLE_MS": _NUMBER,
    "DSP_RPC_POLLING_TIME_US": VOTE_LIMITS[VoteSet, "rpc_polling_time_us"],
}
# The keys of a phase, and the words that each accepts.
_OF_A_PHASE: Mapping[str, Any] = {
    **{f"DSP_ENABLE_DCVS_{when}": _TRUTH for when in _WHEN},
    **{f"DSP_SLEEP_LATENCY_{when}_US": _NUMBER for when in _WHEN},
    **{f"POWERMODE_{when}": tuple(POWER_MODES.values()) for when in _WHEN},
    **{
        f"{clock}_VOLTAGE_CORNER_{limit.upper()}_{when}": tuple(CORNERS.values())
        for clock in ("BUS", "CORE", "DCVS")
        for limit in LIMITS
        for when in _WHEN
    },
    **{f"DSP_HMX_VOLTAGE_CORNER_{limit.upper()}": tuple(HMX_CORNERS.values()) for limit in LIMITS},
    "DSP_HMX_CLOCK_PERF_MODE": tuple(PERF_MODES.values()),
    "HIGH_PERFORMANCE_MODE": _TRUTH,
    "FAST_INIT_ENABLE": _TRUTH,
}
_KEYS: Mapping[str, Mapping[str, Any]] = {"general": _GENERAL, **dict.fromkeys(SECTIONS, _OF_A_PHASE)}
_OURS = re.compile(
    r"^[ \t]*(?:(?:BUS|CORE)_VOLTAGE_CORNER_|DSP_HYSTERESIS_TIME_US|DSP_RPC_POLLING_TIME_US)", re.MULTILINE
)
# Keys of a perf config that a profile lacks.
_NO_COUNTERPART = ("DSP_SLEEP_DISABLE_MS", "HIGH_PERFORMANCE_MODE", "FAST_INIT_ENABLE")


def is_perf_config(text: str) -> bool:
    """Return whether a text looks like a perf config."""
    return _OURS.search(text) is not None


def read(text: str, path: str) -> tuple[Said, Document]:
    """Return the problems of a perf config, with the keys and values that SNPE does not have; and its YAML."""
    document = read_document(joined(path), "perf config", text.encode())
    tree = document.tree if isinstance(document.tree, dict) else {}
    unread, unknown = [], []
    for section, keys in tree.items():
        known = _KEYS.get(section)
        if known is None:
            unread.append((section, document.key_places[(section,)], did_you_mean(section, _KEYS)))
            continue
        for key, value in keys.items() if isinstance(keys, dict) else ():
            if key not in known:
                unread.append((key, document.key_places[(section, key)], did_you_mean(key, known)))
            elif (wrong := _wrong(value, known[key])) is not None:
                unknown.append((key, _spelt(value), document.places[(section, key)], wrong))
    return Said((), document.problems, unread=tuple(unread), unknown=tuple(unknown), form=PERF_CONFIG), document


def _wrong(value: Any, takes: Any) -> str | None:
    """Return what to write instead of a value; None if it is right."""
    if isinstance(value, Unreadable):
        return None  # the YAML reader has reported it
    if takes == _TRUTH:
        return None if isinstance(value, bool) else "write true or false"
    if takes == _NUMBER:
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return None if whole else "write a whole number, 0 or more"
    if isinstance(takes, Limits):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return None if whole and takes.hold(value) else f"write {_NUMBER}, {takes}"
    return None if value in takes else did_you_mean(_spelt(value), takes)


def _spelt(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _votes(phase: Mapping[str, Any], when: str, polling_us: int | None) -> VoteSet:
    """Return the votes at the start of a phase, or when it is done."""
    hmx = _corners(phase, "DSP_HMX_VOLTAGE_CORNER_{}", HMX_CORNERS)
    mode = _by_name(PERF_MODES, phase.get("DSP_HMX_CLOCK_PERF_MODE"), ClkPerfMode.HIGH)
    return VoteSet(_hvx(phase, when), hmx_v2=None if hmx is None else HmxV2(*hmx, mode), rpc_polling_time_us=polling_us)


def _hvx(phase: Mapping[str, Any], when: str) -> DcvsV3 | None:
    bus, core = (
        None
        if (corners := _corners(phase, f"{clock}_VOLTAGE_CORNER_{{}}_{when}", CORNERS)) is None
        else VoltageRange(*corners)
        for clock in ("BUS", "CORE")
    )
    if bus is None and core is None:
        return None
    enable = phase.get(f"DSP_ENABLE_DCVS_{when}")
    usual = PowerMode.PERFORMANCE if when == "START" else PowerMode.POWER_SAVER
    return DcvsV3(
        enable if isinstance(enable, bool) else None,
        _by_name(POWER_MODES, phase.get(f"POWERMODE_{when}"), usual),
        _number(phase, f"DSP_SLEEP_LATENCY_{when}_US"),
        None,
        bus=bus,
        core=core,
    )


def _corners(phase: Mapping[str, Any], form: str, names: Mapping[Any, str]) -> tuple[Any, Any, Any] | None:
    """Return min, target and max of a clock from their keys; None if there are not all three."""
    found = [_by_name(names, phase.get(form.format(limit.upper()))) for limit in LIMITS]
    low, target, high = found
    return None if None in found else (low, target, high)


def _by_name(names: Mapping[Any, str], said: Any, unless: Any = None) -> Any:
    return next((each for each, name in names.items() if name == said), unless)


def _number(keys: Mapping[str, Any], name: str) -> int | None:
    value = keys.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def state_lines(name: str, summary: str, votes: VoteSet, *comments: str) -> str:
    """Return the lines of a power state's file, with comments first."""
    return "\n".join((*map(comment, comments), state_text(PowerState(name, summary, votes)))) + "\n"


def imported(text: str, path: str) -> ProfileFiles:
    """Return a perf config as a profile and its power states.

    Raises:
        ProfileError: it has keys or values that SNPE does not have, or does not vote on clocks.
    """
    said, document = read(text, path)
    tree = document.tree if isinstance(document.tree, dict) else {}
    sections = {name: keys for name, keys in tree.items() if isinstance(keys, dict)}
    general, execute, deinit = (sections.get(name, {}) for name in ("general", "execute", "deinit"))
    polling_us = _number(general, "DSP_RPC_POLLING_TIME_US")
    raised, lowered = (_votes(execute, when, polling_us) for when in _WHEN)
    ends_in = _votes(deinit, "DONE", polling_us)
    problems = [
        *(Finding("SET-1", (), f"SNPE has no {key}", hint, place=place) for key, place, hint in said.unread),
        *(Finding("SET-2", (), f"{key} is {value}", hint, place=place) for key, value, place, hint in said.unknown),
    ]
    if not problems and raised.dcvs_v3 is None:
        hint = "state BUS_ and CORE_VOLTAGE_CORNER_MIN_, _TARGET_ and _MAX_START in the section execute"
        problems = [Finding.of_file(path, "SET-1", "the section execute votes no clock", hint)]
    if problems:
        raise ProfileError(problems)
    name = profile_name(stem_of(path) or "perf_config")
    state = f"{name}_done"
    place = document.places.get(("execute",), Place(path))
    comments = [f"{place}: SNPE's section execute; its section init is not read in addition."]
    for at, where in document.places.items():
        if at[-1:] and at[-1] in _NO_COUNTERPART:
            comments.append(f"{where}: {at[-1]} has no counterpart.")
    summary = f"As SNPE's perf config {os.path.basename(path) or 'votes'}."
    lines = [
        *map(comment, comments),
        f"profile: {name}",
        f"summary: {quoted(printable(summary))}",
        *(line for _, line in field_lines(vote_fields(raised))),
        "relax:",
        f"  to: {state}",
        "  after_init_us: 0",
        f"  after_inference_us: {_number(general, 'DSP_HYSTERESIS_TIME_US') or 0}",
        f"  lowering: {'background' if general.get('ASYNC_VOTING_ENABLE') is True else 'foreground'}",
    ]
    states = {state: state_lines(state, f"The votes after the inferences of {name}.", lowered)}
    if ends_in.dcvs_v3 is not None and ends_in != lowered:
        last = f"{name}_deinit_done"
        lines.append(f"  after_deinit_to: {last}")
        states[last] = state_lines(last, f"The votes after DE-INIT of {name}.", ends_in)
    return ProfileFiles(name, "\n".join(lines) + "\n", states, place)
