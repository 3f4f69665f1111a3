"""The facts of a machine that decide whether the library reaches the DSP: chip, device nodes, FastRPC, processors.

Sources: the names of the nodes and who opens them, and the programs of a process domain with their folders, are from
src/fastrpc_apps_user.c, inc/fastrpc_ioctl.h and src/rpcmem_linux.c of https://github.com/qualcomm/fastrpc;
/dev/adsprpc-smd is the node of the vendor's kernels, and /dev/accel/ has the nodes of the driver QDA. The library reads
the chip's number in the order of ``SOC_IDS`` (measured).
"""

from __future__ import annotations

import getpass
import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from htppower.backends.qnn.library import operating_system
from htppower.tools.doctor.fastrpc import FastRpc, read_fastrpc
from htppower.tools.environment.skel_folders import SOC_IDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from htppower.tools.doctor.attempts import Attempts

SOC_ID = SOC_IDS[0]
HEAP = "/dev/dma_heap/system"
# Where FastRPC finds the programs of a process domain; the third has a folder for each board.
SHELL_FOLDERS = ("/usr/lib/dsp", "/usr/lib/rfsa", "/usr/share/qcom")
_SHELLS = "fastrpc_shell_unsigned_*"
_NODES = ("dev/fastrpc-*", "dev/adsprpc-smd*", "dev/accel/*", "dev/dma_heap/system")
_OF_NPU = re.compile(r"/dev/(?:fastrpc-cdsp|adsprpc-smd|accel/)")
# A file that exists only in containers, and the kind of the container.
_MARKS = {".dockerenv": "docker", "run/.containerenv": "podman", "run/systemd/container": "systemd"}
_CGROUPS = re.compile(r"docker|kubepods|containerd|lxc|libpod")
_GROUP_READS = 0o040
# The states of a processor that runs: "attached" is one that the boot loader has started.
_UP = ("running", "attached", "unknown")


def _may_open(path: Path) -> bool:
    # FastRPC opens the nodes for reading.
    return os.access(path, os.R_OK)


def _user() -> str:
    """Return the name of the user, or the number of a user without a name, as in a container with ``--user 1234``."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return str(os.getuid()) if hasattr(os, "getuid") else ""


def _groups() -> frozenset[int]:
    return frozenset((*os.getgroups(), os.getegid())) if hasattr(os, "getgroups") else frozenset()


@attrs.frozen
class Here:
    """Where and for whom facts are read. Another root stands for another machine.

    Attributes:
        root: the folder that has sys, proc, dev, etc and the libraries.
        environment: the variables of the process.
        may_open: whether this process may open a file.
        user: the name of the user.
        groups: the numbers of the user's groups in this process.
    """

    root: Path = Path("/")
    environment: Mapping[str, str] = attrs.field(factory=lambda: os.environ)
    may_open: Callable[[Path], bool] = _may_open
    user: str = attrs.field(factory=_user)
    groups: frozenset[int] = attrs.field(factory=_groups)

    def name_of(self, path: Path) -> str:
        """Return the path of a file on that machine."""
        return f"/{path.relative_to(self.root).as_posix()}"


@attrs.frozen
class Node:
    """A device node.

    Attributes:
        path: its path.
        group: its group, by name or number.
        gid: the number of its group.
        mode: its permissions, such as ``0660``.
        may_open: whether this process may open it.
        group_reads: whether its group may open it.
        joined: whether the user is a member of the group, but this process is not, since the user logged in before.
    """

    path: str
    group: str
    gid: int
    mode: str
    may_open: bool
    group_reads: bool
    joined: bool

    @property
    def of_npu(self) -> bool:
        """Whether FastRPC reaches the NPU through it."""
        return _OF_NPU.match(self.path) is not None


@attrs.frozen
class Processor:
    """A processor that the kernel starts, such as a DSP.

    Attributes:
        path: its folder in /sys.
        name: its name, and its firmware.
        state: its state, such as ``running`` or ``offline``.
    """

    path: str
    name: str
    state: str

    @property
    def of_npu(self) -> bool:
        """Whether it is the DSP of the NPU."""
        return "cdsp" in self.name


@attrs.frozen
class Machine:
    """The facts.

    Attributes:
        system: ``linux``, ``android``, ``windows`` or ``qnx``.
        kernel: its release.
        distribution: the id and version of the distribution, such as ``ubuntu 24.04``; empty if unknown.
        container: the kind of container; empty outside of one.
        user: the name of the user.
        soc_number: the kernel's number of the chip, or None.
        soc_trouble: why the number can't be read; empty if it can.
        nodes: the device nodes.
        fastrpc: the FastRPC library.
        processors: the processors that the kernel starts.
        shells: the programs of an unsigned process domain, which FastRPC gives to the DSP.
    """

    system: str
    kernel: str
    distribution: str
    container: str
    user: str
    soc_number: int | None
    soc_trouble: str
    nodes: tuple[Node, ...]
    fastrpc: FastRpc
    processors: tuple[Processor, ...]
    shells: tuple[str, ...] = ()

    @property
    def engine(self) -> str:
        """The command that starts a container of this kind; empty for a kind that neither docker nor podman starts."""
        kinds = {"podman": "podman", "libpod": "podman", "docker": "docker", "containerd": "docker"}
        return kinds.get(self.container, "")

    @property
    def is_board(self) -> bool:
        """Whether it has the NPU of a board or a phone."""
        of_fastrpc = any("rpc" in node.path for node in self.nodes)
        return self.soc_number is not None or of_fastrpc or bool(self.processors or self.fastrpc.libraries)

    @property
    def stopped_dsp(self) -> Processor | None:
        """The DSP of the NPU if it does not run, else None."""
        return next((each for each in self.processors if each.of_npu and each.state not in _UP), None)

    @property
    def npu_nodes(self) -> tuple[Node, ...]:
        """The nodes through which FastRPC reaches the NPU."""
        return tuple(node for node in self.nodes if node.of_npu)

    @property
    def heap(self) -> Node | None:
        """The node of the memory that the library shares with the DSP."""
        return next((node for node in self.nodes if node.path == HEAP), None)


def read_machine(here: Here, attempts: Attempts) -> Machine:
    """Read the facts. A fact that can't be read is a failure of ``attempts``, and left out."""
    of = attempts.of
    unread: tuple[int | None, str] = (None, "it can't be read")
    number, trouble = of("chip number", lambda: _soc_number(here), unread)
    return Machine(
        of("operating system", operating_system, "linux"),
        of("kernel", platform.release, ""),
        of("distribution", lambda: _distribution(here), ""),
        of("container", lambda: _container(here), ""),
        here.user,
        number,
        trouble,
        of("device nodes", lambda: tuple(_nodes(here)), ()),
        of("FastRPC", lambda: read_fastrpc(here.root, here.environment), FastRpc()),
        of("processors", lambda: tuple(_processors(here)), ()),
        of("programs of the process domain", lambda: tuple(_shells(here)), ()),
    )


