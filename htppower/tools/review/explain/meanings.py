"""The effect of each field, in a sentence, with its rules and the section of the vendor's documentation."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from htppower.profiles.fields import CPU_LATENCY
from htppower.tools.review.lint.catalogue import rules_on
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath

_PROFILES = 'QNN HTP backend, "QNN HTP Backend Extensions", perf_profile'
_VOTER = "the vendor's documentation names no such state; its own voter ends in such a state"
_OURS = "htppower's own; the vendor's documentation names no such field"


class Meaning(NamedTuple):
    """The meaning of a field.

    Attributes:
        does: what it does, in a sentence.
        section: the section of the vendor's documentation.
        native: the fields of the C struct that it sets; empty if it is not a vote.
        rules: the ids of the rules on it, as ``meaning_of`` finds them in the catalogue.
    """

    does: str
    section: str
    native: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


def _of_votes() -> Iterator[tuple[KeyPath, Meaning]]:
    for about in VOTE_OPTIONS.values():
        own = tuple(name for name in about.native_fields if name != "contextId")
        yield ("votes", about.field), Meaning(about.does, about.section, own)
        for field in about.fields:
            if field.does:
                native = tuple(filter(None, (field.flag, *field.native)))
                yield ("votes", about.field, field.name), Meaning(field.does, about.section, native)


def _of_learning(at: KeyPath) -> Iterator[tuple[KeyPath, Meaning]]:
    """Yield the mapping that replaces a learnt time, and its fields."""
    yield (
        (*at, "adaptive"),
        Meaning("The time is learnt: each session chooses it anew from the gaps between its inferences.", _OURS),
    )
    says = {
        "break_even_us": "The break-even time: how long votes that are up and idle cost as much as a raise and a "
        "lowering, in us. The chosen time is the cheapest for the gaps so far, within a bound on its cost.",
        "cold_starts": "The share of the inferences after a gap that may wait for a raise. The chosen time is the "
        "shortest that has kept this share so far.",
        "least_us": "The shortest time that may be chosen, in us; left out, it is 0.",
        "most_us": "The longest time that may be chosen, in us; left out, it is twice the break-even time, and 10 s "
        "with cold_starts.",
    }
    for name, does in says.items():
        yield (*at, "adaptive", name), Meaning(does, _OURS)


_MEANINGS: Mapping[KeyPath, Meaning] = MappingProxyType(
    {
        ("profile",): Meaning("The profile's name, which hosts use to choose it.", _PROFILES),
        ("state",): Meaning("The power state's name, which profiles use to relax to it.", _PROFILES),
        ("summary",): Meaning("The purpose of the profile, in words; it changes no vote.", _OURS),
        ("votes",): Meaning("The votes; unset sends none, creates no power config id and makes no call.", _PROFILES),
        **dict(_of_votes()),
        CPU_LATENCY: Meaning(
            "The longest time that a CPU may need to wake up while an inference runs, in us: a request to Linux by "
            "/dev/cpu_dma_latency.",
            _OURS,
        ),
        ("relax",): Meaning("The votes between the phases; unset only if nothing is voted.", _PROFILES),
        ("relax", "to"): Meaning("The power state that the votes are lowered to between the phases.", _PROFILES),
        ("relax", "after_init_us"): Meaning(
            "How long the votes stay up after INIT, in us; 0 lowers at once.", _PROFILES
        ),
        ("relax", "after_inference_us"): Meaning(
            "The sustain time: how long the votes stay up after the last inference, in us; 0 lowers at once; adaptive: "
            "each session learns it from the gaps between its inferences.",
            _PROFILES,
        ),
        **dict(_of_learning(("relax", "after_inference_us"))),
        ("relax", "lowering"): Meaning(
            "foreground: without a sustain time the inference returns once the votes are lowered; background: they are "
            "lowered soon after, off the caller's thread, which a failure then can't reach.",
            _OURS,
        ),
        ("relax", "after_deinit_to"): Meaning(
            "The power state at the end of DE-INIT; left out, it is the one in to.", _VOTER
        ),
        ("relax", "then"): Meaning("The second, lower power state to relax to; unset, or left out: nothing.", _OURS),
        ("relax", "then", "to"): Meaning("The second power state, which follows the first.", _OURS),
        ("relax", "then", "after_us"): Meaning(
            "How long the first power state lasts, in us; 0 skips the wait; adaptive: each session learns it.",
            _OURS,
        ),
        **dict(_of_learning(("relax", "then", "after_us"))),
        ("relax", "raise_ahead_us"): Meaning(
            "How long before a predicted inference the votes are raised for it, in us; 0 never does. A prediction "
            "comes from a hint of the host, or from periodic gaps.",
            _OURS,
        ),
    }
)

OF_LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "min": "The clock goes no lower.",
        "target": "The clock has this corner when the call returns.",
        "max": "The clock goes no higher, as long as no other client is active.",
        "perf_mode": "Which frequency of the corner: HIGH the highest, LOW the lowest.",
    }
)


def meaning_of(at: KeyPath) -> Meaning:
    """Return the meaning of a field, by the keys that lead to it in a file."""
    if at in _MEANINGS:
        return _MEANINGS[at]._replace(rules=rules_on(at))
    whole = meaning_of(at[:-1])
    suffix = "PerfMode" if at[-1] == "perf_mode" else at[-1].capitalize()
    native = tuple(name for name in whole.native if name.endswith(suffix))
    return whole._replace(does=f"{OF_LIMITS[at[-1]]} {whole.does}", native=native)
