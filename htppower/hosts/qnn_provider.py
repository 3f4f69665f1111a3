"""ONNX Runtime's QNN execution provider: its options, and a session with it.

The provider can vote by itself. If both the provider and the controller vote on the HTP, the higher vote is in force,
and the provider's vote is never lowered. So a session with a controller refuses the options that make the provider
vote. A host that leaves voting to the provider gets the options that are nearest to a profile.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.backends.qnn.library import library_name
from htppower.backends.qnn.loaded import file_in_use
from htppower.errors import HtpPowerError
from htppower.profiles.expressed import Lost, Nearest, nearest, records
from htppower.profiles.loading import load_profile
from htppower.profiles.profile import Profile

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from onnxruntime import InferenceSession, RunOptions, SessionOptions

    from htppower.votes.vote_set import VoteSet

PROVIDER = "QNNExecutionProvider"

# Both options name the backend that the provider opens; it refuses both at once.
_BACKEND = frozenset({"backend_path", "backend_type"})

PERFORMANCE_MODE = "htp_performance_mode"
CONTROL_LATENCY = "rpc_control_latency"
RUN_MODE = "qnn.htp_perf_mode"
RUN_MODE_AFTER = "qnn.htp_perf_mode_post_run"
RUN_LATENCY = "qnn.rpc_control_latency"

# Each option that can make the provider vote, with the value that does not. Source: the log of onnxruntime-qnn 2.7.0.
# Votes that a run option causes stay after the run. The dynamic option "default", set after
# another value, ends the process.
_SILENT: Mapping[str, str] = MappingProxyType(
    {
        PERFORMANCE_MODE: "default",
        CONTROL_LATENCY: "0",
        "ep.qnnexecutionprovider.htp_performance_mode": "default",
        "ep.qnnexecutionprovider.rpc_control_latency": "0",
        RUN_MODE: "default",
        RUN_MODE_AFTER: "default",
        RUN_LATENCY: "0",
        "ep.dynamic.qnn_htp_performance_mode": "default",
    }
)
_OF_SESSIONS = tuple(name for name in _SILENT if name.startswith("ep.qnnexecutionprovider."))
_OF_RUNS = tuple(name for name in _SILENT if name.startswith("qnn."))

# Whether threads of the CPU use it while they wait. On an NPU session they took 34 % of the CPU, and 3 % without it, at
# the same speed (https://github.com/microsoft/foundry-local/issues/1081).
SPINNING = ("session.intra_op.allow_spinning", "session.inter_op.allow_spinning")

# The old public name of ``Lost``.
Unexpressed = Lost


def nearest_mode(profile: Profile) -> Nearest:
    """Return the mode of the provider that is nearest to a profile."""
    return nearest(profile, ("onnxruntime",), ("rpc_control_latency_us",))


def provider_settings(found: Nearest, profile: Profile) -> dict[str, str]:
    """Return the provider options of a mode, with the control latency of a profile."""
    latency_us = profile.votes.rpc_control_latency_us
    return {PERFORMANCE_MODE: found.mode, **({CONTROL_LATENCY: str(latency_us)} if latency_us else {})}


def modes() -> Mapping[str, VoteSet]:
    """Return the provider's votes for each htp_performance_mode, from highest to lowest."""
    return MappingProxyType({mode: record.votes for mode, record in records("onnxruntime").items()})


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


