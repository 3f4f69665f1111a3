"""The forms of a command's reports, and the suffixes of their files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from htppower.profiles.paths import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


# The forms that are markup. All others are text, including JSON.
MARKUP = frozenset({"html", "svg", "junit"})
# The forms of a file with this suffix. A command uses the first that it supports. No report has a suffix without forms.
_FORMS_OF = {
    ".svg": ("svg",),
    ".html": ("html",),
    ".htm": ("html",),
    ".json": ("json", "sarif", "trace"),
    ".sarif": ("sarif",),
    ".xml": ("junit",),
    ".md": ("markdown",),
    ".txt": ("text", "github"),
    ".log": ("text", "github"),
    ".yaml": (),
    ".yml": (),
    ".csv": (),
    ".jsonl": (),
    ".gz": (),
}


def form_of(path: str, forms: Iterable[str]) -> str:
    """Return the form for the suffix of a path; empty if the suffix is for none of these forms."""
    known = _FORMS_OF.get(_suffix(path), ())
    return next((form for form in known if form in forms), "")


def misfit(path: str, forms: Sequence[str]) -> str:
    """Return why a file of this name can't have any of the forms; empty if it can."""
    suffix = _suffix(path)
    if suffix not in _FORMS_OF or form_of(path, forms):
        return ""
    if not _FORMS_OF[suffix]:
        return f"{path} ends in {suffix}, which no report has"
    has = f"the form is {forms[0]}" if len(forms) == 1 else f"the forms are {', '.join(forms)}"
    return f"{path} ends in {suffix}, but {has}"


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


class PageFile(click.Path):
    """A file for an HTML page."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Return the path."""
        wrong = misfit(os.fspath(value), ("html",))
        if wrong:
            self.fail(wrong, param, ctx)
        return super().convert(value, param, ctx)


class FormAndFile(click.ParamType):  # type: ignore[type-arg] # generic in newer versions only
    """``FORM=FILE``, or only ``FILE``, whose suffix decides the form.

    Args:
        forms: the forms of the command.
        bare: accept only FILE with any suffix. Its form is then empty, and the command chooses it.
        any_suffix: as ``bare``, and don't check the suffix, since a bare FILE is not a report.
    """

    def __init__(self, forms: Iterable[str], *, bare: bool = False, any_suffix: bool = False) -> None:
        self.name = "[FORM=]FILE"
        self._forms = tuple(forms)
        self._bare = bare
        self._any_suffix = any_suffix

    def convert(
        self, value: str | tuple[str, str], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return the form and the file."""
        if isinstance(value, tuple):
            return value
        form, equals, file = value.partition("=")
        if "-" in (value, file):
            self.fail(f"{value!r}: '-' is not a file; --format prints to the standard output", param, ctx)
        alone = bool(value) and (not equals or (form not in self._forms and "/" in form))
        if alone and self._any_suffix:
            return "", joined(value)
        if alone and (self._bare or _suffix(value) in _FORMS_OF):
            wrong = misfit(value, self._forms)
            if wrong:
                self.fail(wrong, param, ctx)
            return "" if self._bare else form_of(value, self._forms), joined(value)
        if form not in self._forms or not equals or not file:
            known = f"FORM=FILE with a form of {', '.join(self._forms)}"
            self.fail(f"{value!r} is not {known}, nor a FILE whose suffix decides its form", param, ctx)
        wrong = misfit(file, (form,))
        if wrong:
            self.fail(wrong, param, ctx)
        return form, joined(file)

    def shell_complete(self, _ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the forms, or after a form, files."""
        found = [CompletionItem(f"{form}=") for form in self._forms if f"{form}=".startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]
