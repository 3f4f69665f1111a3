"""Genie: an extension file, the JSON of the dialog that names it, and the policy of its API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Severity
from htppower.profiles.expressed import Nearest, lost, nearest, records
from htppower.profiles.loading import load_profile
from htppower.profiles.names import LLM_DECODE_PROFILES
from htppower.tools.extensions.from_profile import from_profile
from htppower.tools.extensions.keys import BESIDE
from htppower.tools.runtimes.settings import Part, Runtime, Settings

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile

KNOWN = "Genie's votes were measured: the log of libGenie.so of onnxruntime-qnn 2.7.0 (QAIRT 2.51)."
EXTENSION_FILE = "htp_backend_ext_config.json"
# The path in a dialog to the extension file, the inner one.
EXTENSIONS = ("dialog", "engine", "backend", "extensions")
# The votes with a separate key next to perf_profile, and the keys. Without the first two keys, the votes of the record
# apply; without the others, nothing is voted.
SIBLINGS = {field: key for key, field in BESIDE.items()}
# The vendor's own example files state this, although it is the default.
_ALWAYS_SAID = ("rpc_control_latency_us",)
_LLM_DECODE = "llm_decode profiles: QAIRT 2.48 and later, on Hexagon V79 and later."
_CUSTOM = "The same as from htppower export, which can also write it into an existing file."
_DDR = "Below Hexagon V81 delete ddr_perf_mode, which loses the raised votes there."
_POLICY = (
    "For GeniePerformanceConfig_createFromJson (QAIRT 2.51). GenieDialog_setPerformancePolicy overrides the file at "
    "once; before that, GenieDialog_getPerformancePolicy does not return the file's policy."
)
# The API has no policy for these profiles.
_NO_POLICY = ("default", "system_settings")


def _write(profile: Profile) -> Settings:
    """Return a profile as an extension file, by the nearest name or vote by vote, and the related settings.

    If the name loses fields that explicit votes keep, the explicit votes come first.
    """
    for_decode = _llm_decode(profile)
    found = for_decode or nearest(profile, ("vendor",), tuple(SIBLINGS))
    note = _LLM_DECODE if for_decode else ""
    named = Part("extension file, by name", _by_name(profile, found), "json", EXTENSION_FILE, note)
    exported = from_profile(profile)
    own_lost = tuple(
        attrs.evolve(each, by="the runtime") for each in exported.lost if each.severity is not Severity.NOTE
    )
    note = f"{_CUSTOM} {_DDR}" if exported.settings.get("ddr_perf_mode") else _CUSTOM
    own = Part("extension file, vote by vote", exported.text().rstrip(), "json", EXTENSION_FILE, note)
    dialog: Any = EXTENSION_FILE
    for key in reversed(EXTENSIONS):
        dialog = {key: dialog}
    parts = [
        *((named, own) if not found.lost else (own, named)),
        Part(
            "dialog",
            json.dumps(dialog, indent=2),
            "json",
            note="In addition to the dialog's other keys. Without extensions Genie sends no votes at all.",
        ),
    ]
    if found.mode not in _NO_POLICY:
        policy = {"performance": {"policy": found.mode}}
        parts.append(Part("policy of the API", json.dumps(policy, indent=2), "json", note=_POLICY))
    return Settings(tuple(parts), own_lost if found.lost else (), KNOWN)


def _llm_decode(profile: Profile) -> Nearest | None:
    """Return the vendor's decode profile that a profile is, or extends with no other votes than those with own keys.

    Several of them vote alike, so the lineage decides. No record of their votes was measured: the shipped profiles with
    these names have the votes of the vendor's table.
    """
    for name in profile.lineage:
        if name in LLM_DECODE_PROFILES:
            shipped = load_profile(name)
            said = {field: value for field in SIBLINGS if (value := getattr(profile.votes, field)) not in (None, False)}
            expressed = attrs.evolve(shipped, votes=attrs.evolve(shipped.votes, **said))
            if expressed.votes == profile.votes:
                return Nearest(name, expressed, held=False, lost=tuple(lost(profile, expressed, held=False)))
    return None


def _by_name(profile: Profile, found: Nearest) -> str:
    core = {"core_id": 0, "perf_profile": found.mode, **_siblings(profile, found)}
    return json.dumps({"devices": [{"device_id": 0, "cores": [core]}]}, indent=2)


def _siblings(profile: Profile, found: Nearest) -> dict[str, Any]:
    """Return the keys for the votes that differ from those of the mode itself."""
    own = (records("vendor").get(found.mode) or load_profile(found.mode)).votes
    votes = {name: getattr(profile.votes, name) for name in SIBLINGS}
    return {
        SIBLINGS[name]: value
        for name, value in votes.items()
        if value is not None and value is not False and (value != getattr(own, name) or name in _ALWAYS_SAID)
    }


GENIE = Runtime("Genie", _write)
