"""The FastRPC library of this machine: its files, its package and version, and the votes that it can't carry.

Its files have the same version in every release, so the version is the package's. Sources: the tags v0.1.0 to v1.0.5
of https://github.com/qualcomm/fastrpc, and pull request 258 (poll mode) there, which is in 1.0.7.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FASTRPC = "libcdsprpc.so"
_FOLDERS = (
    "usr/lib",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",
    "usr/local/lib",
    "lib",
    "lib/aarch64-linux-gnu",
    "lib64",
    "vendor/lib64",
    "system/lib64",
    "system/vendor/lib64",
)
_PACKAGES = ("var/lib/dpkg", "var/lib/opkg")
_FIRST_WITH_POLLING = (1, 0, 7)
_VERSION = re.compile(r"(?:\d+:)?(\d+)\.(\d+)\.(\d+)")
NO_LATENCY = "RPC_CONTROL_LATENCY has no effect: FastRPC accepts it, and does nothing"
NO_POLLING = (
    "RPC_POLLING_TIME is refused with 13006 on Hexagon V73 and later: FastRPC has polling from 1.0.7 on. htppower "
    "leaves polling out and votes the clocks (RPC-7)"
)
# The library sends no polling to this Hexagon (measured).
_NEVER_POLLS = 68
NEVER_SENT = "RPC_POLLING_TIME has no effect on Hexagon V68: the library accepts it, and sends nothing"
NEW_KERNEL = "RPC_POLLING_TIME also needs a kernel and a chip with polling (RPC-7)"


@attrs.frozen
class FastRpc:
    """The FastRPC library.

    Attributes:
        libraries: the paths of libcdsprpc.so, with and without a version at the end.
        package: the package that has it; empty if none is known.
        version: the version of the package; empty if unknown.
    """

    libraries: tuple[str, ...] = ()
    package: str = ""
    version: str = ""

    @property
    def lacks_link(self) -> bool:
        """Whether only libcdsprpc.so.1 is there: the library of the vendor opens libcdsprpc.so."""
        return bool(self.libraries) and not any(each.endswith("/" + FASTRPC) for each in self.libraries)

    def limits(self, arch: int | None) -> tuple[str, ...]:
        """Return the votes that do not work with it on a Hexagon architecture, in sentences."""
        found = _VERSION.match(self.version)
        if found is None:
            return ()
        old = tuple(map(int, found.groups())) < _FIRST_WITH_POLLING
        return (NO_LATENCY, NEVER_SENT if arch == _NEVER_POLLS else NO_POLLING if old else NEW_KERNEL)


def read_fastrpc(root: Path, environment: Mapping[str, str]) -> FastRpc:
    """Return the FastRPC library of the machine in a folder."""
    named = (entry.lstrip("/") for entry in environment.get("LD_LIBRARY_PATH", "").split(":") if entry.startswith("/"))
    folders = dict.fromkeys((root / folder).resolve() for folder in (*named, *_FOLDERS))
    base = root.resolve()
    files = [path for folder in folders if folder.is_relative_to(base) for path in sorted(folder.glob(f"{FASTRPC}*"))]
    package, version = next(_packages(root), ("", ""))
    return FastRpc(tuple(f"/{path.relative_to(base).as_posix()}" for path in files), package, version)


def _packages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the installed packages that have the library, each with its version."""
    for database in _PACKAGES:
        for listed in sorted((root / database / "info").glob("*.list")):
            if f"/{FASTRPC}." in listed.read_text(encoding="utf-8", errors="replace"):
                package = listed.stem.partition(":")[0]
                yield package, _version_of(root / database / "status", package)


def _version_of(status: Path, package: str) -> str:
    if not status.is_file():
        return ""
    for record in status.read_text(encoding="utf-8", errors="replace").split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in record.splitlines() if not line.startswith(" "))
        if fields.get("Package") == package:
            return fields.get("Version", "")
    return ""
