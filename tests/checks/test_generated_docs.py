"""The generated parts of the documentation are up to date, and the tutorial works."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import yaml
from support.checkout import ROOT

DOCS = ROOT / "docs"


def run(module: str) -> subprocess.CompletedProcess[str]:
    """Let a module of the documentation check its pages, with warnings as errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", module, "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML without libyaml words an error otherwise")
def test_generated_parts_are_up_to_date() -> None:
    """Tables, messages and command output in the pages equal the code's output."""
    done = run("docs.generate")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_tutorial_can_be_followed() -> None:
    """Each file, command and output of the tutorial works in an empty folder; its set-up is README's."""
    done = run("docs.tutorial")
    assert (done.returncode, done.stderr) == (0, "")
    first = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
    blocks = [first.findall(path.read_text(encoding="utf-8"))[0] for path in (DOCS / "tutorial.md", ROOT / "README.md")]
    assert blocks[0] == blocks[1]


@pytest.mark.parametrize(
    "name", ["adaptive", "link", "restart", "state_machine", "sustain", "two_sessions", "vote_path"]
)
def test_the_pictures_are_up_to_date(name: str) -> None:
    """The committed pictures equal the output of their programs, from the code or from a run in virtual time."""
    done = run(f"docs.{name}")
    assert (done.returncode, done.stderr) == (0, "")
