"""The documents of a command: printed, and written to files, each whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING

import click

from htppower.cli.terminal import echo, echo_commands, echo_markup
from htppower.profiles.paths import joined
from htppower.review.layout import WIDTH, terminal_width
from htppower.review.styled import plain, safe_markup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from click.shell_completion import CompletionItem


# The forms that are markup; every other is text, JSON included.
MARKUP = frozenset({"html", "svg", "junit"})


class FormAndFile(click.ParamType):  # type: ignore[type-arg] # generic in newer versions only
    """``FORM=FILE``; with ``bare`` also a file alone, whose form is empty."""

    def __init__(self, forms: Iterable[str], *, bare: bool = False) -> None:
        self.name = "[FORM=]FILE" if bare else "FORM=FILE"
        self._forms = tuple(forms)
        self._bare = bare

    def convert(
        self, value: str | tuple[str, str], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return the form and the file."""
        if isinstance(value, tuple):
            return value
        form, equals, file = value.partition("=")
        if "-" in (value, file):
            self.fail(f"{value!r}: '-' is no file; --format prints to the standard output", param, ctx)
        if self._bare and value and (not equals or (form not in self._forms and "/" in form)):
            return "", joined(value)
        if form not in self._forms or not equals or not file:
            self.fail(f"{value!r} is not {self.name} with a form of {', '.join(self._forms)}", param, ctx)
        return form, joined(file)

    def shell_complete(self, _ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the forms; behind one, files."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - only to complete

        found = [CompletionItem(f"{form}=") for form in self._forms if f"{form}=".startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]


def print_document(document: str, form: str, *, nl: bool = True) -> None:
    """Print a document in one of the forms of a command."""
    if form in MARKUP:
        echo_markup(document, nl=nl)
    elif form == "github":
        echo_commands(document, nl=nl)
    else:
        echo(document, nl=nl)


def write_outputs(outputs: Iterable[tuple[str, str]], form: str, render: Callable[[str, int], str]) -> str:
    """Write the files of ``--output``, without styles, and return the text of ``--format``.

    ``render`` makes a form in a width: of 80 columns for a file, of the terminal for what is printed.

    Every text is made before any file is written.

    Raises:
        click.UsageError: two outputs lead to one file.
        OSError: a file can't be written.
    """
    files: dict[str, str | bytes] = {}
    places: set[str] = set()
    for name, path in outputs:
        place = os.path.realpath(path)
        if place in places:
            raise click.UsageError(f"--output names {path} twice")
        places.add(place)
        text = render(name, WIDTH)
        files[path] = safe_markup(text) if name in MARKUP else plain(text)
    text = render(form, terminal_width())
    write_files(files)
    return text


def write_files(contents: Mapping[str, str | bytes]) -> None:
    """Write files, each whole or not at all, and none where one can't be made; a text ends with a line break.

    A pipe or device is written first, in place. Every other file is made beside its place, and then all are renamed.

    Raises:
        OSError: a file can't be written; those not yet renamed are as they were.
    """
    made: dict[str, str] = {}
    try:
        special = [path for path in contents if _is_special(path)]
        for path in special:
            _write(path, contents[path], path)
        for path, content in contents.items():
            if path not in special:
                target = os.path.realpath(path)
                made[target] = _made_beside(target, content)
        for target in list(made):
            os.replace(made[target], target)
            del made[target]
    finally:
        for temporary in made.values():
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _write(opened: str | int, content: str | bytes, path: str) -> None:
    try:
        with open(opened, "wb") as file:
            file.write(as_written(content))
    except OSError as error:
        # The error of a write, unlike that of opening, has no name.
        raise OSError(error.errno, error.strerror, path) from None


def _is_special(target: str) -> bool:
    """Return whether a path leads to something other than a regular file or a folder."""
    try:
        mode = os.stat(target).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def as_written(content: str | bytes) -> bytes:
    """Return what ``write_files`` writes for a content."""
    if isinstance(content, bytes):
        return content
    text = content if content.endswith("\n") or not content else f"{content}\n"
    return text.encode("utf-8", "backslashreplace")


def _made_beside(target: str, content: str | bytes) -> str:
    """Return a new file in the target's folder with the content, and with the target's rights."""
    import tempfile  # noqa: PLC0415 - slow to import, and rarely used

    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, "is a folder", target)
    try:
        descriptor, name = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".htppower-")
    except OSError as error:
        missing = isinstance(error, FileNotFoundError) and not os.path.isdir(os.path.dirname(target))
        said = "its folder is missing: make that first" if missing else error.strerror
        raise OSError(error.errno, said, target) from None
    try:
        _write(descriptor, content, target)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o666 & ~umask)
    except BaseException:
        os.unlink(name)
        raise
    return name
