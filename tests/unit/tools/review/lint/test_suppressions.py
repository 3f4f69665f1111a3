"""Suppressions: the findings that they hide, their expiry, and findings about suppressions."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shipped import shipped_folder

from htppower.tools.review.lint.run import lint
from htppower.tools.review.lint.suppressions import comments_for_htppower

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.tools.review.lint.run import LintReport

TODAY = datetime.date(2026, 11, 21)
POLLS = "profile: mine\nextends: low_balanced\nsummary: '# htppower: no comment'\nvotes: {rpc_polling_time_us: 10}"
GOOD = "# htppower: disable=RPC-6,REV-2 until=2026-11-21 because=only while the camera is open"


def report(folder: Path, text: str) -> LintReport:
    """Lint a file of this text."""
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    return lint([folder], TODAY)


def rules(found: LintReport) -> list[str]:
    """Return the rules of the remaining findings."""
    return [finding.rule for finding in found.findings]


def test_a_suppression_lifts_the_findings_of_its_rules_in_the_whole_file(tmp_path: Path) -> None:
    """A suppression on its own line applies to the whole file; the hidden findings are still known."""
    for text in (f"{GOOD}\n{POLLS}\n", f"{POLLS}\n{GOOD}\n", f"{POLLS}\n   {GOOD}\n"):
        found = report(tmp_path, text)
        assert rules(found) == []
        assert {lifted.finding.rule for lifted in found.suppressed} == {"RPC-6", "REV-2"}
        assert found.suppressed[0].suppression.because == "only while the camera is open"


def test_a_suppression_behind_a_value_is_for_its_line(tmp_path: Path) -> None:
    """A suppression after a value hides only the findings of that line."""
    assert rules(report(tmp_path, f"{POLLS}  {GOOD}\n")) == []
    other_line = POLLS.replace("low_balanced\n", f"low_balanced  {GOOD}\n")
    assert sorted(rules(report(tmp_path, other_line))) == ["REV-2", "RPC-6", "SUP-3"]


def test_a_suppression_holds_to_the_end_of_its_day(tmp_path: Path) -> None:
    """A suppression holds on its date; a day later its expiry is an error next to the finding."""
    assert rules(report(tmp_path, f"{GOOD}\n{POLLS}\n")) == []
    expired = report(tmp_path, f"{GOOD.replace('11-21', '11-20')}\n{POLLS}\n")
    assert sorted(rules(expired)) == ["REV-2", "RPC-6", "SUP-2"]
    assert "2026-11-20" in next(finding.message for finding in expired.findings if finding.rule == "SUP-2")


def test_a_suppression_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    """Each rule of a suppression must have a finding, or the error names the rule."""
    found = report(tmp_path, f"{GOOD.replace('REV-2', 'REV-2,SUS-1')}\n{POLLS}\n")
    (finding,) = found.findings
    assert (finding.rule, str(finding.place)) == ("SUP-3", f"{tmp_path / 'mine.yaml'}:1:1")
    assert "SUS-1" in finding.message


def test_a_suppression_in_a_base_lifts_what_is_inherited(tmp_path: Path) -> None:
    """A profile gets no finding that its base suppresses, whether the base is linted too or not."""
    (tmp_path / "base.yaml").write_text(f"{GOOD}\n{POLLS.replace('mine', 'base')}\n", encoding="utf-8")
    mine = tmp_path / "mine.yaml"
    for text in ("profile: mine\nextends: base\n", f"{GOOD}\nprofile: mine\nextends: base\n"):
        mine.write_text(text, encoding="utf-8")
        assert rules(lint([tmp_path], TODAY)) == []
        assert rules(lint([mine], TODAY)) == []


def test_a_suppression_in_a_base_is_known_by_any_spelling_of_its_path(tmp_path: Path) -> None:
    """Two folders reach the base by different paths, and neither gets a suppressed finding."""
    for folder in ("a", "b", "base"):
        (tmp_path / folder).mkdir()
    (tmp_path / "base" / "base.yaml").write_text(f"{GOOD}\n{POLLS.replace('mine', 'base')}\n", encoding="utf-8")
    for folder in ("a", "b"):
        text = f"profile: x{folder}\nextends: ../base/base.yaml\n"
        (tmp_path / folder / f"x{folder}.yaml").write_text(text, encoding="utf-8")
    assert rules(lint([tmp_path / "a", tmp_path / "b"], TODAY)) == []


def test_a_suppression_in_a_power_state_lifts_what_is_told_where_it_is_named(tmp_path: Path) -> None:
    """A profile linted alone has REV-4 at the profile; the suppression in the state's file still hides it."""
    (tmp_path / "states").mkdir()
    relaxed = (shipped_folder() / "states" / "relaxed.yaml").read_text(encoding="utf-8")
    text = relaxed.replace("state: relaxed", "state: low").replace("rpc_polling_time_us: 0", "rpc_polling_time_us: 9")
    suppression = GOOD.replace("RPC-6,REV-2", "REV-4")
    (tmp_path / "states" / "low.yaml").write_text(f"{suppression}\n{text}", encoding="utf-8")
    (tmp_path / "mine.yaml").write_text("profile: mine\nextends: burst\nrelax: {to: low}\n", encoding="utf-8")
    assert rules(lint([tmp_path], TODAY)) == []
    assert rules(lint([tmp_path / "mine.yaml"], TODAY)) == []


