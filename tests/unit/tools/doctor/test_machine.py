"""The facts of a machine, read from a folder."""

from __future__ import annotations

import functools
import os
import shutil
from typing import TYPE_CHECKING

import attrs
import pytest
from support.fake_machine import LIBRARIES, FakeMachine

from htppower.tools.doctor.attempts import Attempts
from htppower.tools.doctor.diagnosis import diagnose
from htppower.tools.doctor.document import as_document
from htppower.tools.doctor.fastrpc import NEVER_SENT
from htppower.tools.doctor.machine import Here, Machine, read_machine

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the machine is a Linux board")


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    """Return a board with all that the NPU needs."""
    return FakeMachine(tmp_path / "machine")


def read(machine: FakeMachine) -> Machine:
    """Return the facts; none of them fails."""
    attempts = Attempts()
    facts = read_machine(machine.here(), attempts)
    assert attempts.failures == []
    return facts


def test_a_board(machine: FakeMachine) -> None:
    """Chip, nodes with group and mode, FastRPC with its version, and the state of each DSP are found."""
    facts = read(machine)
    assert (facts.soc_number, facts.soc_trouble, facts.container) == (557, "", "")
    assert facts.distribution == "ubuntu 24.04"
    assert [(node.path, node.group, node.mode, node.may_open) for node in facts.nodes] == [
        ("/dev/fastrpc-adsp", "fastrpc", "0660", True),
        ("/dev/fastrpc-cdsp", "fastrpc", "0660", True),
        ("/dev/dma_heap/system", "fastrpc", "0660", True),
    ]
    assert [node.path for node in facts.npu_nodes] == ["/dev/fastrpc-cdsp"]
    libraries = (f"/{LIBRARIES}/libcdsprpc.so", f"/{LIBRARIES}/libcdsprpc.so.1")
    assert (facts.fastrpc.libraries, facts.fastrpc.lacks_link) == (libraries, False)
    assert (facts.fastrpc.package, facts.fastrpc.version) == ("qcom-fastrpc1", "1.0.7-2")
    assert [(each.name, each.state, each.of_npu) for each in facts.processors] == [
        ("adsp", "running", False),
        ("cdsp", "running", True),
    ]


def test_a_machine_without_anything(tmp_path: Path) -> None:
    """An empty folder has no facts, and no failure; the trouble with the chip's number is told."""
    attempts = Attempts()
    facts = read_machine(Here(tmp_path, {}, user="sam", groups=frozenset()), attempts)
    assert attempts.failures == []
    assert (facts.nodes, facts.processors, facts.fastrpc.libraries) == ((), (), ())
    assert facts.soc_trouble == "/sys/devices/soc0/soc_id does not exist"


@pytest.mark.parametrize("node", ["adsprpc-smd", "adsprpc-smd-secure", "accel/accel0", "fastrpc-cdsp1-secure"])
def test_every_node_of_the_npu_is_known(machine: FakeMachine, node: str) -> None:
    """The vendor's kernels, and the driver QDA, have other nodes than /dev/fastrpc-cdsp."""
    machine.without("dev/fastrpc-*")
    machine.write(f"dev/{node}")
    assert [each.path for each in read(machine).npu_nodes] == [f"/dev/{node}"]


@pytest.mark.parametrize(
    ("file", "text", "kind"),
    [
        (".dockerenv", "", "docker"),
        ("run/.containerenv", "", "podman"),
        ("proc/1/cgroup", "0::/system.slice/docker-4f.scope\n", "docker"),
        ("proc/1/cgroup", "0::/kubepods/pod7\n", "kubepods"),
        ("proc/1/cgroup", "0::/init.scope\n", ""),
    ],
)
def test_a_container_is_found(machine: FakeMachine, file: str, text: str, kind: str) -> None:
    """By a file that only containers have, or by the control group of the first process."""
    machine.write(file, text)
    assert read(machine).container == kind


def test_a_container_may_name_itself_in_a_variable(machine: FakeMachine) -> None:
    """The variable is that of systemd and of LXC."""
    machine.environment["container"] = "lxc"
    assert read(machine).container == "lxc"


