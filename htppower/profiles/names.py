"""The names of the vendor's profiles, in the vendor's order, and the names of records of other runtimes' votes."""

from __future__ import annotations

import os

SYSTEM_SETTINGS = "system_settings"

# From highest performance to lowest.
SHIPPED_PROFILES = (
    "burst",
    "sustained_high_performance",
    "high_performance",
    "balanced",
    "low_balanced",
    "high_power_saver",
    "power_saver",
    "low_power_saver",
    "extreme_power_saver",
    SYSTEM_SETTINGS,
)

# The profiles for decoding with language models, of SDK 2.48, in the same order.
LLM_DECODE_PROFILES = tuple(
    f"llm_decode_{name}"
    for name in (*SHIPPED_PROFILES[:3], "default", *SHIPPED_PROFILES[3:])
    if name != SYSTEM_SETTINGS
)

# A list of profiles begins with these names.
LISTED_FIRST = (*SHIPPED_PROFILES, *LLM_DECODE_PROFILES)

# The subfolder with records: it has a folder for each runtime.
RECORDS = "runtimes"
# Between the runtime and the mode, in the name of a record.
SEPARATOR = ":"


def runtime_of(file: str) -> str:
    """Return the runtime that a record, or the power state of a record, belongs to; empty for other files."""
    above, name = os.path.split(os.path.dirname(os.path.abspath(file)))  # links are not resolved
    if name == "states":
        above, name = os.path.split(above)
    return name if os.path.basename(above) == RECORDS else ""


def above_records(folder: str) -> str | None:
    """Return the profile folder that contains a folder of records; None for every other folder."""
    runtimes = os.path.normpath(os.path.join(folder, os.pardir))
    named = os.path.basename(os.path.abspath(runtimes))
    return os.path.normpath(os.path.join(runtimes, os.pardir)) if named == RECORDS else None


def recorded_name(file: str, name: str) -> str:
    """Return the name that loads a profile; for a record, it includes the runtime."""
    runtime = runtime_of(file)
    return f"{runtime}{SEPARATOR}{name}" if runtime else name


def own_name(name: str) -> str:
    """Return the name of a profile as in its file: for a record, without the runtime."""
    return name.rpartition(SEPARATOR)[2]
