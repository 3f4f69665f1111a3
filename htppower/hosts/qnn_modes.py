"""A profile as options of ONNX Runtime's QNN execution provider, for a host that lets the provider vote."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.loading import load_profile
from htppower.profiles.lost import Lost
from htppower.profiles.profile import Profile
from htppower.runtimes.expressed import records
from htppower.runtimes.onnxruntime import nearest_mode, provider_settings

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from htppower.votes.vote_set import VoteSet


def modes() -> Mapping[str, VoteSet]:
    """Return what the provider votes for each htp_performance_mode, from highest to lowest."""
    return MappingProxyType({mode: record.votes for mode, record in records("onnxruntime").items()})


# The name under which the value was public before that of settings and extension files had one.
Unexpressed = Lost


@attrs.frozen
class ProviderOptions:
    """A profile as options of the QNN execution provider.

    Attributes:
        options: the options, to be given to ONNX Runtime beside others.
        unexpressed: what they can't express, in the order of a file.
    """

    options: dict[str, str] = attrs.field(hash=False)
    unexpressed: tuple[Lost, ...]


def provider_options(profile: str | os.PathLike[str] | Profile) -> ProviderOptions:
    """Return the options under which the QNN execution provider votes most nearly as a profile does.

    For a host in which the controller can't be embedded: with it, the provider must not vote. The mode is the one whose
    clocks are nearest, then the one that differs in the fewest fields, then the one that the profile is named after or
    extends. What a mode votes is that of onnxruntime-qnn 2.7.0, read from its log.

    Args:
        profile: a name, a path or a profile.

    Raises:
        ProfileError: the profile can't be found or is invalid.
    """
    if not isinstance(profile, Profile):
        profile = load_profile(profile)
    found = nearest_mode(profile)
    unexpressed = (attrs.evolve(each, by="the provider") for each in found.lost)
    return ProviderOptions(provider_settings(found, profile), tuple(unexpressed))
