"""The rules of what a profile relaxes to, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding, printable
from htppower.rules.rule import Breach, Needs, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.rules.case import Case

_AFTER_INIT = ("relax", "after_init_us")
_SUSTAIN = ("relax", "after_inference_us")
# What no timer keeps under load is shorter than this.
SHORTEST_SUSTAIN_US = 20_000


# The same timer keeps votes up after INIT.
@rule(
    "SUS-1",
    "A sustain time is 0, or 20000 us or more: a timer can't keep a shorter one under load.",
    Breach.WARNING,
    "measured: 19 ms late at p99 beside one busy thread",
    needs=(Needs.PROFILE,),
    fields=(_AFTER_INIT, _SUSTAIN),
)
def _short_sustain(case: Case) -> Iterator[Finding]:
    hint = f"0 to lower at once, or {SHORTEST_SUSTAIN_US} and more"
    if 0 < case.after_inference_us < SHORTEST_SUSTAIN_US:
        yield Finding("SUS-1", _SUSTAIN, f"a sustain time of {case.after_inference_us} us", hint)
    if 0 < case.after_init_us < SHORTEST_SUSTAIN_US:
        yield Finding("SUS-1", _AFTER_INIT, f"{case.after_init_us} us after INIT", hint)


@rule(
    "SUS-2",
    "A profile with votes names the state it relaxes to.",
    Breach.ERROR,
    "vendor, profiles table",
    needs=(Needs.FIELDS, Needs.PROFILE),
    fields=(("relax",), ("relax", "to")),
)
def _names_power_state(case: Case) -> Iterator[Finding]:
    if case.lineage and case.votes and not case.lowered:
        message = f"{printable(case.lineage[0])} votes and names no power state"
        yield Finding("SUS-2", ("relax",), message, "state relax: {to: ...}", also=(("votes",),))


@rule(
    "SUS-3",
    "Lowering in the background acts only where the sustain time is 0: a timer is off the caller's thread anyway.",
    Breach.NOTE,
    "the sustain timer's thread is the controller's own",
    needs=(Needs.FIELDS, Needs.PROFILE),
    fields=(_SUSTAIN, ("relax", "lowering")),
)
def _background_lowering(case: Case) -> Iterator[Finding]:
    if case.in_background and case.after_inference_us:
        message = f"lowering background does nothing while after_inference_us is {case.after_inference_us}"
        hint = "lowering: foreground, or after_inference_us: 0"
        yield Finding("SUS-3", ("relax", "lowering"), message, hint, also=(_SUSTAIN,))


RELAX_RULES = (_short_sustain, _names_power_state, _background_lowering)
