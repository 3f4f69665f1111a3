"""The forms of the reports: each form that a report lists can be made, and no other."""

from __future__ import annotations

import datetime
import importlib
from typing import TYPE_CHECKING

import click
import numpy as np
import pytest
from support.dry_runs import dry_run
from support.measurements import Recipe, made, ort_csv, read

from htppower.tools.review.advice import forms as advice_forms
from htppower.tools.review.advice.run import advise
from htppower.tools.review.diff import forms as diff_forms
from htppower.tools.review.diff.compare import Comparison
from htppower.tools.review.dry_run import forms as dry_run_forms
from htppower.tools.review.lint import forms as lint_forms
from htppower.tools.review.lint.run import lint
from htppower.tools.review.tuning import forms as tuning_forms
from htppower.tools.review.tuning import trace_forms
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.traces.describe import describe
from htppower.tools.tuning.traces.trace import SessionTrace, Trace
from htppower.tools.tuning.tune import Question, tune

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# The forms of the report of each command.
COMMANDS = {
    "advise": advice_forms.FORMS,
    "diff": diff_forms.FORMS,
    "lint": lint_forms.FORMS,
    "profile.command": dry_run_forms.FORMS,
    "trace": trace_forms.FORMS,
    "tune": tuning_forms.FORMS,
}


@pytest.fixture(params=COMMANDS)
def report(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Callable[[str], str], tuple[str, ...]]:
    """Return a function that makes a form of a report, and the forms that the report lists."""
    begins = np.arange(40) * 50_000
    trace = Trace("t", "csv", (SessionTrace("camera", "burst", begins, begins + 5_000, None),), ())
    if request.param == "advise":
        advice = advise(read(tmp_path, ort_csv(made([Recipe()] * 9))))
        return lambda form: advice_forms.render(advice, form), advice_forms.FORMS
    if request.param == "diff":
        comparison = Comparison("main", "now", {}, {}, (), (), (), ())
        return lambda form: diff_forms.render(comparison, form), diff_forms.FORMS
    if request.param == "lint":
        (tmp_path / "mine.yaml").write_text("profile: other\nextends: burst\n", encoding="utf-8")
        findings = lint([tmp_path], datetime.date(2026, 11, 21))
        return lambda form: lint_forms.render(findings, form), lint_forms.FORMS
    if request.param == "profile.command":
        run = dry_run()
        return lambda form: dry_run_forms.render(run, form), dry_run_forms.FORMS
    if request.param == "trace":
        return lambda form: trace_forms.render(trace, describe(trace), form), trace_forms.FORMS
    tuning = tune(trace, load_device_model(), Question(profiles=("burst",)))
    return lambda form: tuning_forms.render(tuning, form), tuning_forms.FORMS


def test_every_listed_form_is_made(report: tuple[Callable[[str], str], tuple[str, ...]]) -> None:
    """Each form in FORMS is a text of its own."""
    render, forms = report
    texts = [render(form) for form in forms]
    assert all(text.strip() for text in texts)
    assert len(set(texts)) == len(forms)


def test_an_unknown_form_is_an_error(report: tuple[Callable[[str], str], tuple[str, ...]]) -> None:
    """No other form is made instead."""
    render, _ = report
    with pytest.raises(KeyError, match="unknown"):
        render("unknown")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_offers_the_forms_of_its_report(name: str) -> None:
    """--format takes each form in FORMS, in the same order, and no other."""
    command: click.Command = importlib.import_module(f"htppower.tools.cli.{name}").command
    (choice,) = (each.type for each in command.params if each.name == "form")
    assert isinstance(choice, click.Choice)
    assert tuple(choice.choices) == COMMANDS[name]
