"""The functions behind the rules of what a profile relaxes to, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.rules.case import Case

SMALLEST_SUSTAIN_US = 20_000


def short_sustain(case: Case) -> Iterator[Finding]:
    """SUS-1; the same timer keeps votes up after INIT."""
    hint = f"0 to lower at once, or {SMALLEST_SUSTAIN_US} and more"
    if 0 < case.after_inference_us < SMALLEST_SUSTAIN_US:
        said = f"a sustain time of {case.after_inference_us} us"
        yield Finding("SUS-1", ("relax", "after_inference_us"), said, hint)
    if 0 < case.after_init_us < SMALLEST_SUSTAIN_US:
        yield Finding("SUS-1", ("relax", "after_init_us"), f"{case.after_init_us} us after INIT", hint)


def names_power_state(case: Case) -> Iterator[Finding]:
    """SUS-2."""
    if case.lineage and case.votes and case.lowered is None:
        message = f"{printable(case.lineage[0])} votes and names no power state"
        yield Finding("SUS-2", ("relax",), message, "state relax: {to: ...}", also=(("votes",),))


def background_lowering(case: Case) -> Iterator[Finding]:
    """SUS-3."""
    if case.in_background and case.after_inference_us:
        yield Finding(
            "SUS-3",
            ("relax", "lowering"),
            f"lowering background does nothing while after_inference_us is {case.after_inference_us}",
            "lowering: foreground, or after_inference_us: 0",
            also=(("relax", "after_inference_us"),),
        )
