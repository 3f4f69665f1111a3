"""Advice on real output of ONNX Runtime's provider and Genie, on the simulation of the HTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.shared_folders import once
from support.voter import MODEL, PROCESSES, TOKENIZER, libraries, make_model

from htppower.errors.root import UnreadableFile
from htppower.tools.review.advice.measurement import Event
from htppower.tools.review.advice.readers.recognise import read_measurements
from htppower.tools.review.advice.run import advise

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


def run(name: str, *arguments: str, **environment: str) -> None:
    """Run a separate process: the library keeps state for the life of a process."""
    command = [sys.executable, str(PROCESSES / name), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.needs("provider")
@pytest.mark.usefixtures("vendors_library")
def test_the_csv_of_onnx_runtime(command: Command, tmp_path: Path) -> None:
    """Both levels are read, with appended sessions apart; they are known as simulated, and get no advice.

    The log next to it is refused with a hint.
    """
    run("profiled.py", str(tmp_path))
    (basic,) = read_measurements(str(tmp_path / "basic.csv"))
    assert (basic.simulated, basic.count, basic.starts) == (True, 3, (0,))
    assert {Event.QNN, Event.ACCELERATOR, Event.HVX_THREADS} <= basic.columns.keys()
    (detailed,) = read_measurements(str(tmp_path / "detailed.csv"))
    assert (detailed.simulated, detailed.count, detailed.starts) == (True, 6, (0, 3))
    assert {Event.CYCLES, Event.POWER_ON, Event.VTCM, Event.YIELDS} <= detailed.columns.keys() - basic.columns.keys()
    pairs = zip(detailed.columns[Event.QNN], detailed.columns[Event.ACCELERATOR], strict=True)
    assert all(whole >= within > 0 for whole, within in pairs)
    assert advise([basic, detailed]).told == ()
    assert "No advice" in command.output("advise", str(tmp_path / "basic.csv"), str(tmp_path / "detailed.csv"))
    (log,) = tmp_path.glob("basic*_qnn.log")
    with pytest.raises(UnreadableFile, match="qnn-profile-viewer --input_log"):
        read_measurements(str(log))


def test_the_profile_of_genie(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    """Each query has its tokens and times, which are consistent; the times are the host's."""
    folder = libraries()
    model = once(tmp_path_factory, "toy_model", make_model) / MODEL
    tokenizer, output = tmp_path / "tokenizer.json", tmp_path / "profile.json"
    tokenizer.write_text(json.dumps(TOKENIZER), encoding="utf-8")
    arguments = (str(folder), str(model), str(tokenizer), str(output), "4")
    run("genie_profile.py", *arguments, LD_LIBRARY_PATH=str(folder))
    (found,) = read_measurements(str(output))
    assert (found.graph, found.count, list(found.columns[Event.TOKENS])) == ("dialog0", 4, [3] * 4)
    assert all(begin < end for begin, end in zip(found.begins_us, found.ends_us, strict=True))
    for first_us, tokens, rate in zip(
        *(found.columns[event] for event in (Event.FIRST_TOKEN, Event.PROMPT_TOKENS, Event.PROMPT_RATE)), strict=True
    ):
        assert first_us == pytest.approx(tokens / rate * 1e6, rel=0.01)
    assert any("host" in note for note in found.notes)
    assert len(advise([found]).measurements) == 1
