"""How many examples a property is tried on: some in each run, ten times as many where a run is to be thorough.

Each run draws others, so that many short runs look at as much as a long one. ``--hypothesis-profile thorough`` is for
a change of what draws them, and for a run at night.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings

ORDINARY = 30
THOROUGH = 300


def register() -> None:
    """Register both, and use the ordinary number."""
    settings.register_profile("htppower", deadline=None, print_blob=True, max_examples=ORDINARY)
    settings.register_profile("thorough", settings.get_profile("htppower"), max_examples=THOROUGH)
    settings.load_profile("htppower")


def examples(number: int, **given: Any) -> settings:
    """Return settings for a property that is to be tried on more or fewer examples than the others.

    Args:
        number: how many there are in an ordinary run.
        given: further settings.
    """
    return settings(max_examples=number * settings().max_examples // ORDINARY, **given)
