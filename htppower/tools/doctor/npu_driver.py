"""The NPU's driver of Windows: its folders in the store of drivers, its version, and its libraries.

The stub of the vendor's library loads ``libcdsprpc.dll`` from the driver. If stub, skel or prepare library are not in
the folder of the vendor's library, that loads ``HtpUsrDrv.dll`` instead. Both look in the folder of the service
qcnspmcdm, or of the older qcadsprpc. Sources: the texts in QnnHtp.dll and QnnHtpV73Stub.dll of 2.51;
htp_usr_drv_utils.cc of https://github.com/onnxruntime/onnxruntime-qnn.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RPC, USER_DRIVER = "libcdsprpc.dll", "HtpUsrDrv.dll"
STORE = "Windows/System32/DriverStore/FileRepository"
_FOLDERS = ("qcnspmcdm*", "qcadsprpc*")
_FILES = {RPC: RPC, USER_DRIVER: f"HTP/{USER_DRIVER}"}
_VERSION = re.compile(r"^[ \t]*DriverVer[ \t]*=[^,\n]*,[ \t]*([\d.]+)", re.IGNORECASE | re.MULTILINE)


@attrs.frozen
class NpuDriver:
    """A driver of the NPU.

    Attributes:
        folder: the name of its folder in the store.
        version: its version, such as ``30.0.220.3000``; empty if unknown.
        libraries: the libraries that it has, of ``libcdsprpc.dll`` and ``HtpUsrDrv.dll``.
    """

    folder: str
    version: str
    libraries: tuple[str, ...]


def npu_drivers(root: Path) -> Iterator[NpuDriver]:
    """Yield the drivers in the store that have a library; the store keeps older versions, too."""
    for path in (path for pattern in _FOLDERS for path in sorted((root / STORE).glob(pattern))):
        libraries = tuple(name for name, place in _FILES.items() if (path / place).is_file())
        if libraries:
            yield NpuDriver(path.name, _version_of(path), libraries)


def _version_of(folder: Path) -> str:
    for path in sorted(folder.glob("*.inf")):
        raw = path.read_bytes()
        is_utf_16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        found = _VERSION.search(raw.decode("utf-16" if is_utf_16 else "latin-1", errors="replace"))
        if found is not None:
            return found[1]
    return ""
