"""The systemd units of the service: systemd accepts them, and finds little to harden."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from support.checkout import ROOT

if TYPE_CHECKING:
    from pathlib import Path

UNITS = ROOT / "docs" / "examples" / "service"

pytestmark = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")


@pytest.fixture
def units(tmp_path: Path) -> list[str]:
    """Copy the units, with a program that exists."""
    for name in ("htppower.socket", "htppower.service"):
        text = (UNITS / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("/usr/local/bin/htppower", "/bin/true"))
    return [str(tmp_path / "htppower.socket"), str(tmp_path / "htppower.service")]


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run systemd-analyze."""
    found = shutil.which("systemd-analyze")
    assert found is not None
    return subprocess.run([found, *arguments], capture_output=True, text=True, check=False)


def test_systemd_accepts_the_units(units: list[str]) -> None:
    """Every line of both is known."""
    told = analyze("verify", *units)
    assert (told.returncode, told.stderr) == (0, "")


def test_the_service_is_hardened(units: list[str]) -> None:
    """The exposure, from 0 to 10, is at most 2; systemd calls that OK."""
    told = analyze("security", "--offline=true", units[1])
    exposure = re.search(r"exposure level for htppower.service: ([\d.]+)", told.stdout)
    assert exposure is not None, told.stderr
    assert float(exposure[1]) <= 2