def test_a_suppression_for_a_profile_that_is_not_linted_is_left_alone(tmp_path: Path) -> None:
    """A base may suppress a finding of a profile that extends it; the base alone gets no finding about this."""
    base = f"{GOOD.replace('RPC-6,REV-2', 'SUS-1')}\nprofile: base\nextends: burst\n"
    (tmp_path / "base.yaml").write_text(base, encoding="utf-8")
    derived = "profile: mine\nextends: base\nrelax: {after_inference_us: 5}\n"
    (tmp_path / "mine.yaml").write_text(derived, encoding="utf-8")
    assert rules(lint([tmp_path / "base.yaml"], TODAY)) == []
    (tmp_path / "mine.yaml").write_text(f"{derived}bogus: 1\n", encoding="utf-8")
    assert "SUP-3" not in rules(lint([tmp_path], TODAY))


def test_a_suppression_of_ones_own_lifts_what_is_inherited(tmp_path: Path) -> None:
    """A profile may suppress a finding that it inherits; the base keeps the finding."""
    (tmp_path / "base.yaml").write_text(f"{POLLS.replace('mine', 'base')}\n", encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(f"{GOOD}\nprofile: mine\nextends: base\n", encoding="utf-8")
    assert rules(lint([tmp_path / "mine.yaml"], TODAY)) == []
    assert {finding.path for finding in lint([tmp_path], TODAY).findings} == {str(tmp_path / "base.yaml")}


def test_nothing_is_said_of_suppressions_above_a_base_that_can_not_be_read(tmp_path: Path) -> None:
    """If a base is broken, the rules of the suppression were not checked."""
    (tmp_path / "base.yaml").write_text(f"{POLLS.replace('mine', 'base')}\nbogus: 1\n", encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(f"{GOOD}\nprofile: mine\nextends: base\n", encoding="utf-8")
    assert "SUP-3" not in rules(lint([tmp_path], TODAY))


def test_nothing_is_said_of_suppressions_where_rules_were_left_out(tmp_path: Path) -> None:
    """A suppression may be unused if a file can't be read to its end, or if only a platform breaks its rule."""
    unread = report(tmp_path, f"{GOOD}\n{POLLS}\nfoo: 1\n")
    assert rules(unread) == ["KEY-1"]
    platform = report(tmp_path, f"{GOOD}\n# htppower: disable=RPC-4 until=2027-01-01 because=no QNX yet\n{POLLS}\n")
    assert rules(platform) == []


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# htppower: disable=RPC-6 until=2027-03-01", "no reason"),
        ("# htppower: disable=RPC-6 until=2027-03-01 because=", "no reason"),
        ("# htppower: disable=RPC-6 until=2027-03-01 because=...", "no reason"),
        ("# htppower: disable=RPC-6 because=it polls", "no date"),
        ("# htppower: disable=RPC-6 until= because=it polls", "no date"),
        ("# htppower: disable=RPC-6 until=2027-02-30 because=it polls", "'2027-02-30' is not a date"),
        ("# htppower: disable=RPC-6 until=2027-3-1 because=it polls", "'2027-3-1' is not a date"),
        ("# htppower: disable=RPC-6 until=tomorrow because=it polls", "'tomorrow' is not a date"),
        ("# htppower: disable=RPC-9 until=2027-03-01 because=it polls", "no rule 'RPC-9'"),
        ("# htppower: disable= until=2027-03-01 because=it polls", "no rule ''"),
        ("# htppower: disable=DCVS-2 until=2027-03-01 because=it runs", "DCVS-2 is not a warning"),
        ("# htppower: disable=RPC-5 until=2027-03-01 because=it runs", "RPC-5 is not a warning"),
        ("# htppower: disable=SUP-3 until=2027-03-01 because=it runs", "SUP-3 is not a warning"),
        ("# htppower: disabel=RPC-6 until=2027-03-01 because=it polls", "is not a suppression"),
        ("# htppower: ignore everything", "is not a suppression"),
        ("#htppower:", "is not a suppression"),
        ("# htppower disable=RPC-6 until=2027-03-01 because=it polls", "is not a suppression"),
        ("# HTPPOWER: disable=RPC-6 because=it polls", "no date"),
    ],
)
def test_a_suppression_that_is_not_well_formed_is_an_error(tmp_path: Path, comment: str, said: str) -> None:
    """Without rule, date or reason no finding is hidden; the finding is at the comment, with the right form."""
    found = report(tmp_path, f"{POLLS}\n{comment}\n")
    assert sorted(rules(found)) == ["REV-2", "RPC-6", "SUP-1"]
    (wrong,) = [finding for finding in found.findings if finding.rule == "SUP-1"]
    assert said in wrong.message
    assert wrong.hint
    assert str(wrong.place) == f"{tmp_path / 'mine.yaml'}:5:1"


