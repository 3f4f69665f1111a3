"""How many examples a property is tried on: a few in each run, ten times as many in a thorough run.

Each run draws new examples, so that many short runs try as much as a long one. ``--hypothesis-profile thorough`` is for
changes of the strategies, and for runs at night.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings

ORDINARY = 30
THOROUGH = 300


def register() -> None:
    """Register both profiles, and use the ordinary one."""
    settings.register_profile("htppower", deadline=None, print_blob=True, max_examples=ORDINARY)
    settings.register_profile("thorough", settings.get_profile("htppower"), max_examples=THOROUGH)
    settings.load_profile("htppower")


def examples(number: int, **given: Any) -> settings:
    """Return settings for a property that is tried on more or fewer examples than the others.

    Args:
        number: the number of examples in an ordinary run.
        given: other settings.
    """
    return settings(max_examples=number * settings().max_examples // ORDINARY, **given)
