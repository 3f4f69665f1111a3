"""The causes that ``htppower doctor`` finds on a Snapdragon laptop with Windows, and the lines to type.

The stand-in gives the answers, and log lines with the texts of the library for Windows; a folder stands for the laptop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest
from support.fake_machine import FakeLaptop
from support.standin import ALWAYS

from htppower.tools.doctor.diagnosis import Diagnosis, diagnose
from htppower.tools.doctor.document import as_document

if TYPE_CHECKING:
    from pathlib import Path

    from support.standin import Standin

GET_DRIVER = (
    "start ms-settings:windowsupdate-optionalupdates",
    "start https://softwarecenter.qualcomm.com/catalog/item/Qualcomm_HND",
)
NO_RPC = "Unable to get the handle to libcdsprpc.dll"
NO_USER_DRIVER = "Failed to load HTP user driver!"
USER_DRIVER_FAILS = "DriverLibLoader Failed loading C:\\Windows\\System32\\DriverStore\\x\\HTP\\HtpUsrDrv.dll"


@pytest.fixture
def laptop(tmp_path: Path) -> FakeLaptop:
    """Return a laptop with the NPU's driver."""
    return FakeLaptop(tmp_path / "laptop")


def diagnosed(standin: Standin, laptop: FakeLaptop, code: int, *errors: str, processor: str = "aarch64") -> Diagnosis:
    """Return the diagnosis of a library whose deviceCreate logs errors and returns a code."""
    standin.script(*(f"log deviceCreate 1 {text}" for text in errors), f"deviceCreate 1 {ALWAYS} {code} 0")
    diagnosis = diagnose(str(standin.path), None, (), attrs.evolve(laptop.here(), processor=processor))
    assert diagnosis.failures == ()
    return diagnosis


@pytest.mark.parametrize("code", [14001, 4000, 1002])
@pytest.mark.parametrize("errors", [(), (NO_RPC,), (USER_DRIVER_FAILS,), (NO_USER_DRIVER,)])
def test_no_driver(standin: Standin, laptop: FakeLaptop, code: int, errors: tuple[str, ...]) -> None:
    """Without both libraries of the driver, whatever the answer is, it is to be installed."""
    causes = diagnosed(standin, laptop.without("libcdsprpc.dll", "HTP/HtpUsrDrv.dll"), code, *errors).causes
    found = next(cause for cause in causes if cause.id == "npu_driver")
    assert "is not installed: Windows has no libcdsprpc.dll and no HtpUsrDrv.dll" in found.says
    assert "Neural processors" in found.says
    assert found.lines == GET_DRIVER


@pytest.mark.parametrize(
    ("gone", "errors", "words"),
    [
        (["libcdsprpc.dll"], (), "The NPU's driver has no libcdsprpc.dll, which the stub needs: update the driver"),
        ([], (NO_RPC,), "The stub can't load libcdsprpc.dll, though the NPU's driver has it: update the driver"),
        (["HTP/HtpUsrDrv.dll"], (), ", and the NPU's driver has none. Add these files of the library's release"),
        (["HTP/HtpUsrDrv.dll"], (NO_USER_DRIVER,), ", and the NPU's driver has none"),
        ([], (USER_DRIVER_FAILS, NO_USER_DRIVER), ", and can't load the one of the NPU's driver. Add these files"),
        (["libcdsprpc.dll"], (NO_USER_DRIVER,), "can't load the one of the NPU's driver"),
    ],
)
def test_a_driver_without_a_library(
    standin: Standin, laptop: FakeLaptop, gone: list[str], errors: tuple[str, ...], words: str
) -> None:
    """The cause names the library of the driver that is missing, or that the log names."""
    (found,) = diagnosed(standin, laptop.without(*gone), 14001, *errors).causes
    assert (found.id, found.lines) == ("npu_driver", GET_DRIVER)
    assert words in found.says


def test_a_laptop_with_its_driver(standin: Standin, laptop: FakeLaptop) -> None:
    """The driver is not a cause, and is shown with its version; the advice has nothing of Linux."""
    diagnosis = diagnosed(standin, laptop, 14001)
    assert diagnosis.causes == ()
    assert diagnosis.steps == (
        "no cause is known: look into the log, and at the NPU in Device Manager (Neural processors)",
    )
    assert as_document(diagnosis)["machine"]["drivers"] == [
        {
            "folder": "qcnspmcdm8380.inf_arm64_81346390",
            "version": "30.0.220.11010",
            "libraries": ["libcdsprpc.dll", "HtpUsrDrv.dll"],
        }
    ]


def test_a_pc_has_no_driver(standin: Standin, laptop: FakeLaptop) -> None:
    """A machine with x86-64 has no NPU of this vendor, so the driver is not a cause."""
    laptop.without("libcdsprpc.dll", "HTP/HtpUsrDrv.dll")
    assert diagnosed(standin, laptop, 14001, processor="x86_64").causes == ()


def test_a_missing_stub_comes_before_the_driver(standin: Standin, laptop: FakeLaptop) -> None:
    """The stub belongs into the folder of the library, and the line for it is one of Windows."""
    errors = ("Failed to load library C:\\qnn\\QnnHtpV73Stub.dll: 126", NO_USER_DRIVER)
    first, second = diagnosed(standin, laptop.without("HTP/HtpUsrDrv.dll"), 14001, *errors).causes
    assert (first.id, second.id) == ("stub_missing", "npu_driver")
    assert first.lines == (f'copy C:\\FOLDER\\OF\\THE\\RELEASE\\QnnHtpV73Stub.dll "{standin.path.parent}"',)


def test_only_the_variables_of_windows_are_listed(standin: Standin, laptop: FakeLaptop) -> None:
    """LD_LIBRARY_PATH means nothing there."""
    laptop.environment.update(LD_LIBRARY_PATH="/x", QNN_SDK_ROOT="C:\\qairt")
    assert diagnosed(standin, laptop, 14001).environment == {"QNN_SDK_ROOT": "C:\\qairt"}


@pytest.mark.parametrize(
    ("processor", "words"),
    [("aarch64", "use the library for this device"), ("x86_64", "run it on a Snapdragon device")],
)
def test_a_library_that_moves_no_clock(
    standin: Standin, laptop: FakeLaptop, monkeypatch: pytest.MonkeyPatch, processor: str, words: str
) -> None:
    """On a laptop with the NPU another library is needed, and on a PC another machine."""
    monkeypatch.setattr("htppower.backends.qnn.htp.moves_clocks", lambda _path: False)
    diagnosis = diagnose(str(standin.path), None, (), attrs.evolve(laptop.here(), processor=processor))
    (step,) = diagnosis.steps
    assert step.startswith(words)
