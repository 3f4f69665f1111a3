"""Records: the votes of other runtimes, by names with a colon."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest
from support.shipped import shipped_folder

from htppower import HtpPowerError, ProfileError, load_profile, profile_names
from htppower.profiles.expressed import nearest
from htppower.profiles.loading import load_records, record_names
from htppower.profiles.names import SHIPPED_PROFILES, own_name
from htppower.profiles.profile import Provenance, is_held

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

NINE = [name for name in SHIPPED_PROFILES if name != "system_settings"]
# Each runtime, its modes with records, and whether it holds their votes.
RUNTIMES = {
    "executorch": ([*NINE[:-1], "default"], True),
    "litert": ([*NINE, "default"], True),
    "litert-auto": (NINE, False),
    "onnxruntime": ([*NINE, "default"], True),
    "sdk-2.25": (NINE, False),
    "vendor": ([*NINE, "system_settings", "default"], False),
}
MINE = "profile: burst\nextends: onnxruntime:burst\nsummary: As measured here.\n"


def test_the_records_that_ship() -> None:
    """They load, are grouped by runtime in the vendor's order, and are not among the profiles."""
    names = [f"{runtime}:{name}" for runtime, (modes, _) in RUNTIMES.items() for name in modes]
    records, errors = load_records()
    assert not errors
    assert [record.name for record in records] == list(record_names()) == names
    assert not set(profile_names()) & set(names)


@pytest.mark.parametrize("name", record_names())
def test_a_record(name: str) -> None:
    """It has a source, its runtime in its name, the mode in its lineage, and is held if the runtime holds."""
    record = load_profile(name)
    runtime, _, mode = name.partition(":")
    assert record.provenance is not None
    assert record.provenance.how == ("measured" if runtime in ("onnxruntime", "vendor") else "read")
    assert mode == own_name(record.name) == record.lineage[0]
    if mode not in ("default", "system_settings"):
        assert is_held(record) is RUNTIMES[runtime][1]


def test_the_automatic_votes_of_litert_are_raised_as_its_manual_ones() -> None:
    """One table serves both; the two sustained modes are lowered after 300 ms, the others at once."""
    for mode in NINE:
        manual, auto = load_profile(f"litert:{mode}"), load_profile(f"litert-auto:{mode}")
        assert auto.votes == manual.votes
        assert auto.relax is not None
        sustained = mode in ("burst", "sustained_high_performance")
        assert auto.relax.after_inference_us == (300_000 if sustained else 0)


@pytest.mark.parametrize("name", ["nobody:burst", "vendor:brust", "vendor:", ":burst", "..:burst", "vendor:../burst"])
def test_a_name_that_leads_nowhere(name: str) -> None:
    """The error names the nearest record; a part of a name never leads out of the folders."""
    with pytest.raises(ProfileError) as caught:
        load_profile(name)
    assert caught.value.rule in ("NAME-1", "FILE-1")
    if name == "vendor:brust":
        assert "vendor:burst" in caught.value.hint


def test_records_of_a_users_own(tmp_path: Path) -> None:
    """A user's folder may have records, too; each file has its own provenance, which is not inherited."""
    file = tmp_path / "runtimes" / "mine" / "burst.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(MINE, encoding="utf-8")
    assert record_names([tmp_path])[-1] != "mine:burst"  # sorted by runtime
    mine = load_profile("mine:burst", [tmp_path])
    assert (mine.name, mine.provenance, mine.lineage) == ("mine:burst", None, ("burst", "burst"))
    assert mine.votes == load_profile("onnxruntime:burst").votes
    stated = "provenance: {how: measured, of: a board, source: its log}\n"
    file.write_text(MINE + stated, encoding="utf-8")
    assert load_profile(file).provenance == Provenance("measured", "a board", "its log")
    file.write_text(MINE + stated.replace("measured", "guessed"), encoding="utf-8")
    with pytest.raises(ProfileError, match="guessed"):
        load_profile(file)


