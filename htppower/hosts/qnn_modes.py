"""A profile as options of ONNX Runtime's QNN execution provider, for a host that lets the provider vote."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from htppower.hosts.provider_settings import nearest_mode, provider_settings
from htppower.profiles.expressed import Lost, records
from htppower.profiles.loading import load_profile
from htppower.profiles.profile import Profile

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from htppower.votes.vote_set import VoteSet


def modes() -> Mapping[str, VoteSet]:
    """Return the provider's votes for each htp_performance_mode, from highest to lowest."""
    return MappingProxyType({mode: record.votes for mode, record in records("onnxruntime").items()})


# The old public name of ``Lost``.
Unexpressed = Lost


@attrs.frozen
class ProviderOptions:
    """A profile as options of the QNN execution provider.

    Attributes:
        options: the options, to be given to ONNX Runtime together with others.
        unexpressed: the fields that the options can't express, in the order of a file.
    """

    options: dict[str, str] = attrs.field(hash=False)
    unexpressed: tuple[Lost, ...]


def provider_options(profile: str | os.PathLike[str] | Profile) -> ProviderOptions:
    """Return the options that make the QNN execution provider vote as similarly as possible to a profile.

    This is for a host that can't embed the controller: next to a controller, the provider must not vote. The mode is
    chosen by the nearest clocks, then by the fewest different fields, then by the name of the profile or of a profile
    that it extends. The votes of the modes were read from the log of onnxruntime-qnn 2.7.0.

    Args:
        profile: a name, a path or a profile.

    Raises:
        ProfileError: the profile is not found or is invalid.
    """
    if not isinstance(profile, Profile):
        profile = load_profile(profile)
    found = nearest_mode(profile)
    unexpressed = (attrs.evolve(each, by="the provider") for each in found.lost)
    return ProviderOptions(provider_settings(found, profile), tuple(unexpressed))
