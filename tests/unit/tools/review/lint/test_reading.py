"""Lint parses each file once, under any spelling of its path."""

from __future__ import annotations

import collections
import datetime
import os
from typing import Any

import pytest
from support.shipped import shipped_folder

from htppower.profiles.strict_yaml import read_document
from htppower.tools.review.lint.run import lint


@pytest.mark.parametrize("spelt", ["absolute", "relative"])
@pytest.mark.parametrize("name", ["burst.yaml", "."])
def test_each_file_is_parsed_once(name: str, spelt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The profiles for comparison, and the power states that many profiles name, are shared."""
    parsed: collections.Counter[str] = collections.Counter()

    def counted(path: str, *arguments: Any) -> Any:
        parsed[os.path.realpath(path)] += 1
        return read_document(path, *arguments)

    monkeypatch.setattr("htppower.profiles.extends.read_document", counted)
    monkeypatch.chdir(shipped_folder())
    report = lint([name if spelt == "relative" else shipped_folder() / name], datetime.date(2026, 1, 1))
    assert report.findings == ()
    assert os.path.realpath(shipped_folder() / "burst.yaml") in parsed
    assert set(parsed.values()) == {1}
