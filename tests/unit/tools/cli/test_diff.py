"""``htppower diff``: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.command import Command


@pytest.mark.usefixtures("sides")
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_every_form_is_the_reviewed_one(command: Command, form: str) -> None:
    """The diff of two folders equals the golden file in every form."""
    command.assert_golden(f"diff-{form}.txt", "diff", "old", "new", "--format", form, exit_code=1)


def test_the_same_is_exit_0(command: Command) -> None:
    """Without a difference, the exit code is 0 and one line reports this."""
    assert command.output("diff", "burst", "burst") == "nothing differs in what is resolved\n"
    assert json.loads(command.output("diff", "burst", "burst", "--format", "json"))["same"] is True


@pytest.mark.usefixtures("sides")
def test_fail_on_counts_its_effects_only(command: Command) -> None:
    """With --fail-on, only differences with the named effects fail; the option may be repeated."""
    assert command.run("diff", "old", "new", "--fail-on", "raises-power").exit_code == 1
    assert command.run("diff", "new", "old", "--fail-on", "changes-timing").exit_code == 1
    assert command.run("diff", "burst", "burst", "--fail-on", "raises-power").exit_code == 0
    lower = ("diff", "high_performance", "balanced", "--fail-on", "raises-power")
    assert command.run(*lower).exit_code == 0
    assert command.run(*lower, "--fail-on", "changes-latency").exit_code == 1
    assert command.run("diff", "old", "new", "--fail-on", "nothing").exit_code == 2


@pytest.mark.usefixtures("sides")
def test_outputs_are_written_beside_what_is_printed(command: Command) -> None:
    """One run may write several forms, each as it would be printed; if one can't be written, none is."""
    printed = command.output("diff", "old", "new", "--output", "json=o.json", "--output", "html=o.html", exit_code=1)
    assert printed == command.output("diff", "old", "new", exit_code=1)
    told = command.output("diff", "old", "new", "--format", "json", exit_code=1)
    assert Path("o.json").read_text(encoding="utf-8") == told
    assert "<svg" in Path("o.html").read_text(encoding="utf-8")
    outputs = ("--output", "json=p.json", "--output", "markdown=none/p.md")
    result = command.run("diff", "old", "new", *outputs)
    assert (result.exit_code, result.stdout, Path("p.json").exists()) == (2, "", False)


def test_nothing_compared_with_nothing_is_exit_2(command: Command, tmp_path: Path) -> None:
    """Two folders without profiles are an error, so that a wrong folder is not reported as equal."""
    result = command.run("diff", str(tmp_path), str(tmp_path))
    assert (result.exit_code, "no profile on either side" in result.stderr) == (2, True)
    assert command.run("diff", str(tmp_path), "burst").exit_code == 2


def test_power_states_are_compared_by_name(command: Command) -> None:
    """Two power states are compared in the same way as two profiles."""
    assert "dcvs_v3.sleep_latency_us  2000 -> 65535" in command.output("diff", "relaxed", "released", exit_code=1)


def test_bad_input_is_exit_2(command: Command, tmp_path: Path) -> None:
    """If an input can't be found, read or resolved, the error names its place and nothing is compared."""
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("profile: wrong\nextends: burst\nvotes: {rpc_polling_time_us: 10000}\n", encoding="utf-8")
    for arguments, said in (
        (("burst", "brst"), "did you mean burst?"),
        (("burst", str(tmp_path / "none.yaml")), "none.yaml: FILE-1"),
        ((str(wrong), "burst"), "wrong.yaml:3:30: RPC-1"),
        (("burst",), "name OLD and NEW"),
        (("burst", "burst", "burst"), "name OLD and NEW"),
        ((), "name OLD and NEW"),
    ):
        result = command.run("diff", *arguments)
        assert (result.exit_code, result.stdout, said in result.stderr) == (2, "", True), arguments


def test_without_git_it_is_said_what_to_do(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git, the error suggests to compare two folders."""
    monkeypatch.setenv("PATH", "")
    result = command.run("diff", "--against", "HEAD", ".")
    assert (result.exit_code, "compare two folders" in result.stderr) == (2, True)
