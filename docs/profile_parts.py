"""The parts of the page on profiles: the values of the shipped ones, and the fields of a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docs.tables import made_table
from htppower.profiles.discovery import Folders
from htppower.profiles.field_limits import declared
from htppower.profiles.fields import profile_fields, spell, vote_fields
from htppower.profiles.file_format import BreakEvenFields, ColdStartsFields, ProfileFields, RelaxFields, ThenFields
from htppower.profiles.loading import examine_power_state, load_profile
from htppower.profiles.names import LLM_DECODE_PROFILES, SHIPPED_PROFILES
from htppower.tools.review.json_schema import said_of_fields
from htppower.votes.clock_votes import DcvsV3, DcvsV3Exp, VoltageRange
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.vote_set import LIMITS, VoteSet

if TYPE_CHECKING:
    import enum
    from collections.abc import Callable, Iterable

    from htppower.profiles.profile import Profile

_STATES = ("relaxed", "relaxed_up_down", "released", "released_up_down", "extreme_released")


def _profiles() -> str:
    rows = []
    for profile in map(load_profile, SHIPPED_PROFILES):
        fields = _fields(profile)
        votes = bool(profile.votes)
        rows.append(
            (
                f"`{profile.name}`",
                f"`{fields['dcvs_v3.core']}`" if votes else "no votes",
                fields["dcvs_v3.sleep_latency_us"] if votes else "",
                fields["rpc_polling_time_us"] if votes else "",
                f"`{fields['relax.to']}`" if votes else "",
                fields["relax.after_inference_us"] if votes else "",
            )
        )
    head = ("Profile", "Bus and core corners", "Sleep latency, us", "RPC polling, us", "Relaxes to", "Sustain, us")
    return made_table(head, rows)


def _llm_decode() -> str:
    """Return the votes that only the profiles for language models have."""
    fields = ("dcvs_v3.sleep_latency_us", "dcvs_v3.bus", "dcvs_v3.core", "hmx_v2", "ceng", "ddr_perf_mode")
    rows = []
    for name in LLM_DECODE_PROFILES:
        spelt = _fields(load_profile(name))
        rows.append((f"`{name}`", *(_one_clock(spelt[field]) for field in fields)))
    return made_table(("Profile", "Sleep latency, us", "Bus", "Core", "HMX", "CENG", "DDR mode"), rows)


def _one_clock(spelt: str) -> str:
    """Return a vote on one clock with min = target = max as corner and perf mode."""
    found = re.fullmatch(r"\{min: (\w+), target: \1, max: \1, perf_mode: (\w+)\}", spelt)
    return f"`{found[1]}` ({found[2]})" if found else f"`{spelt}`"


def _other_fields() -> str:
    """Return the fields that the table of profiles leaves out, with their values and exceptions."""
    shown = ("dcvs_v3.core", "dcvs_v3.sleep_latency_us", "rpc_polling_time_us", "relax.to", "relax.after_inference_us")
    profiles = [profile for profile in map(load_profile, SHIPPED_PROFILES) if profile.votes]
    rows = []
    for name in (name for name in _fields(profiles[0]) if name not in shown):
        users: dict[str, list[str]] = {}
        for profile in profiles:
            fields = _fields(profile)
            value = "the core corners" if fields[name] == fields.get("dcvs_v3.core") else f"`{fields[name]}`"
            users.setdefault(value, []).append(f"`{profile.name}`")
        commonest = max(users, key=lambda value: len(users[value]))
        others = "; ".join(f"{value}: {', '.join(names)}" for value, names in users.items() if value != commonest)
        rows.append((f"`{name}`", commonest, others or "none"))
    return made_table(("Field", "Value in the nine profiles with votes", "Except"), rows)


def _power_states() -> str:
    folders = Folders.of(())
    states = [examine_power_state(folders.find(name, "state"), folders).accepted() for name in _STATES]
    columns = [_spelt(vote_fields(state.votes)) for state in states]
    rows = [(f"`{name}`", *(f"`{column[name]}`" for column in columns)) for name in columns[0]]
    return made_table(("Field", *(f"`{name}`" for name in _STATES)), rows)


def _fields_of(kind: type[Any]) -> str:
    """Return the fields of a class of a file, with their effect and their range."""
    rows = []
    said = said_of_fields(kind)
    for name, (_, wants) in declared(kind).items():
        ruled = LIMITS.get((kind, name))
        low_high = (ruled.low, ruled.high) if ruled else wants.limits
        span = f"{low_high[0]} to {low_high[1]}{f' ({ruled.rule})' if ruled and ruled.rule else ''}" if low_high else ""
        rows.append((f"`{name}`", said[name].rstrip("."), span))
    return made_table(("Field", "What", "Range"), rows)


def _fields(profile: Profile) -> dict[str, str]:
    """Return every field of a profile as it is spelt in the tables."""
    return _spelt(profile_fields(profile))


def _spelt(fields: Iterable[tuple[tuple[str, ...], Any]]) -> dict[str, str]:
    return {".".join(at).removeprefix("votes."): _spell(value) for at, value in fields}


def _spell(value: Any) -> str:
    if isinstance(value, VoltageRange) and not value.min == value.target == value.max:
        return f"{value.min.name} / {value.target.name} / {value.max.name}"
    return spell(value)


def _words(kind: type[enum.Enum]) -> str:
    return ", ".join(f"`{name}`" for name in kind.__members__)


PARTS: dict[str, Callable[[], str]] = {
    "profiles": _profiles,
    "llm-decode-profiles": _llm_decode,
    "other-fields": _other_fields,
    "power-states": _power_states,
    "fields-of-a-profile": lambda: _fields_of(ProfileFields),
    "fields-of-votes": lambda: _fields_of(VoteSet),
    "fields-of-dcvs-v3": lambda: _fields_of(DcvsV3),
    "fields-of-dcvs-v3-exp": lambda: _fields_of(DcvsV3Exp),
    "fields-of-relax": lambda: _fields_of(RelaxFields),
    "fields-of-break-even": lambda: _fields_of(BreakEvenFields),
    "fields-of-cold-starts": lambda: _fields_of(ColdStartsFields),
    "fields-of-then": lambda: _fields_of(ThenFields),
    "voltage-corners": lambda: _words(VoltageCorner),
    "expanded-corners": lambda: _words(ExpandedCorner),
    "power-modes": lambda: _words(PowerMode),
    "perf-modes": lambda: _words(ClkPerfMode),
}
