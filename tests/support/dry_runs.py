"""Dry runs that several test files use."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import attrs

from htppower.backends import SimulatedHtp
from htppower.profiles.loading import load_profile
from htppower.tools.review.dry_run.workload import Workload, run

if TYPE_CHECKING:
    from htppower.backends.simulated.clocks import Effective
    from htppower.profiles.profile import Profile
    from htppower.tools.review.dry_run.workload import Report
    from htppower.votes.vote_set import VoteSet

# Names and summaries that must stay texts.
HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'apostrophes' ]]> -->",
    "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd",
    "a control \x00\x1b[31m and half a pair \ud800",
    "x" * 5000,
)


class Watched(SimulatedHtp):
    """A simulated HTP that records the votes in force on core 0 after every call."""

    def __init__(self, arch: int = 75) -> None:
        super().__init__(arch=arch)
        self.after_calls: list[Effective] = []

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create, and record."""
        created = super().create_power_config_id(device_id, core_id)
        self.after_calls.append(self.effective())
        return created

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Set, and record."""
        super().set_power_config(power_config_id, votes)
        self.after_calls.append(self.effective())

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Destroy, and record."""
        super().destroy_power_config_id(power_config_id)
        self.after_calls.append(self.effective())


def dry_run(
    profile: str | Profile = "burst",
    inferences: int = 3,
    inference_us: int = 5000,
    gap_us: int = 10_000,
    backend: SimulatedHtp | None = None,
) -> Report:
    """Return the report of a workload under a profile; the default backend is a V75."""
    loaded = load_profile(profile) if isinstance(profile, str) else profile
    simulated = SimulatedHtp(arch=75) if backend is None else backend
    workload = Workload(inferences, inference_us, gap_us)
    return run(loaded, simulated, workload)


def sustaining(profile: str, sustain_us: int) -> Profile:
    """Return a shipped profile with another sustain time."""
    loaded = load_profile(profile)
    assert loaded.relax is not None
    return attrs.evolve(loaded, relax=attrs.evolve(loaded.relax, after_inference_us=sustain_us))


def hostile(text: str) -> Profile:
    """Return burst with a text for its name and summary."""
    return attrs.evolve(load_profile("burst"), name=text, summary=text)


def parsed(svg: str) -> ET.Element:
    """Return one of our pictures as XML."""
    return ET.fromstring(svg)  # noqa: S314 - we made it
