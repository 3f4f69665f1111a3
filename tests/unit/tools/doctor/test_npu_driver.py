"""The NPU's driver of a Windows laptop, read from a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.fake_machine import FakeLaptop

from htppower.tools.doctor.attempts import Attempts
from htppower.tools.doctor.machine import Machine, read_machine
from htppower.tools.doctor.npu_driver import NpuDriver

if TYPE_CHECKING:
    from pathlib import Path

BOTH = ("libcdsprpc.dll", "HtpUsrDrv.dll")


def read(laptop: FakeLaptop) -> Machine:
    """Return the facts; none of them fails."""
    attempts = Attempts()
    facts = read_machine(laptop.here(), attempts)
    assert attempts.failures == []
    return facts


def test_a_laptop(tmp_path: Path) -> None:
    """The driver is found with its version and libraries; the folder of its firmware is not taken for a driver."""
    facts = read(FakeLaptop(tmp_path))
    assert (facts.system, facts.processor) == ("windows", "aarch64")
    assert facts.drivers == (NpuDriver("qcnspmcdm8380.inf_arm64_81346390", "30.0.220.11010", BOTH),)


def test_no_file_of_linux_is_read(tmp_path: Path) -> None:
    """A current drive with folders such as etc is not the system."""
    laptop = FakeLaptop(tmp_path)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text("ID=debian\nVERSION_ID=12\n", encoding="utf-8")
    (tmp_path / ".dockerenv").touch()
    facts = read(laptop)
    assert facts.distribution.startswith("windows ")
    assert (facts.container, facts.soc_trouble, facts.nodes) == ("", "", ())


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (b"DriverVer=06/21/2024,1.0.4132.1\n", "1.0.4132.1"),
        (b"; DriverVer = 1\nDRIVERVER = 06/21/2024, 1.0\r\n", "1.0"),
        (b"[Version]\n", ""),
    ],
)
def test_the_version_of_a_driver(tmp_path: Path, text: bytes, version: str) -> None:
    """The file may be ASCII or UTF-16, and may have no version."""
    laptop = FakeLaptop(tmp_path)
    (laptop.driver / "qcnspmcdm8380.inf").write_bytes(text)
    assert [driver.version for driver in read(laptop).drivers] == [version]


def test_a_driver_without_its_libraries_is_none(tmp_path: Path) -> None:
    """Each driver has the libraries that are there, and one without any is left out."""
    laptop = FakeLaptop(tmp_path).without("HTP/HtpUsrDrv.dll")
    assert [driver.libraries for driver in read(laptop).drivers] == [BOTH[:1]]
    assert read(laptop.without("libcdsprpc.dll")).drivers == ()