@pytest.mark.parametrize(
    ("comment", "line"),
    [
        ("# htppower: disable=SUS-1", "disable=SUS-1 until=2027-03-01 because=..."),
        ("# htppower: disable=SUS-1,REV-8 because=a test", "disable=SUS-1,REV-8 until=2027-03-01 because=a test"),
        ("# htppower: disable=REV-8 until=2099-01-31", "disable=REV-8 until=2099-01-31 because=..."),
    ],
)
def test_the_hint_is_the_line_to_write(tmp_path: Path, comment: str, line: str) -> None:
    """The hint has the rules, the date and the reason of the comment."""
    (tmp_path / "mine.yaml").write_text(f"profile: mine\nextends: burst {comment}\n", encoding="utf-8")
    (wrong,) = [found for found in lint([tmp_path], TODAY).findings if found.rule == "SUP-1"]
    assert wrong.hint.endswith(f": # htppower: {line}")


@given(st.text("#ab \"'|\n:-htpower{}[],", max_size=60), st.booleans())
def test_a_comment_is_found_where_yaml_sees_one(before: str, own_line: bool) -> None:
    """For any text before it, there is at most one comment in a line, and its hash begins a word."""
    text = before + ("\n" if own_line else "") + "# htppower: disable=RPC-6"
    lines = text.split("\n")
    found = list(comments_for_htppower(text, lines))
    assert len({line for line, _ in found}) == len(found)
    for line, column in found:
        assert lines[line - 1][column - 1] == "#"
        assert column == 1 or lines[line - 1][column - 2].isspace()


def test_what_looks_like_a_comment_in_a_text_is_none() -> None:
    """A hash inside quotes, or inside a block of text, is not a comment."""
    quoted = 'summary: "a # htppower: disable=RPC-6"\n'
    block = "summary: |\n  a\n  # htppower: disable=RPC-6\nx: 1\n"
    plain = "summary: a# htppower: b\n"
    for text in (quoted, block, plain):
        assert list(comments_for_htppower(text, text.split("\n"))) == []
    assert list(comments_for_htppower("# htppower is great\n", ["# htppower is great"])) == []
    both = 'summary: "# htppower: a"  # htppower: disable=RPC-6\n'
    assert list(comments_for_htppower(both, both.split("\n"))) == [(1, 27)]
    after = 'summary: "a # b"  # htppower: disable=RPC-6\n'
    assert list(comments_for_htppower(after, after.split("\n"))) == [(1, 19)]


@pytest.mark.parametrize(
    "comment",
    [
        f"# htppower:{' ' * 100_000}x",
        f"# htppower: disable={'until=' * 20_000} x",
        f"# htppower: disable=RPC-6 until={' until=' * 20_000}",
        f"# htppower {'#' * 500_000}",
        f"htppower {'# ' * 250_000}",
        f"# htppower: {'# htppower:' * 40_000}",
    ],
)
def test_a_long_comment_takes_no_longer_than_its_length(tmp_path: Path, comment: str) -> None:
    """The search takes linear time, even in a long run of spaces or of the same character."""
    found = report(tmp_path, f"{POLLS}\n{comment}\n")
    assert all(len(finding.message) < 1_000 for finding in found.findings)


def test_a_comment_behind_a_quoted_one_counts() -> None:
    """The first match in a line may be part of a value, and the second one a comment."""
    line = f"summary: 'a {GOOD}'  {GOOD}"
    assert list(comments_for_htppower(line, [line])) == [(1, line.rindex("#") + 1)]
