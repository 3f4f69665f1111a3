"""The fields of the profile or power state that has a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import ProfileError, RuleBreach
from htppower.profiles.loading import examine_power_state, examine_profile
from htppower.tools.review.explain.explained import explain_profile, explain_state
from htppower.tools.review.file_kinds import Kind
from htppower.tools.review.name_lookup import find_either

if TYPE_CHECKING:
    from htppower.profiles.discovery import Folders
    from htppower.tools.review.explain.explained import Explained


def explained_by_name(name: str, folders: Folders) -> tuple[Explained, ...]:
    """Return the fields of a profile, or of a power state if no profile has the name.

    Raises:
        ProfileError: neither exists, or the file is wrong.
    """
    path, kind = find_either(name, folders)
    try:
        if kind is Kind.STATE:
            state = examine_power_state(path, folders)
            state.accepted()
            return explain_state(state)
        profile = examine_profile(path, folders)
        profile.accepted()
        return explain_profile(profile)
    except RuleBreach as breach:
        # A broken rule is an error like any other here, since nothing can be explained.
        raise ProfileError(breach.problems) from None
