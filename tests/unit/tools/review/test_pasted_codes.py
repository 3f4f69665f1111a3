"""Pasted texts: every code in them, and the vendor's messages, are explained."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from htppower.tools.review.explain.codes import codes_in, subjects_in
from htppower.tools.review.explain.fastrpc_codes import FASTRPC_TEXTS

if TYPE_CHECKING:
    from support.command import Command

# The order and the forms of the lines as logs in public issues have them.
LOG = """\
12-07 04:15:01.331 17202 14001 E QnnDsp : <E> DspTransport.openSession qnn_open failed, 0x80000406, prio 100
     0.0ms [ ERROR ] QnnDsp <E> IDspTransport: Unable to load lib 0x80000406
     0.0ms [ ERROR ] QnnDsp <E> DspTransport failed,cannot open session, error 0x00000001
     0.0ms [ ERROR ] QnnDsp <E> Failed to retrieve skel build id: err: 1008
     0.0ms [ ERROR ] QnnDsp <E> Failed to create transport for device, error: 4000
     0.0ms [ ERROR ] QnnDsp <E> Transport layer setup failed: 14001
"""


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (LOG, [0x6, 1008, 4000, 14001]),
        ("qnn_open failed 0x80000406", [0x6]),
        ("80000406h", [0x6]),
        ("qnn_open failed, 0xffffffff, prio 100", [0x3FF]),
        ("IDspTransport: Unknown rpc status 0x00000016", [0x16]),
        ("ioErr -2147482602", [0x16]),
        ("QnnDevice_create = 14001 / 0x36b1", [14001]),
        ("1002, 1008 14001", [1002, 1008, 14001]),
        ("setPowerConfig returned 13006 QNN_HTP_PERF_INFRASTRUCTURE_ERROR_FAILED", [13006]),
        ("AEE_ECONNREFUSED and aee_ebadperms", [0x72, 0x4E]),
        ("took 1002 us on 4000 calls, port 14001", []),
        ("fastrpc_apps_user.c:4000: done at 10:14001", []),
        ("apps_std_fopen_fd fd 0x0 error_code 0x2 at 0x7c1a10fa50", []),
        ("transportStatus = -1", []),
        ("Error 0x4e: open_device_node failed for domain ID 3", [0x4E]),
        ("cannot open session, error 0x00000001", []),
        ("DspTransport.createUnsignedPD failed, 0x00000006; getHandle failed, error 0xffffffff", []),
        ("IDspTransport: Unknown rpc status 0x0000004e; status=0x0000004e", [0x4E]),
    ],
)
def test_the_codes_in_a_text_are_found(text: str, numbers: list[int]) -> None:
    """A code counts if the words around it say that it is one; each is found once, in order."""
    assert [code.number for code in codes_in(text)] == numbers


@pytest.mark.parametrize("code", FASTRPC_TEXTS)
@pytest.mark.parametrize("form", ["0x{:08x}", "0x{:X}", "{:x}h", "{}", "signed"])
def test_every_code_of_fastrpc_is_found_in_every_notation(code: int, form: str) -> None:
    """With the bits of the DSP it is found in any line."""
    whole = 0x80000400 | code
    spelt = str(whole - 2**32) if form == "signed" else form.format(whole)
    assert [found.number for found in codes_in(f"the call failed: {spelt} (errno Success)")] == [code]
    assert [found.number for found in codes_in(FASTRPC_TEXTS[code].name.lower())] == [code]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("<E> No Snapdragon SOC detected", "no SoC detected"),
        ("Unsupported SnapdragonModel by HTP backend", "SoC model unsupported"),
        ("Dsp startup: Unsupported SoC model (SnapdragonModel): 43", "SoC model unsupported"),
        ("libcdsprpc.so: cannot open shared object file: No such file or directory", "a library is missing"),
        ('dlopen failed: library "libQnnHtpV75Stub.so" not found', "a library is missing"),
        ("libQnnHtpV75Stub.so: undefined symbol: remote_session_control", "a symbol is missing"),
        ("Stub lib id mismatch: expected (v2.51.0.2609), detected (v2.48.0.2606)", "stub and skel are of different"),
        ("DspTransport.createUnsignedPD unable to load unsigned PD", "no unsigned process domain"),
        ("skel has more than one connection", "the skel has another user"),
        ("open_shell failed for domain 3 (errno No such file or directory)", "no program of the process domain"),
        ("Failed to create dspqueue", "no queue or no shared memory"),
    ],
)
def test_messages_without_a_code_are_explained(line: str, says: str) -> None:
    """The words of the library, and of the loader, name the cause."""
    assert [subject.id.startswith(says) for subject in subjects_in(line)] == [True]


@pytest.mark.parametrize("line", ["Cost Based unsupported on soc QCS6490", "Initializing HtpProvider"])
def test_a_line_of_a_start_that_works_is_no_message(line: str) -> None:
    """The library logs such warnings on every start."""
    assert subjects_in(line) == ()


def test_a_log_is_explained_by_the_command(command: Command) -> None:
    """Each code has its cause and mend, in text and in JSON."""
    text = " ".join(command.output("explain", LOG).split())
    for each in ("0x80000406 AEE_EUNABLETOLOAD", "1008 QNN_COMMON", "4000 QNN_BACKEND", "14001 QNN_DEVICE"):
        assert each in text
    document = json.loads(command.output("explain", LOG, "--format", "json"))
    assert [code["id"] for code in document["codes"]][:4] == ["0x80000406", "1008", "4000", "14001"]


@pytest.mark.parametrize("text", ["the model is slow today", "qnn_open failed, 0x80000499", "error 0x99 and 1406"])
def test_a_text_without_a_known_code_says_what_was_looked_for(command: Command, text: str) -> None:
    """The exit code is 2."""
    result = command.run("explain", text)
    assert result.exit_code == 2
    assert "codes of FastRPC" in " ".join(result.stderr.split())


def test_a_negative_number_is_no_option(command: Command) -> None:
    """A log that took the highest bit for a sign can be pasted as it is; a mistyped option is still refused."""
    assert "AEE_EUNABLETOLOAD" in command.output("explain", "-2147482618")
    assert command.run("explain", "burst", "--formt", "json").exit_code == 2
