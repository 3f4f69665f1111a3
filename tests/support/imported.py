"""Settings of extension files, and the profile that a file with one core becomes."""

from __future__ import annotations

import json
from typing import Any

from htppower.rules import table as rules
from htppower.tools.extensions.extension_file import parse_extension_file
from htppower.tools.extensions.to_profiles import Imported, to_profiles

START, DONE = ["init_start", "inference_start", "deinit_start"], ["init_done", "inference_done"]


def clocks(corner: str, **more: Any) -> dict[str, Any]:
    """Return a ``dcvsControl`` with one corner everywhere."""
    corners = [f"{clock}VoltageCorner{limit}" for clock in ("bus", "core") for limit in ("Min", "Target", "Max")]
    return {**dict.fromkeys(corners, f"DCVS_VOLTAGE_VCORNER_{corner}"), **more}


def item(states: list[str], corner: str, **more: Any) -> dict[str, Any]:
    """Return an item of a custom profile."""
    return {"graphState": states, "dcvsControl": clocks(corner), **more}


def imported(core: dict[str, Any]) -> Imported:
    """Return the one profile of a file with one core."""
    (found,) = to_profiles(parse_extension_file(json.dumps({"devices": [{"cores": [core]}]}), "a/camera.json"))
    assert not rules.errors(found.profile.case())
    return found


def remarks(found: Imported) -> str:
    """Return the remarks of an import about settings that a profile can't express."""
    return "\n".join(map(str, found.remarks))
