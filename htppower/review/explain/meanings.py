"""What each field does, in a sentence, with the rules on it and the section of the vendor's documentation behind it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from htppower.review.lint.catalogue import rules_on
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath

_PROFILES = 'QNN HTP backend, "QNN HTP Backend Extensions", perf_profile'
_VOTER = "the vendor's documentation names no such state; its own voter ends in one"
_OURS = "htppower's own; the vendor's documentation names no such field"


class Meaning(NamedTuple):
    """What a field means.

    Attributes:
        does: what it does, in a sentence.
        section: where the vendor documents it.
        native: the fields of the C struct that it becomes; empty for one that is no vote.
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
    """Yield what stands in the place of a time that is learnt, and below that."""
    yield (
        (*at, "adaptive"),
        Meaning("The time is learnt: each session chooses it anew from the gaps between its inferences.", _OURS),
    )
    says = {
        "break_even_us": "The break-even time: how long votes that are up and idle cost as much as a raise and a "
        "lowering, in us. The time is the one that would have cost least, within a bound on what it may ever cost.",
        "cold_starts": "The share of the inferences after a gap that may wait for a raise. The time is the shortest "
        "that would have kept to it.",
        "least_us": "The shortest time that may be chosen, in us; left out, it is 0.",
        "most_us": "The longest time that may be chosen, in us; left out, it is twice the break-even time, and 10 s "
        "beside cold_starts.",
    }
    for name, does in says.items():
        yield (*at, "adaptive", name), Meaning(does, _OURS)


_MEANINGS: Mapping[KeyPath, Meaning] = MappingProxyType(
    {
        ("profile",): Meaning("The profile's name, by which hosts ask for it.", _PROFILES),
        ("state",): Meaning("The power state's name, by which profiles relax to it.", _PROFILES),
        ("summary",): Meaning("What the profile is for; it is shown, and changes no vote.", _OURS),
        ("votes",): Meaning("The votes; unset casts none, creates no power config id and makes no call.", _PROFILES),
        **dict(_of_votes()),
        ("relax",): Meaning("What is voted between the phases; unset only where nothing is voted.", _PROFILES),
        ("relax", "to"): Meaning("The power state to which the votes are lowered between the phases.", _PROFILES),
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
            "The power state in which DE-INIT ends; left out, it is that of to.", _VOTER
        ),
        ("relax", "then"): Meaning(
            "What the profile relaxes to further, once it has relaxed; unset, or left out: nothing.", _OURS
        ),
        ("relax", "then", "to"): Meaning("The power state to which the votes are lowered further.", _OURS),
        ("relax", "then", "after_us"): Meaning(
            "How long after they were relaxed the votes are lowered further, in us; 0 does it at once; adaptive: each "
            "session learns it.",
            _OURS,
        ),
        **dict(_of_learning(("relax", "then", "after_us"))),
        ("relax", "raise_ahead_us"): Meaning(
            "How long before a predicted inference the votes are raised for it, in us; 0 never does. What predicts "
            "is a hint of the host, or gaps that are periodic.",
            _OURS,
        ),
    }
)

OF_LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "min": "The clock goes no lower.",
        "target": "The clock is here when the call returns.",
        "max": "The clock goes no higher, as long as no other client is active.",
        "perf_mode": "Which frequency of the corner: HIGH the highest, LOW the lowest.",
    }
)


def meaning_of(at: KeyPath) -> Meaning:
    """Return what a field means, by the keys that lead to it in a file."""
    if at in _MEANINGS:
        return _MEANINGS[at]._replace(rules=rules_on(at))
    whole = meaning_of(at[:-1])
    suffix = "PerfMode" if at[-1] == "perf_mode" else at[-1].capitalize()
    native = tuple(name for name in whole.native if name.endswith(suffix))
    return whole._replace(does=f"{OF_LIMITS[at[-1]]} {whole.does}", native=native)
