"""Lint of one device model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import attrs

from htppower.errors import Finding, Place
from htppower.profiles.paths import stem_of
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.tools.review.lint.lines import Lines, read_lines
from htppower.tools.tuning.models.file import examine_device_model, odd_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.tuning.models.file import ExaminedModel


class LintedModel(NamedTuple):
    """The result of lint for one device model.

    Attributes:
        findings: its faults.
        lines: its lines.
    """

    findings: tuple[Finding, ...]
    lines: Lines


def lint_device_model(path: str, given: bytes | None = None) -> LintedModel:
    """Lint a file, or the content ``given`` instead of it."""
    examined = examine_device_model(path, given)
    findings = [*examined.problems, *(examined.document.located(finding) for finding in _odd(examined))]
    return LintedModel(tuple(_told(finding, path) for finding in findings), read_lines(path, given))


def _odd(examined: ExaminedModel) -> Iterator[Finding]:
    model, path = examined.model, examined.document.path
    if model is None:
        return
    for name, message in odd_order(model):
        yield Finding("MODEL-1", (name, "value"), message, "measure it again, or give the reason in a suppression")
    if path != "-" and model.device != stem_of(path):
        hint = f"name the file {model.device}.yaml, or the model {stem_of(path)}"
        yield Finding("REV-6", ("device",), f"the file {os.path.basename(path)} holds the model {model.device}", hint)


def _told(finding: Finding, path: str) -> Finding:
    place = Place(path, finding.line or 1, finding.column or 1)
    return attrs.evolve(finding, place=place, severity=CATALOGUE[finding.rule].severity)
