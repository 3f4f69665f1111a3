"""A machine in a folder: a Linux board with all that the NPU needs, until a test takes something away."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from htppower.tools.doctor.machine import Here

if TYPE_CHECKING:
    from pathlib import Path

USER = "sam"
LIBRARIES = "usr/lib/aarch64-linux-gnu"
# The files of root would belong to the group of root, which a user should not join.
_GID = 4242
_DPKG = "var/lib/dpkg"


class FakeMachine:
    """The folder of a machine.

    Attributes:
        root: the folder.
        environment: the variables of the process.
        closed: the names of the files that the user may not open.
        gid: the number of the group ``fastrpc`` on it.
    """

    def __init__(self, root: Path, environment: dict[str, str] | None = None) -> None:
        self.root = root
        self.environment = environment or {}
        self.closed: set[str] = set()
        self.write("sys/devices/soc0/soc_id", "557\n")
        self.write("etc/os-release", 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\n')
        for node in ("fastrpc-cdsp", "fastrpc-adsp", "dma_heap/system"):
            path = self.write(f"dev/{node}")
            path.chmod(0o660)
            if os.getuid() == 0:
                os.chown(path, -1, _GID)
        self.gid = (root / "dev/fastrpc-cdsp").stat().st_gid
        self.join_group()
        self.groups: frozenset[int] = frozenset()
        for name in ("libcdsprpc.so", "libcdsprpc.so.1"):
            self.write(f"{LIBRARIES}/{name}")
        self.write("usr/share/qcom/qcs8300/dsp/cdsp/fastrpc_shell_unsigned_3")
        self.package("1.0.7-2")
        self.processor("remoteproc0", "adsp")
        self.processor("remoteproc1", "cdsp")

    def write(self, name: str, text: str = "") -> Path:
        """Write a file."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def having(self, name: str, text: str = "", mode: int = 0o644) -> FakeMachine:
        """Write a file, and return the machine."""
        self.write(name, text).chmod(mode)
        return self

    def without(self, *patterns: str) -> FakeMachine:
        """Remove files, and return the machine."""
        for path in (path for pattern in patterns for path in list(self.root.glob(pattern))):
            path.unlink()
        return self

    def closing(self, name: str) -> FakeMachine:
        """Let the user not open the files of a name, and return the machine."""
        self.closed.add(name)
        return self

    def join_group(self, members: str = "") -> FakeMachine:
        """Write the groups, with the members of the group ``fastrpc``, and return the machine."""
        return self.having("etc/group", f"root:x:4711:\nfastrpc:x:{self.gid}:{members}\n")

    def package(self, version: str) -> None:
        """Install a version of FastRPC."""
        self.write(f"{_DPKG}/info/qcom-fastrpc1:arm64.list", f"/.\n/{LIBRARIES}/libcdsprpc.so.1\n")
        record = f"Package: qcom-fastrpc1\nStatus: install ok installed\nVersion: {version}\n"
        self.write(f"{_DPKG}/status", f"Package: other\nVersion: 9\n\n{record}\nPackage: last\nVersion: 8\n")

    def processor(self, name: str, what: str, state: str = "running") -> None:
        """Write the state of a processor."""
        self.write(f"sys/class/remoteproc/{name}/name", f"{what}\n")
        self.write(f"sys/class/remoteproc/{name}/state", f"{state}\n")

    def here(self) -> Here:
        """Return where the facts are read."""
        return Here(self.root, self.environment, lambda path: path.name not in self.closed, USER, self.groups)