class ProviderVotes(HtpPowerError, ValueError):  # noqa: N818 - reads as what it is
    """An option was refused: it would make the QNN execution provider vote in addition to the controller.

    Attributes:
        options: the refused options with their values.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = dict(options)
        given = ", ".join(f"{name}={value}" for name, value in options.items())
        super().__init__(
            f"the QNN execution provider would vote by itself because of {given}: omit that, and give the htppower"
            " session the profile with these votes"
        )


def refuse_votes(options: Mapping[str, Any]) -> None:
    """Raise an error if provider options, run options or dynamic options would make the provider vote.

    Raises:
        ProviderVotes: at least one option does.
    """
    given = {name: str(value) for name, value in options.items() if name in _SILENT}
    voting = {name: value for name, value in given.items() if value.lower() != _SILENT[name]}
    if voting:
        raise ProviderVotes(voting)


def refuse_votes_of_run(options: RunOptions) -> None:
    """Raise an error if run options would make the provider vote.

    Raises:
        ProviderVotes: at least one option does.
    """
    refuse_votes(dict(_entries(options.get_run_config_entry, _OF_RUNS)))


def refuse_votes_of_session(options: SessionOptions) -> None:
    """Raise an error if session options would make the provider vote.

    Raises:
        ProviderVotes: at least one option does.
    """
    refuse_votes(dict(_entries(options.get_session_config_entry, _OF_SESSIONS)))


def _entries(get: Any, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name in names:
        try:
            yield name, get(name)
        except RuntimeError:  # ONNX Runtime raises it for a missing entry
            continue


class ProviderUnavailable(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """ONNX Runtime has no QNN execution provider here."""


def new_session(
    model: str | os.PathLike[str] | bytes,
    options: Mapping[str, str],
    session_options: SessionOptions | None,
    *,
    allow_spinning: bool = False,
) -> InferenceSession:
    """Return a session of ONNX Runtime with the QNN execution provider, built in or from the package onnxruntime-qnn.

    The model as a whole never falls back to the CPU; ``session.disable_cpu_ep_fallback`` forbids it for single nodes.
    Unless spinning is allowed, the threads of the session sleep while they wait; entries of the options are kept.

    Raises:
        ProviderUnavailable: no such provider is installed.
    """
    import onnxruntime  # noqa: PLC0415 - an optional dependency

    settings = onnxruntime.SessionOptions() if session_options is None else session_options
    given = dict(_entries(settings.get_session_config_entry, SPINNING))
    for name in SPINNING:
        if not allow_spinning and name not in given:
            settings.add_session_config_entry(name, "0")
    providers = None
    devices = _devices(onnxruntime)
    # As soon as a provider from a package is registered, it is also among the available providers.
    if not devices and PROVIDER in onnxruntime.get_available_providers():
        providers = [(PROVIDER, dict(options))]
    else:
        package = _package()
        if not devices:
            onnxruntime.register_execution_provider_library(PROVIDER, package.get_library_path())
            devices = _devices(onnxruntime)
        backend = (
            {}
            if _BACKEND & options.keys()
            else {"backend_path": file_in_use(package.get_qnn_htp_path(), library_name())}
        )
        settings.add_provider_for_devices(_npu(devices, onnxruntime), {**backend, **options})
    session = onnxruntime.InferenceSession(model, settings, providers=providers, enable_fallback=False)
    if PROVIDER not in session.get_providers():
        raise ProviderUnavailable("ONNX Runtime made the session without its QNN execution provider; its log says why")
    return session


def _devices(onnxruntime: Any) -> list[Any]:
    """Return the devices of the provider; empty if it is built in or not registered yet."""
    every = getattr(onnxruntime, "get_ep_devices", tuple)
    return [device for device in every() if device.ep_name == PROVIDER]


def _package() -> Any:
    try:
        import onnxruntime_qnn  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise ProviderUnavailable(
            "ONNX Runtime has no QNN execution provider: pip install onnxruntime-qnn and onnxruntime 1.24 or later"
        ) from error
    return onnxruntime_qnn


def _npu(devices: list[Any], onnxruntime: Any) -> list[Any]:
    """Return the NPU.

    On a machine without an NPU, such as x86-64 Linux, return the CPU: there the library simulates the NPU.
    """
    found = [device for device in devices if device.device.type == onnxruntime.OrtHardwareDeviceType.NPU] or devices
    if not found:
        raise ProviderUnavailable("the QNN execution provider of onnxruntime-qnn finds no device on this machine")
    return found[:1]