def test_list_tells_them_where_they_are_asked_for(command: Command) -> None:
    """``list`` shows records only on request, by runtime, each with its source; JSON has the same."""
    assert "vendor:burst" not in command.output("list")
    told = command.output("list", "--runtimes")
    assert "measured: onnxruntime-qnn 2.7.0" in told
    assert "held" in next(line for line in told.split("onnxruntime:burst")[1].splitlines()[:2] if "held" in line)
    assert '"provenance": "read: LiteRT' in command.output("list", "--runtimes", "--format", "json")
    assert "provenance" not in command.output("list", "--format", "json")


def test_show_tells_where_a_record_is_from(command: Command, tmp_path: Path) -> None:
    """The printed record loads to the same record."""
    told = command.output("show", "vendor:burst")
    assert 'how: "measured"' in told
    file = tmp_path / "burst.yaml"
    named = told.replace("relaxed_adjusting", "relaxed").replace("released_adjusting", "released")
    file.write_text(named, encoding="utf-8")
    shown, record = load_profile(file), load_profile("vendor:burst")
    assert (shown.votes, shown.provenance, shown.summary) == (record.votes, record.provenance, record.summary)


def test_diff_says_why_burst_is_not_burst(command: Command) -> None:
    """``diff`` says in words whose votes these are, how they are known, and what is lowered when, in every form."""
    for form in ("text", "json", "markdown", "html"):
        result = command.run("diff", "onnxruntime:burst", "vendor:burst", "--format", form)
        said = " ".join(result.stdout.split())
        assert result.exit_code == 1
        assert "onnxruntime:burst (measured: onnxruntime-qnn 2.7.0" in said
        assert "nothing is lowered until the model is released" in said
        assert "300 ms after the last inference core and bus to SVS2 / SVS / SVS" in said
    assert "in_words" not in command.run("diff", "burst", "balanced", "--format", "json").stdout


def test_lint_takes_a_name(command: Command) -> None:
    """A record is linted by its name; another runtime's behaviour is not a finding."""
    assert command.output("lint", "onnxruntime:burst", "litert-auto:balanced", "--strict") == "2 files: no findings\n"
    assert command.run("lint", "vendor:brust").exit_code == 2


def test_lint_finds_nothing_in_the_records_that_ship(command: Command) -> None:
    """The records pass lint if their folder is named; linting the shipped folder leaves them out."""
    runtimes = shipped_folder() / "runtimes"
    every = command.output("lint", *(str(runtimes / name) for name in RUNTIMES), "--strict")
    count = len(list(runtimes.rglob("*.yaml")))
    assert every == f"{count} files: no findings\n"
    beside = sum(len(list(shipped_folder().glob(files))) for files in ("*.yaml", "states/*.yaml", "devices/*.yaml"))
    assert command.output("lint", str(shipped_folder())) == f"{beside} files: no findings\n"


def test_a_users_folder_of_that_name_is_linted(command: Command, tmp_path: Path) -> None:
    """Only the records in the shipped folder, or in a copy of it, are left out."""
    file = tmp_path / "runtimes" / "mine" / "burst.yaml"
    file.parent.mkdir(parents=True)
    stated = "provenance: {how: measured, of: a board, source: its log}\n"
    file.write_text(MINE + stated, encoding="utf-8")
    assert command.output("lint", str(tmp_path)) == "1 file: no findings\n"


def test_a_record_runs(command: Command) -> None:
    """The dry run has the runtime's calls: held votes are sent once, without a call between inferences."""
    told = command.output("profile", "onnxruntime:burst", "--dry-run", "--inferences", "5")
    assert "setPowerConfig(1)" in told
    assert "SVS2" not in told
    record = load_profile("onnxruntime:burst")
    assert attrs.evolve(record, name="x").provenance is not None
    ends = command.output("profile", "vendor:burst", "--dry-run")
    assert "MIN_VOLTAGE_CORNER" in ends.split("DE-INIT ended")[1]


def test_a_runtime_without_a_record() -> None:
    """The error names the folder to write the records in."""
    with pytest.raises(HtpPowerError, match=r"^no valid record in profiles/runtimes/new; write a record of each mode"):
        nearest(load_profile("burst"), ("new",))
    with pytest.raises(HtpPowerError, match=r"^no valid record of a mode among fastest in profiles/runtimes/vendor;"):
        nearest(load_profile("burst"), ("vendor",), only=("fastest",))
