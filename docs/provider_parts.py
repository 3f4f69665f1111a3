"""The parts of the page on ONNX Runtime's provider: its votes in each mode, and profiles as its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs.tables import made_table
from htppower.hosts.qnn_provider import modes, provider_options
from htppower.profiles.fields import spell, vote_fields
from htppower.profiles.names import SHIPPED_PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable


def _balanced() -> str:
    """Return a profile as options, with everything that they can't express."""
    made = provider_options("balanced")
    return "\n".join(("```text", str(made.options), *map(str, made.unexpressed), "```"))


def _modes() -> str:
    """Return the votes of ONNX Runtime's provider in each mode."""
    rows = []
    for name, votes in modes().items():
        fields = {at[-1]: spell(value) for at, value in vote_fields(votes)}
        shown = ("core", "dcvs_enable", "power_mode", "sleep_latency_us", "rpc_polling_time_us")
        cells = (fields[each].replace("unset", "no vote") for each in shown)
        rows.append((f"`{name}`", *(cells if votes else ("no votes", "", "", "", ""))))
    return made_table(
        ("Mode", "Bus and core corners", "DCVS", "Power mode", "Sleep latency, us", "RPC polling, us"), rows
    )


def _options() -> str:
    """Return every profile as options of ONNX Runtime's provider, with what they can't express except relaxing."""
    rows = []
    for name in SHIPPED_PROFILES:
        made = provider_options(name)
        lost = [each for each in made.unexpressed if each.field[0] != "relax"]
        rows.append(
            (
                f"`{name}`",
                ", ".join(f"`{option}={value}`" for option, value in made.options.items()),
                ", ".join(f"`{each.field[-1]}: {each.says}` ({each.instead})" for each in lost) or "nothing",
            )
        )
    return made_table(("Profile", "Options", "What they can't express, except relaxing (what the provider does)"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "provider-balanced": _balanced,
    "provider-modes": _modes,
    "provider-options": _options,
}
