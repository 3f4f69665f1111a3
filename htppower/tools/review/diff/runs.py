"""Dry runs of both sides of a comparison: the same workload under the old and the new profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.errors import ProfileError, RuleBreach
from htppower.tools.review.dry_run.workload import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.backends.simulated.htp import SimulatedHtp
    from htppower.tools.review.diff.compare import Comparison
    from htppower.tools.review.dry_run.workload import Report, Workload


@attrs.frozen(repr=False, eq=False)
class RunPair:
    """The runs of one profile before and after, or of a new profile and of the profile that it extends.

    Attributes:
        old_is: the heading of the old run.
    """

    name: str
    old: Report
    new: Report
    old_is: str = "old"


def run_both(
    comparison: Comparison, make_backend: Callable[[], SimulatedHtp], workload: Workload
) -> tuple[RunPair, ...]:
    """Return the runs of every profile that changed or is new, each on a backend of its own, in virtual time.

    Raises:
        ProfileError: a profile breaks a rule on the platform of the backend.
    """
    try:
        return tuple(
            RunPair(
                pair.name,
                run(pair.old, make_backend(), workload),
                run(pair.new, make_backend(), workload),
                pair.old_is,
            )
            for pair in comparison.pairs
        )
    except RuleBreach as breach:
        raise ProfileError(breach.problems) from None
