"""Native codes in the notations of logs: decimal and hexadecimal, of QNN and of FastRPC."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from htppower.tools.review.explain.subjects import alike, subjects_of
from htppower.votes.native_codes import known_codes

if TYPE_CHECKING:
    from support.command import Command


@pytest.mark.parametrize("code", known_codes())
def test_a_code_is_explained_in_both_notations(code: int) -> None:
    """Hexadecimal digits may be upper or lower case."""
    (decimal,) = subjects_of(str(code))
    assert subjects_of(f"{code:#x}") == subjects_of(f"0x{code:X}") == (decimal,)


@pytest.mark.parametrize(
    ("code", "id", "says"),
    [
        ("0x80000406", "0x80000406", "AEE_EUNABLETOLOAD"),
        ("2147484678", "0x80000406", "AEE_EUNABLETOLOAD"),
        ("-2147482618", "0x80000406", "AEE_EUNABLETOLOAD"),
        ("0x80000416", "0x80000416", "AEE_ERESOURCENOTFOUND"),
        ("0X8000048A", "0x8000048a", "AEE_ENOSESSION"),
        ("0x4e", "0x4e", "AEE_EBADPERMS"),
        ("0x3ff", "0x3ff", "AEE_EUNKNOWN"),
    ],
)
def test_a_code_of_fastrpc_is_explained(code: str, id: str, says: str) -> None:  # noqa: A002 - as the subject has it
    """The code may be alone, with the DSP's offset, or a signed or unsigned decimal of 32 bits."""
    (subject,) = subjects_of(code)
    assert (subject.kind, subject.id, subject.says) == ("code", id, says)


@pytest.mark.parametrize("code", ["78", "0x99", "0x80000499", "0x", "0xzz", "1406", "-78", "0x" + "4" * 500])
def test_a_number_that_is_no_code_is_not_explained(code: str) -> None:
    """A small decimal number is not a code of FastRPC, whose logs are hexadecimal."""
    assert subjects_of(code) == ()


def test_an_unknown_hexadecimal_code_is_answered_with_those_that_are_known() -> None:
    """The hint lists the known codes and the DSP's offset."""
    assert "0x6, 0xc" in alike("0x99")
    assert "0x80000400 added" in alike("0x99")


def test_the_mend_of_a_missing_skel_is_told(command: Command) -> None:
    """The text names the variable, its separator, and the command that checks it."""
    text = " ".join(command.output("explain", "0x80000406").split())
    assert "ADSP_LIBRARY_PATH, folders separated by ';'" in text
    assert "htppower explain 14001" in text
