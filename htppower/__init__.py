"""htppower: performance infrastructure and power-vote controller for the Qualcomm QNN HTP (Hexagon NPU).

    controller = htppower.VoteController(backend="qnn")
    session = controller.session("burst", owner="camera")
    with session.inference():
        ...

A public name is imported on first use: importing the package itself loads no library and starts no thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower._exports import exported_lazily
from htppower._version import __version__ as __version__

if TYPE_CHECKING:
    from htppower import backends as backends
    from htppower import testing as testing
    from htppower.backends.qnn.skels import use_wheel_skels as use_wheel_skels
    from htppower.control.caps.power_profiles_cap import PowerProfilesCap as PowerProfilesCap
    from htppower.control.caps.thermal_cap import ThermalCap as ThermalCap
    from htppower.control.claims.holds import Cap as Cap
    from htppower.control.claims.holds import Hold as Hold
    from htppower.control.clock.energy_meter import EnergyMeter as EnergyMeter
    from htppower.control.clock.files import ClockFile as ClockFile
    from htppower.control.clock.files import HwmonPower as HwmonPower
    from htppower.control.clock.qcnpuperf import Qcnpuperf as Qcnpuperf
    from htppower.control.clock.reader import ClockReader as ClockReader
    from htppower.control.controller import VoteController as VoteController
    from htppower.control.modes.mode_session import ModeInference as ModeInference
    from htppower.control.modes.mode_session import ModeSession as ModeSession
    from htppower.control.pace.pace import Pace as Pace
    from htppower.control.phases.tickets import Ticket as Ticket
    from htppower.control.session import Session as Session
    from htppower.errors import BackendUnavailable as BackendUnavailable
    from htppower.errors import CloseTimedOut as CloseTimedOut
    from htppower.errors import HtpPowerError as HtpPowerError
    from htppower.errors import PhaseMisuse as PhaseMisuse
    from htppower.errors import Problem as Problem
    from htppower.errors import ProfileError as ProfileError
    from htppower.errors import RuleBreach as RuleBreach
    from htppower.errors import SessionClosed as SessionClosed
    from htppower.errors import Unavailable as Unavailable
    from htppower.errors import VoteRejected as VoteRejected
    from htppower.events import State as State
    from htppower.profiles.loading import load_profile as load_profile
    from htppower.profiles.loading import profile_names as profile_names
    from htppower.profiles.profile import Lowering as Lowering
    from htppower.profiles.profile import PowerState as PowerState
    from htppower.profiles.profile import Profile as Profile
    from htppower.profiles.profile import Relax as Relax
    from htppower.profiles.profile import Then as Then
    from htppower.profiles.sustain import Adaptive as Adaptive

_EXPORTS = {
    "htppower.backends": ("backends",),
    "htppower.backends.qnn.skels": ("use_wheel_skels",),
    "htppower.control.caps.power_profiles_cap": ("PowerProfilesCap",),
    "htppower.control.caps.thermal_cap": ("ThermalCap",),
    "htppower.control.clock.energy_meter": ("EnergyMeter",),
    "htppower.control.clock.files": ("ClockFile", "HwmonPower"),
    "htppower.control.clock.qcnpuperf": ("Qcnpuperf",),
    "htppower.control.clock.reader": ("ClockReader",),
    "htppower.control.controller": ("VoteController",),
    "htppower.control.claims.holds": ("Cap", "Hold"),
    "htppower.control.modes.mode_session": ("ModeInference", "ModeSession"),
    "htppower.control.pace.pace": ("Pace",),
    "htppower.control.session": ("Session",),
    "htppower.control.phases.tickets": ("Ticket",),
    "htppower.errors": (
        *("BackendUnavailable", "CloseTimedOut", "HtpPowerError", "PhaseMisuse", "Problem"),
        *("ProfileError", "RuleBreach", "SessionClosed", "Unavailable", "VoteRejected"),
    ),
    "htppower.events": ("State",),
    "htppower.profiles.loading": ("load_profile", "profile_names"),
    "htppower.profiles.profile": ("Lowering", "PowerState", "Profile", "Relax", "Then"),
    "htppower.profiles.sustain": ("Adaptive",),
    "htppower.testing": ("testing",),
}
__all__ = [name for names in _EXPORTS.values() for name in names]

if not TYPE_CHECKING:  # With a __getattr__, type checkers would accept any name.
    __getattr__ = exported_lazily(__name__, _EXPORTS)


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
