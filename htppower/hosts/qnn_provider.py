"""Finds ONNX Runtime's QNN execution provider, and creates a session with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.errors import HtpPowerError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from onnxruntime import InferenceSession, SessionOptions

PROVIDER = "QNNExecutionProvider"

# Both options name the backend that the provider opens; it refuses both at once.
_BACKEND = frozenset({"backend_path", "backend_type"})


class ProviderUnavailable(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """ONNX Runtime has no QNN execution provider here."""


def new_session(
    model: str | os.PathLike[str] | bytes, options: Mapping[str, str], session_options: SessionOptions | None
) -> InferenceSession:
    """Return a session of ONNX Runtime with the QNN execution provider, built in or from the package onnxruntime-qnn.

    The model as a whole never falls back to the CPU; ``session.disable_cpu_ep_fallback`` forbids it for single nodes.

    Raises:
        ProviderUnavailable: no such provider is installed.
    """
    import onnxruntime  # noqa: PLC0415 - an optional dependency

    settings = onnxruntime.SessionOptions() if session_options is None else session_options
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
        backend = {} if _BACKEND & options.keys() else {"backend_path": package.get_qnn_htp_path()}
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