def _soc_number(here: Here) -> tuple[int | None, str]:
    trouble = ""
    for name in SOC_IDS:
        path = here.root / name.lstrip("/")
        try:
            return int(path.read_text(encoding="ascii")), ""
        except FileNotFoundError:
            trouble = trouble or f"{SOC_ID} does not exist"
        except OSError as error:
            trouble = f"{here.name_of(path)} can't be read: {error.strerror}"
        except ValueError:
            trouble = f"{here.name_of(path)} has no number"
    return None, trouble


def _distribution(here: Here) -> str:
    path = here.root / "etc/os-release"
    if not path.is_file():
        return ""
    lines = path.read_text(encoding="utf-8").splitlines()
    values = {name: value.strip("\"' ") for name, _, value in (line.partition("=") for line in lines)}
    return " ".join(filter(None, (values.get("ID"), values.get("VERSION_ID"))))


def _container(here: Here) -> str:
    marked = next((kind for mark, kind in _MARKS.items() if (here.root / mark).exists()), "")
    if marked or here.environment.get("container"):
        return marked or here.environment["container"]
    if "KUBERNETES_SERVICE_HOST" in here.environment:
        return "kubernetes"
    cgroup = here.root / "proc/1/cgroup"
    found = _CGROUPS.search(cgroup.read_text(encoding="utf-8")) if cgroup.is_file() else None
    return found[0] if found else ""


def _nodes(here: Here) -> Iterator[Node]:
    groups = _groups_of(here)
    for path in (path for pattern in _NODES for path in sorted(here.root.glob(pattern))):
        try:
            status = path.stat()
        except OSError:  # a link to a node that is gone
            continue
        name, members = groups.get(status.st_gid, (str(status.st_gid), ()))
        joined = here.user in members and status.st_gid not in here.groups
        mode = status.st_mode & 0o7777
        may_open = here.may_open(path)
        yield Node(here.name_of(path), name, status.st_gid, f"{mode:04o}", may_open, bool(mode & _GROUP_READS), joined)


def _groups_of(here: Here) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Return the name and the members of each group by its number."""
    path = here.root / "etc/group"
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    fields = [line.split(":") for line in lines if line.count(":") == 3]  # noqa: PLR2004 - name:password:number:members
    return {int(number): (name, tuple(members.split(","))) for name, _, number, members in fields if number.isdecimal()}


def _processors(here: Here) -> Iterator[Processor]:
    for path in sorted(here.root.glob("sys/class/remoteproc/*")):
        names = (_line(path / name) for name in ("name", "firmware"))
        yield Processor(here.name_of(path), " ".join(filter(None, names)), _line(path / "state") or "unknown")


def _shells(here: Here) -> Iterator[str]:
    for folder in SHELL_FOLDERS:
        yield from map(here.name_of, sorted(here.root.glob(f"{folder.lstrip('/')}/**/{_SHELLS}")))


def _line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
