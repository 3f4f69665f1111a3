"""The settings of a runtime for a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.runtimes.catalogue import RUNTIMES

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile
    from htppower.tools.runtimes.settings import Settings


def settings(profile: Profile, name: str) -> Settings:
    """Return the settings of the runtime with this name."""
    return RUNTIMES[name].write(profile)