def test_a_pod_of_kubernetes_is_a_container(machine: FakeMachine) -> None:
    """Kubernetes sets the variable in each; its control group does not show in the container."""
    machine.environment["KUBERNETES_SERVICE_HOST"] = "10.0.0.1"
    assert (read(machine).container, read(machine).engine) == ("kubernetes", "")


def test_a_chip_has_all_its_names(machine: FakeMachine) -> None:
    """A number of the kernel may be that of any of them."""
    machine.write("sys/devices/soc0/soc_id", "498\n")
    document = as_document(diagnose("/not/there.so", None, (), machine.here()))
    assert document["machine"]["soc"] == "QCM6490/QCS6490"


def test_the_second_file_of_the_chips_number_counts(machine: FakeMachine) -> None:
    """The library reads it if the first does not exist."""
    machine.without("sys/devices/soc0/*")
    machine.write("sys/devices/system/soc/soc0/id", "498\n")
    assert read(machine).soc_number == 498


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("1.0.6-2", ["no effect", "from 1.0.7 on"]),
        ("1:0.1.7", ["no effect", "from 1.0.7 on"]),
        ("1.0.7-2~bpo13+1", ["no effect", "a kernel and a chip"]),
        ("1.0.15", ["no effect", "a kernel and a chip"]),
        ("2026.1", []),
        ("", []),
    ],
)
def test_what_a_version_of_fastrpc_can_not_do(machine: FakeMachine, version: str, words: list[str]) -> None:
    """Latency votes have no effect with any version; polling needs 1.0.7. Of other versions nothing is known."""
    machine.package(version)
    limits = read(machine).fastrpc.limits(75)
    assert len(limits) == len(words)
    assert all(word in limit for word, limit in zip(words, limits, strict=True))
    of_v68 = read(machine).fastrpc.limits(68)
    assert [limit for limit in of_v68 if "RPC_POLLING_TIME" in limit] == ([NEVER_SENT] if words else [])


def test_a_folder_of_the_loader_is_searched_for_fastrpc(machine: FakeMachine) -> None:
    """LD_LIBRARY_PATH comes first; relative folders in it are left out."""
    shutil.rmtree(machine.root / LIBRARIES)
    machine.write("opt/rpc/libcdsprpc.so")
    machine.environment["LD_LIBRARY_PATH"] = "here:/opt/rpc:"
    assert read(machine).fastrpc.libraries == ("/opt/rpc/libcdsprpc.so",)


def test_a_fact_that_can_not_be_read_is_a_line(machine: FakeMachine) -> None:
    """The other facts are still read."""

    def raising(_path: Path) -> bool:
        raise RuntimeError("as no system does")

    machine.write("var/lib/dpkg/status").unlink()
    (machine.root / "var/lib/dpkg/status").mkdir()
    machine.write("proc/1/cgroup").write_bytes(b"\xff")
    attempts = Attempts()
    facts = read_machine(attrs.evolve(machine.here(), may_open=raising), attempts)
    assert attempts.failures[0].startswith("container: UnicodeDecodeError")
    assert attempts.failures[1] == "device nodes: RuntimeError: as no system does"
    assert (facts.soc_number, facts.nodes, facts.fastrpc.version) == (557, (), "")


def test_a_user_without_a_name_is_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may run for a number that no list of users has."""
    monkeypatch.setattr("getpass.getuser", functools.partial({"": ""}.__getitem__, "getpwuid(): uid not found"))
    assert Here(tmp_path, {}).user == str(os.getuid())


def test_a_node_that_is_gone_hides_no_other(machine: FakeMachine) -> None:
    """A link that leads to nothing is left out."""
    (machine.root / "dev" / "fastrpc-adsp").unlink()
    (machine.root / "dev" / "fastrpc-adsp").symlink_to("gone")
    assert [node.path for node in read(machine).npu_nodes] == ["/dev/fastrpc-cdsp"]


def test_a_pc_is_no_board(tmp_path: Path) -> None:
    """The heap of shared memory, and an accelerator, are also on machines without FastRPC."""
    for name in ("dma_heap/system", "accel/accel0"):
        (tmp_path / "dev" / name).parent.mkdir(parents=True)
        (tmp_path / "dev" / name).touch()
    assert not read_machine(Here(tmp_path, {}, user="sam", groups=frozenset()), Attempts()).is_board
