"""The most likely cause that ``htppower doctor`` finds, and the line to type, for each way in which a start fails.

The stand-in gives the answers, and log lines as the device library logs them; a folder stands for the machine.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import attrs
import pytest
from support.diagnoses import DEVICES, DOCKER, KERNEL_LOG, MOUNTS, NAME, NO_FILE, SOC0, diagnosed, fails, opened
from support.fake_machine import LIBRARIES, FakeMachine
from support.standin import ALWAYS

from htppower.tools.doctor.document import as_document
from htppower.tools.review.explain.fastrpc_codes import FASTRPC_TEXTS, Mend

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.standin import Standin

NO_LOG = f"logCreate 1 {ALWAYS} 4000 0"
NO_BACKEND = f"backendCreate 1 {ALWAYS} 4000 0"
MODULE = "sudo modprobe socinfo"
QAIRT = "export HTPPOWER_QNN_LIBRARY=/PATH/TO/QAIRT/lib/aarch64-oe-linux-gcc11.2/libQnnHtp.so"
pytestmark = pytest.mark.needs("modes")

SKEL = "export ADSP_LIBRARY_PATH=/FOLDER/OF/THE/SKEL"
PPA = "sudo apt-add-repository -y ppa:ubuntu-qcom-iot/qcom-ppa"
INSTALL = "sudo apt install qcom-fastrpc1 qcom-fastrpc-dev"
JOIN = "sudo usermod -aG fastrpc sam"
USERS = "sudo fuser -v /dev/fastrpc-cdsp"
RULES = "/etc/udev/rules.d/60-fastrpc.rules"


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    """Return a board with all that the NPU needs."""
    return FakeMachine(tmp_path / "machine")


@attrs.frozen
class Row:
    """One way in which a start fails.

    Attributes:
        script: the answers of the library.
        cause: the id of the most likely cause.
        lines: the lines to type.
        words: words that the cause has.
        change: what is wrong on the machine.
    """

    script: tuple[str, ...]
    cause: str
    lines: tuple[str, ...]
    words: str = ""
    change: Callable[[FakeMachine], object] = lambda _: None


ROWS = {
    "no number of the chip": Row(
        (NO_LOG, NO_BACKEND),
        "soc_number_unreadable",
        (MODULE,),
        "soc_id does not exist",
        lambda machine: machine.without("sys/devices/soc0/*"),
    ),
    "no number in a container": Row(
        (NO_LOG, NO_BACKEND),
        "soc_number_unreadable",
        (DOCKER.replace(MOUNTS, f"-v {SOC0}:{SOC0}:ro {MOUNTS}"),),
        "must be mounted",
        lambda machine: machine.without("sys/devices/soc0/*").having(".dockerenv"),
    ),
    "a number that is none": Row(
        (NO_LOG, NO_BACKEND),
        "soc_number_unreadable",
        (f"cat {SOC0}/soc_id",),
        "has no number",
        lambda machine: machine.write("sys/devices/soc0/soc_id", "sm8650\n"),
    ),
    "a chip that the library does not know": Row(
        (NO_LOG, NO_BACKEND, "log backendCreate 1 No Snapdragon SOC detected"),
        "soc_unknown",
        (QAIRT,),
        "does not know SM8850 (chip number 660). SM8850 needs QAIRT 2.46",
        lambda machine: machine.write("sys/devices/soc0/soc_id", "660\n"),
    ),
    "a chip that htppower does not know either": Row(
        (NO_LOG, NO_BACKEND),
        "soc_unknown",
        (QAIRT,),
        "the chip with number 487. Use a later release",
        lambda machine: machine.write("sys/devices/soc0/soc_id", "487\n"),
    ),
    "a chip without an HTP": Row(
        (NO_LOG, NO_BACKEND, "log backendCreate 1 Unsupported SnapdragonModel by HTP backend"),
        "chip_without_htp",
        (),
        "QCS615 (chip number 680) has no HTP",
        lambda machine: machine.write("sys/devices/soc0/soc_id", "680\n"),
    ),
    "a chip without an HTP that htppower does not know": Row(
        (NO_LOG, NO_BACKEND, "log backendCreate 1 Unsupported SnapdragonModel by HTP backend"),
        "chip_without_htp",
        (),
        "The chip with number 9999 has no HTP",
        lambda machine: machine.without("sys/devices/soc0/*").having("sys/devices/system/soc/soc0/id", "9999\n"),
    ),
    "a chip that this release does not serve": Row(
        (NO_LOG, *fails(14002, "Unsupported SoC model (SnapdragonModel): 43")),
        "soc_not_served",
        (QAIRT,),
        "knows SM8550 (chip number 519), but does not serve it. The SDK has libraries for other",
        lambda machine: machine.write("sys/devices/soc0/soc_id", "519\n"),
    ),
    "no FastRPC": Row(
        fails(14001, f"stub not loaded: libcdsprpc.so: {NO_FILE}"),
        "fastrpc_missing",
        (PPA, INSTALL),
        "is not installed",
        lambda machine: machine.without(f"{LIBRARIES}/*"),
    ),
    "no FastRPC, and no log": Row(
        fails(14001),
        "fastrpc_missing",
        (PPA, INSTALL),
        "is not installed",
        lambda machine: machine.without(f"{LIBRARIES}/*"),
    ),
    "FastRPC that the loader does not find": Row(
        fails(14001, f"stub not loaded: libcdsprpc.so: {NO_FILE}"),
        "fastrpc_missing",
        ("sudo ldconfig",),
        "although /usr/lib/aarch64-linux-gnu/libcdsprpc.so is there",
    ),
    "no development link of FastRPC": Row(
        fails(14001, f"stub not loaded: libcdsprpc.so: {NO_FILE}"),
        "fastrpc_link_missing",
        (f"sudo ln -s libcdsprpc.so.1 /{LIBRARIES}/libcdsprpc.so",),
        "libcdsprpc.so.1 is there",
        lambda machine: machine.without(f"{LIBRARIES}/libcdsprpc.so"),
    ),
    "a symbol missing in FastRPC": Row(
        fails(14001, "stub not loaded: libQnnHtpV75Stub.so: undefined symbol: remote_session_control"),
        "fastrpc_symbol_missing",
        ("sudo apt install --only-upgrade qcom-fastrpc1",),
        "FastRPC 1.0.7-2 lacks the function remote_session_control",
    ),
    "no stub": Row(
        fails(14001, f"stub not loaded: libQnnHtpV75Stub.so: {NO_FILE}"),
        "stub_missing",
        ("cp /FOLDER/OF/THE/RELEASE/libQnnHtpV75Stub.so {folder}/",),
        "The stub libQnnHtpV75Stub.so",
    ),
    "an unsigned process domain refused": Row(
        fails(14001), "unsigned_refused", (KERNEL_LOG,), "unsigned process domain"
    ),
    "an unsigned process domain refused, in the log": Row(
        fails(14001, "createUnsignedPD unable to load unsigned PD", "createUnsignedPD failed, 0x00000006"),
        "unsigned_refused",
        (KERNEL_LOG,),
        "unsigned process domain",
    ),
    "a skel of another version": Row(
        fails(1008, "skel lib id mismatch: expected (v2.51.0.260929), detected (v2.48.0.260610)"),
        "skel_of_another_release",
        (SKEL,),
        "the log names v2.51.0.260929 and v2.48.0.260610",
    ),
    "a skel that another process has": Row(
        fails(1009, "skel has more than one connection"), "skel_in_use", (USERS,), "has another user"
    ),
    "no shared memory": Row(
        fails(1002, "Failed to create dspqueue"), "no_shared_memory", (KERNEL_LOG,), "no queue to the DSP"
    ),
    "a heap that the user may not open": Row(
        fails(1002, "mmap failed"),
        "no_shared_memory",
        (JOIN,),
        "/dev/dma_heap/system: its group is fastrpc, its mode 0660. Join its group, then log in again.",
        lambda machine: machine.closing("system"),
    ),
    "no nodes in a container": Row(
        fails(14001),
        "device_node",
        (f"podman run {DEVICES} --group-add keep-groups {MOUNTS} {NAME} IMAGE",),
        "the container gets none of the host's device nodes",
        lambda machine: machine.without("dev/fastrpc-*").having("run/.containerenv"),
    ),
    "no nodes": Row(
        fails(14001),
        "device_node",
        ("sudo modprobe fastrpc",),
        "the kernel has no driver",
        lambda machine: machine.without("dev/fastrpc-*"),
    ),
    "a node of the user's new group": Row(
        opened(0x4E),
        "device_node",
        ("newgrp fastrpc",),
        "log in again",
        lambda machine: machine.closing("fastrpc-cdsp").join_group("sam"),
    ),
    "a node that no group may open": Row(
        opened(0x4E),
        "device_node",
        (
            "sudo groupadd -f fastrpc",
            f'echo \'KERNEL=="fastrpc-*|adsprpc-smd*|accel*|system", GROUP="fastrpc", MODE="0660"\' | sudo tee {RULES}',
            "sudo udevadm control --reload && sudo udevadm trigger",
            JOIN,
        ),
        "its mode 0600. Give a group access, join it, then log in again.",
        lambda machine: machine.closing("fastrpc-cdsp").having("dev/fastrpc-cdsp", mode=0o600),
    ),
    "a node that the user of a container may not open": Row(
        opened(0x4E),
        "device_node",
        (DOCKER,),
        "The user sam may not open /dev/fastrpc-cdsp",
        lambda machine: machine.closing("fastrpc-cdsp").having(".dockerenv"),
    ),
    "a node that no group of a container may open": Row(
        opened(0x4E),
        "device_node",
        (f"docker run {DEVICES} --user 0 {MOUNTS} {NAME} IMAGE",),
        "its mode 0600",
        lambda machine: machine.closing("fastrpc-cdsp").having("dev/fastrpc-cdsp", mode=0o600).having(".dockerenv"),
    ),
    "a code of FastRPC that is not known": Row(
        opened(0x80000413),
        "fastrpc_failed",
        (KERNEL_LOG,),
        "FastRPC answers 0x80000413, which is not in the tables of htppower. Look into",
    ),
    "no nodes, since the DSP is stopped": Row(
        opened(0x57),
        "dsp_down",
        ("echo start | sudo tee /sys/class/remoteproc/remoteproc1/state",),
        "(cdsp) is offline. The kernel makes its device nodes when it starts.",
        lambda machine: machine.without("dev/fastrpc-*").processor("remoteproc1", "cdsp", "offline"),
    ),
    "a DSP that is stopped": Row(
        opened(0x72),
        "dsp_down",
        ("echo start | sudo tee /sys/class/remoteproc/remoteproc1/state",),
        "The DSP of the NPU (cdsp) is offline",
        lambda machine: machine.processor("remoteproc1", "cdsp", "offline"),
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_each_way_in_which_a_start_fails_has_its_cause_and_its_line(
    standin: Standin, machine: FakeMachine, row: Row
) -> None:
    """The first cause is the right one, its words name what is wrong, and its lines can be typed as they are."""
    row.change(machine)
    first, *others = diagnosed(standin, machine, *row.script).causes
    assert (first.id, others) == (row.cause, [])
    assert first.lines == tuple(line.format(folder=standin.path.parent) for line in row.lines)
    assert row.words in first.says


# The cause and the line for each code of FastRPC, on a board without another fault.
OF_MEND = {
    Mend.SKEL: ("skel_not_loaded", SKEL),
    Mend.UNSIGNED: ("skel_not_unsigned", SKEL),
    Mend.NODE: ("device_node", "sudo dmesg | grep -i -e fastrpc -e avc"),
    Mend.DSP_DOWN: ("dsp_down", "grep . /sys/class/remoteproc/*/name /sys/class/remoteproc/*/state"),
    Mend.USERS: ("no_session", USERS),
    Mend.MEMORY: ("no_shared_memory", KERNEL_LOG),
    Mend.UPDATE: ("fastrpc_failed", KERNEL_LOG),
    Mend.RETRY: ("fastrpc_failed", KERNEL_LOG),
    Mend.LOG: ("fastrpc_failed", KERNEL_LOG),
}


@pytest.mark.parametrize("code", FASTRPC_TEXTS)
@pytest.mark.parametrize("of_dsp", [0, 0x80000400], ids=["plain", "of the DSP"])
def test_each_code_of_fastrpc_leads_to_its_cause(
    standin: Standin, machine: FakeMachine, code: int, of_dsp: int
) -> None:
    """The cause has the code as the log has it, with the bits that the DSP adds, and its name."""
    first = diagnosed(standin, machine, *opened(of_dsp | code)).causes[0]
    text = FASTRPC_TEXTS[code]
    assert (first.id, first.lines) == (OF_MEND[text.mend][0], (OF_MEND[text.mend][1],))
    assert f"FastRPC answers 0x{of_dsp | code:x} {text.name}" in first.says


def test_the_log_comes_before_what_is_seen_on_the_machine(standin: Standin, machine: FakeMachine) -> None:
    """A code in the log is more likely the cause than a fault that is only seen; the fault is another cause."""
    machine.processor("remoteproc1", "cdsp", "crashed")
    machine.environment["ADSP_LIBRARY_PATH"] = "/not/there"
    diagnosis = diagnosed(standin, machine, *opened(0x8A))
    assert [cause.id for cause in diagnosis.causes] == ["no_session", "skel_not_loaded", "dsp_down"]
    assert ["FastRPC answers" in cause.says for cause in diagnosis.causes] == [True, False, False]
    assert not any("htppower doctor" in step for step in diagnosis.steps)


def test_the_folder_of_the_skel_is_in_the_line(standin: Standin, machine: FakeMachine) -> None:
    """A skel next to the library is named, and the folders of the variable stay."""
    (standin.path.parent / "libQnnHtpV75Skel.so").touch()
    folder = machine.root / "other"
    folder.mkdir()
    machine.environment["ADSP_LIBRARY_PATH"] = str(folder)
    first = diagnosed(standin, machine, *opened(0x80000406)).causes[0]
    assert first.lines == (f"export ADSP_LIBRARY_PATH={shlex.quote(f'{standin.path.parent};{folder}')}",)


def test_a_skel_that_is_there_and_is_not_loaded(standin: Standin, machine: FakeMachine) -> None:
    """The cause does not ask for a folder that the variable has already."""
    folder = machine.root / "skels"
    folder.mkdir()
    (folder / "libQnnHtpV75Skel.so").touch()
    machine.environment["ADSP_LIBRARY_PATH"] = str(folder)
    assert "a folder of the variables has it" in diagnosed(standin, machine, *opened(0x52)).causes[0].says


def test_a_refused_setting_of_the_process_is_no_failure(standin: Standin, machine: FakeMachine) -> None:
    """A board without polling is usable: polling degrades under RPC-7, and the version of FastRPC says why."""
    machine.package("1.0.6-2")
    diagnosis = diagnosed(standin, machine, "option 3 13006")
    assert diagnosis.usable
    burst = next(profile for profile in diagnosis.profiles if profile.name == "burst")
    assert [(lost.option.name, lost.rule) for lost in burst.degradations] == [("RPC_POLLING_TIME", "RPC-7")]
    assert any("polling from 1.0.7 on" in note for note in diagnosis.notes)


def test_a_dsp_without_unsigned_domains_is_only_a_note(standin: Standin, machine: FakeMachine) -> None:
    """The library goes on after this warning."""
    diagnosis = diagnosed(standin, machine, "log deviceCreate 2 unsigned PD is not supported")
    assert (diagnosis.usable, diagnosis.causes) == (True, ())
    assert any("no unsigned process domains" in note for note in diagnosis.notes)


def test_a_lost_link_is_a_dsp_that_is_down(standin: Standin, machine: FakeMachine) -> None:
    """If the device opens and votes fail, the state of the DSP is looked at."""
    machine.processor("remoteproc1", "cdsp", "crashed")
    diagnosis = diagnosed(standin, machine, f"setPowerConfig 1 {ALWAYS} 1011 0")
    assert [cause.id for cause in diagnosis.causes] == ["dsp_down"]
    assert "is crashed" in diagnosis.causes[0].says


def test_the_document_has_the_cause_the_machine_and_the_log(standin: Standin, machine: FakeMachine) -> None:
    """The document for a ticket has the facts, and the meaning of each line of the log."""
    document = json.loads(json.dumps(as_document(diagnosed(standin, machine, *opened(0x80000406)))))
    assert document["format_version"] == 1
    assert document["cause"]["id"] == "skel_not_loaded"
    assert document["next"][0] == document["cause"]["lines"][0] == SKEL
    assert document["machine"]["soc"] == "SM8650"
    assert document["machine"]["fastrpc"]["shells"] == ["/usr/share/qcom/qcs8300/dsp/cdsp/fastrpc_shell_unsigned_3"]
    assert document["machine"]["fastrpc"]["package"] == "qcom-fastrpc1"
    means = [line["means"] for line in document["log"] if "qnn_open" in line["text"]]
    assert means == [["0x80000406 AEE_EUNABLETOLOAD: The skel is missing, or can't be loaded."]]


def test_a_skel_that_is_nowhere_is_in_the_sdk(standin: Standin, machine: FakeMachine) -> None:
    """If no folder near the library has it, the cause says where it comes from, also beside faults of a variable."""
    where = "It is not near the library: copy it from lib/hexagon-v75/unsigned of the SDK"
    assert where in diagnosed(standin, machine, *opened(0x80000406)).causes[0].says
    machine.environment["ADSP_LIBRARY_PATH"] = "/not/there"
    assert where in diagnosed(standin, machine, *opened(0x80000406)).causes[0].says
    (standin.path.parent / "libQnnHtpV75Skel.so").touch()
    assert where not in diagnosed(standin, machine, *opened(0x80000406)).causes[0].says
