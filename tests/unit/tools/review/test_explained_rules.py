"""The explanation of each rule is true: its example breaks the rule, and its mend keeps it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.shipped import shipped_folder

from htppower.rules.rule import Breach, Family
from htppower.tools.review.lint.catalogue import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from support.command import Command

SHIPPED = shipped_folder() / "devices" / "hexagon_assumed.yaml"
# Files for rules that are explained in words; the first entry is a missing file.
IN_WORDS: dict[str, bytes | None] = {
    "FILE-1": None,
    "FILE-2": b"#" * 2**21,
    "FILE-3": "profile: m\xfcde\n".encode("latin-1"),
    "JSON-1": b'{"devices": [,]}',
    "MODEL-1": SHIPPED.read_bytes().replace(b"value: 0.30\n", b"value: 2.50\n").replace(b"[0.05, 0.6]", b"[0.05, 3]"),
}
# Rules that no file can break.
NEVER_BROKEN = {"HMX-2", "HMX-4", "HMX-5", "HMX-6", "HMX-7", "RPC-7", "ID-1"}


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files; an empty one is removed."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        if not text:
            (folder / name).unlink()


def broken(command: Command, folder: Path, options: tuple[str, ...], family: Family) -> set[str]:
    """Return the rules that lint, or the check of settings, finds broken in a folder."""
    if family is Family.SETTINGS:
        result = command.run("settings", "--check", *map(str, sorted(folder.iterdir())), "--format", "json")
    else:
        result = command.run("lint", str(folder), "--format", "json", *options)
    return {finding["rule"] for finding in json.loads(result.stdout)["findings"]}


def test_every_rule_is_told() -> None:
    """Each rule has its texts in full sentences, and either an example or a description of one."""
    for rule, text in CATALOGUE.items():
        assert text.why.endswith("."), rule
        assert text.mend.endswith("."), rule
        assert bool(text.wrong) is not bool(text.said), rule
        assert bool(text.wrong) is bool(text.right), rule


@pytest.mark.parametrize("rule", [rule for rule, text in CATALOGUE.items() if text.wrong])
def test_the_example_breaks_the_rule_and_the_mend_keeps_it(command: Command, tmp_path: Path, rule: str) -> None:
    """Lint finds the rule in the example, and no error in the mended file."""
    text = CATALOGUE[rule]
    write(tmp_path, text.wrong)
    family = CATALOGUE[rule].family
    assert rule in broken(command, tmp_path, text.lint, family)
    write(tmp_path, text.right)
    after = broken(command, tmp_path, text.lint, family)
    assert rule not in after
    assert not [each for each in after if CATALOGUE[each].breach is Breach.ERROR]


@pytest.mark.parametrize("rule", [rule for rule, text in CATALOGUE.items() if text.said])
def test_what_is_said_in_words_is_so(command: Command, tmp_path: Path, rule: str) -> None:
    """Files of bytes break these rules here; the rest can't be broken by a file, or only fail at a call."""
    if rule in NEVER_BROKEN:
        entry = CATALOGUE[rule]
        assert entry.breach is Breach.BY_CONSTRUCTION or entry.asked_at_the_call or (entry.degrades and not entry.check)
        return
    content = IN_WORDS[rule]
    path = tmp_path / "mine.yaml"
    if content is not None:
        path.write_bytes(content)
    reads = ("import", str(path)) if rule == "JSON-1" else ("lint", str(path), "--format", "json")
    result = command.run(*reads)
    assert rule in (result.stdout + result.stderr)
