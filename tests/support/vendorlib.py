"""The vendor's library in tests: its path, a raw client, and the decoded votes from its log."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from htppower.backends.qnn import abi
from htppower.backends.qnn.device import OpenDevice
from htppower.backends.qnn.library import load_library
from htppower.errors import BackendUnavailable
from htppower.votes.native_codes import DEVICE_INVALID_CONFIG

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterable, Iterator, Sequence

    from htppower.votes.native import NativeConfig

# A SoC of each architecture. The model is a setting of the whole process, and stays, so V68 needs a model, too. The
# vendor does not list 103 and 122: they are known from the answers of QAIRT 2.51. QnnHtp.dll knows no architecture for
# 122.
SOC_OF_ARCHITECTURE = {68: 30, 73: 43, 75: 57, 79: 69, 81: 87, 85: 103}
if sys.platform != "win32":
    SOC_OF_ARCHITECTURE[89] = 122

# The place of the library in the package where it answers without a Hexagon.
_PLACES = {("linux", "x86_64"): "libQnnHtp.so", ("win32", "AMD64"): "libs/amd64/QnnHtp.dll"}
_SIGNED = 2**31
_VALUE = re.compile(r"^(?P<name>[a-z]\w+) (?P<number>-?\d+)$", re.IGNORECASE)
_BLOCK = re.compile(
    r"^set power settings (?P<option>DCVS V3|HMX V2|CENG|DCVS_V3_EXP|CENG_EXP) for context id (?P<id>-?\d+):$"
)
_SCALAR = re.compile(r"^set power settings (?P<what>[a-z ]+?) (?P<number>\d+)$", re.IGNORECASE)


def give_up(reason: str) -> NoReturn:
    """Skip the test; with HTPPOWER_VENDOR=required fail it."""
    if os.environ.get("HTPPOWER_VENDOR") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


def library_path() -> Path:
    """Return the library of the installed package; skip the test if it is missing or does not run here.

    With HTPPOWER_VENDOR=required, a missing library is a failure.
    """
    place = _PLACES.get((sys.platform, platform.machine()))
    spec = find_spec("onnxruntime_qnn")
    if place is None:
        give_up("the library answers without a Hexagon only on x86-64 Linux and Windows")
    if spec is None or not spec.submodule_search_locations:
        give_up("onnxruntime-qnn is not installed: pip install '.[vendor]'")
    return Path(next(iter(spec.submodule_search_locations)), place)


@contextlib.contextmanager
def skip_unknown_soc() -> Iterator[None]:
    """Skip a test on a version of the library that does not know the SoC: 122 is new in 2.51."""
    try:
        yield
    except BackendUnavailable as error:
        if str(DEVICE_INVALID_CONFIG) in str(error):
            pytest.skip(str(error))
        raise


class RawClient:
    """Calls the three functions of the power infrastructure with any arguments, and returns their codes."""

    def __init__(self, path: Path, soc_model: int) -> None:
        self.device = OpenDevice(load_library(path), soc_model)
        api = self.device.htp_api.split(".")
        self.library_version = f"2.{api[1]}"

    def create(self, device_id: int, core_id: int) -> tuple[int, int]:
        """Return code and id of createPowerConfigId."""
        made = ctypes.c_uint32()
        handle = self.device.create_id(device_id, core_id, ctypes.byref(made))
        return abi.code_of(handle), made.value

    def set(self, power_config_id: int, configs: Sequence[NativeConfig] | None) -> int:
        """Return the code of setPowerConfig; None is the NULL list."""
        structs = None if configs is None else [abi.power_config(config) for config in configs]
        pointers = None if structs is None else abi.null_terminated(structs)
        return abi.code_of(self.device.set_config(power_config_id, pointers))

    def destroy(self, power_config_id: int) -> int:
        """Return the code of destroyPowerConfigId."""
        return abi.code_of(self.device.destroy_id(power_config_id))


def decoded(records: Iterable[logging.LogRecord]) -> list[tuple[str, dict[str, int]]]:
    """Return the decoded vote sets from the library's log: options in order, each with its fields."""
    found: list[tuple[str, dict[str, int]]] = []
    for record in records:
        line = record.getMessage().strip()
        if block := _BLOCK.match(line):
            # Ids are printed signed here.
            found.append((block["option"].replace(" ", "_"), {"contextId": int(block["id"]) % (2 * _SIGNED)}))
        elif scalar := _SCALAR.match(line):
            setting = (scalar["what"].lower().replace(" ", "_"), {"value": int(scalar["number"])})
            if setting not in found[-1:]:  # polling is printed twice
                found.append(setting)
        elif found and (value := _VALUE.match(line)):
            found[-1][1][value["name"]] = int(value["number"])
    return found
