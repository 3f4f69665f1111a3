"""htppower: performance infrastructure and power-vote controller for the Qualcomm QNN HTP (Hexagon NPU).

    controller = htppower.VoteController(backend="qnn")
    session = controller.session("burst", owner="camera")
    with session.inference():
        ...

The public names are imported when they are first used: importing the package loads no library and starts nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from htppower._version import __version__ as __version__

if TYPE_CHECKING:
    from htppower import backends as backends
    from htppower import testing as testing
    from htppower.control.controller import VoteController as VoteController
    from htppower.control.holds import Cap as Cap
    from htppower.control.holds import Hold as Hold
    from htppower.control.session import Session as Session
    from htppower.control.thermal_cap import ThermalCap as ThermalCap
    from htppower.errors import BackendUnavailable as BackendUnavailable
    from htppower.errors import HtpPowerError as HtpPowerError
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

_HOME = {
    "BackendUnavailable": "errors",
    "Cap": "control.holds",
    "Hold": "control.holds",
    "HtpPowerError": "errors",
    "Lowering": "profiles.profile",
    "PowerState": "profiles.profile",
    "Problem": "errors",
    "Profile": "profiles.profile",
    "ProfileError": "errors",
    "Relax": "profiles.profile",
    "RuleBreach": "errors",
    "Session": "control.session",
    "SessionClosed": "errors",
    "State": "events",
    "ThermalCap": "control.thermal_cap",
    "Unavailable": "errors",
    "VoteController": "control.controller",
    "VoteRejected": "errors",
    "load_profile": "profiles.loading",
    "profile_names": "profiles.loading",
}
_SUBMODULES = ("backends", "testing")

__all__ = [
    "BackendUnavailable",
    "Cap",
    "Hold",
    "HtpPowerError",
    "Lowering",
    "PowerState",
    "Problem",
    "Profile",
    "ProfileError",
    "Relax",
    "RuleBreach",
    "Session",
    "SessionClosed",
    "State",
    "ThermalCap",
    "Unavailable",
    "VoteController",
    "VoteRejected",
    "backends",
    "load_profile",
    "profile_names",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
