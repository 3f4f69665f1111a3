"""The documents of a command: printed, and written to files, each whole or not at all.

Every file that a command writes goes through ``write_files``. Each is one of three sorts:

- a report, which replaces an earlier report of its form;
- a kept file, which people edit; it replaces only a file that is still as htppower wrote it;
- an edited file, which the command read and changes in part.

A command never writes through a link, or over another file that it has read.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import os
import re
import stat
from typing import TYPE_CHECKING

import attrs
import click

from htppower.errors import printable
from htppower.profiles.paths import folder_of
from htppower.profiles.regular_file import leads_out, opened_files, read_regular_file
from htppower.tools.cli.forms import MARKUP
from htppower.tools.cli.terminal import echo, echo_commands, echo_markup
from htppower.tools.report.layout import WIDTH, terminal_width
from htppower.tools.report.styled import plain, safe_markup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from htppower.control.files.new_file import NewFile

_HEAD_BYTES = 4096
# The beginning of a report in each form. Other JSON is a recording, an extension file, or a user's own file.
_XML = rb"\s*(?:<\?xml[^>]*>\s*)?"
_BEGINS = {
    "svg": _XML + rb"<svg\b",
    "html": rb"(?i)\s*<(?:!doctype html|html)\b",
    "junit": _XML + rb"<testsuites\b",
    "json": rb'\s*\{\s*"format_version"',
    "sarif": rb'\s*\{\s*"(?:\$schema|version)": ',
    "trace": rb'\s*\{\s*"displayTimeUnit": "ms", "otherData": \{"profile"',
    "schema": rb'\s*\{\s*(?:\}\s*$|"\$schema": )',
}
# JSON, markup, binary data, and YAML of htppower. Any other text may be a report.
_OTHER = rb"""(?s)
    \s*[\[{]\s*["\[{\]}] | \s*<[!?\w] | .*\0 |
    (?:[ \t]*(?:\#[^\n]*)?\n)* ["']?(?:profile|state|test|device|extends)["']?[ \t]*:
"""
# The streams that a shell has opened.
_DESCRIPTOR = re.compile(r"/dev/(?:(stdout|stderr)|fd/(\d{1,9}))")
_STREAMS = {"stdout": 1, "stderr": 2}
# The last line of a kept YAML file, with a digest of the lines above. After an edit the digest does not fit.
_MARK = "# As htppower wrote it: "
_DIGEST_DIGITS = 16


class Sort(enum.Enum):
    """The sort of a file, which decides whether it may replace an existing file."""

    REPORT = "report"
    KEPT = "kept"
    EDITED = "edited"


@attrs.frozen
class File:
    """A file to be written.

    Attributes:
        content: the content; a text ends with a line break.
        sort: decides which existing file it may replace.
        form: the form of a report; empty: any existing file may be replaced.
        folder: the folder that the user named, if the command chose the rest of the path. The folder is made if it is
            missing, and no link may lead out of it.
    """

    content: str | bytes
    sort: Sort = Sort.REPORT
    form: str = ""
    folder: str = ""


def print_document(document: str, form: str, *, nl: bool = True) -> None:
    """Print a document in one of the forms of a command."""
    if form in MARKUP:
        echo_markup(document, nl=nl)
    elif form == "github":
        echo_commands(document, nl=nl)
    else:
        echo(document, nl=nl)


def write_outputs(
    outputs: Iterable[tuple[str, str]],
    form: str,
    render: Callable[[str, int], str],
    also: Mapping[str, File] | None = None,
    *,
    force: bool = False,
) -> str:
    """Write the files of ``--output``, without styles, and return the text of ``--format``.

    Every text is made before any file is written.

    Args:
        outputs: forms and paths.
        form: the form to print.
        render: makes a form in a width: 80 columns for a file, the terminal's width for the printed text.
        also: more files. Either all files are written, or none.
        force: as for ``write_files``.

    Raises:
        click.UsageError, OSError: as for ``write_files``.
    """
    files: list[tuple[str, File]] = []
    for name, path in outputs:
        text = render(name, WIDTH)
        files.append((path, File(safe_markup(text) if name in MARKUP else plain(text), form=name)))
    text = render(form, terminal_width())
    _write_all([*files, *(also or {}).items()], force=force)
    return text


def write_files(files: Mapping[str, str | bytes | File], *, force: bool = False) -> None:
    """Write files, each whole or not at all, and none if one can't be made.

    A pipe or device that the user named is written first, in place. Every other file is made next to its place, and
    then all are renamed.

    Args:
        files: the files, by path; a text or bytes alone are a report.
        force: replace a kept file even if it was edited.

    Raises:
        click.UsageError: a file may not be written; no file was.
        OSError: a file can't be written. Files that are not renamed yet are unchanged.
    """
    _write_all([(path, each if isinstance(each, File) else File(each)) for path, each in files.items()], force=force)


def refuse_to_replace(path: str, file: File) -> None:
    """Refuse a file before a long run that makes its content.

    Raises:
        click.UsageError: ``write_files`` would refuse it without ``force``.
    """
    _checked([(path, file)], force=False)


def as_written(content: str | bytes) -> bytes:
    """Return the bytes that ``write_files`` writes for a content."""
    if isinstance(content, bytes):
        return content
    text = content if content.endswith("\n") or not content else f"{content}\n"
    return text.encode("utf-8", "backslashreplace")


def _write_all(files: list[tuple[str, File]], *, force: bool) -> None:
    places = _checked(files, force=force)
    made: dict[str, NewFile] = {}
    try:
        for path, file in files:
            if path not in places:
                _write_in_place(path, as_written(file.content))
        for path, file in files:
            if path in places:
                made[path] = _made_beside(path, places[path], file)
        for path in list(made):
            made[path].put().close()
            del made[path]
    finally:
        for left in made.values():
            left.discard()


def _made_beside(path: str, place: str, file: File) -> NewFile:
    from htppower.control.files.new_file import NewFile  # noqa: PLC0415 - many commands write no files

    if file.folder:
        os.makedirs(folder_of(place), exist_ok=True)
    mode = None
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(place).st_mode & 0o777
    data = as_written(file.content)
    return NewFile(place, _marked(data) if _has_mark(path, file) else data, mode=mode)


def _write_in_place(path: str, data: bytes) -> None:
    stream = _DESCRIPTOR.fullmatch(path)
    try:
        # The stream is duplicated, so that later prints come after this text. Opening neither truncates nor creates a
        # file.
        number = None if stream is None else _STREAMS.get(stream[1]) or int(stream[2])
        opened = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0)) if number is None else os.dup(number)
        with open(opened, "wb", 0) as file:
            left = memoryview(data)
            while left:
                left = left[file.write(left) :]
    except OSError as error:
        # The error of a write, unlike the error of opening, has no file name.
        raise OSError(error.errno, error.strerror, path) from None


def _checked(files: Iterable[tuple[str, File]], *, force: bool) -> dict[str, str]:
    """Return the places of the files, with links resolved. Files that are written in place are left out.

    Raises:
        click.UsageError: a file may not be written.
        OSError: one is a folder, or can't be read.
    """
    places: dict[str, str] = {}
    taken: set[object] = set()
    differ = []
    for path, file in files:
        found = _look(path)
        if _is_written_in_place(path, found):
            if file.folder:
                raise click.UsageError(f"{path} is not a regular file: nothing was written; remove it")
            continue
        place = places[path] = _place(path, file)
        ids = {place} if found is None else {place, (found.st_dev, found.st_ino)}
        if taken & ids:
            raise click.UsageError(f"{path} would be written twice: --output, or another option, also names it")
        taken |= ids
        if found is not None and not _may_replace(path, place, file, found) and not force:
            differ.append(printable(path))
    if differ:
        which = "exists and differs" if len(differ) == 1 else "exist and differ"
        raise click.UsageError(
            f"{', '.join(differ)} {which}: nothing was written; --force overwrites, or name another place"
        )
    return places


def _is_written_in_place(path: str, found: os.stat_result | None) -> bool:
    """Return whether a path is an open stream, or leads to something other than a regular file or a folder."""
    if found is None:
        return False
    return _DESCRIPTOR.fullmatch(path) is not None or not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode))


def _look(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _place(path: str, file: File) -> str:
    if os.path.islink(path):
        raise click.UsageError(f"{path} is a link: nothing was written; remove it, or name the file that it leads to")
    inside = not file.folder or os.path.realpath(folder_of(path)) == os.path.realpath(file.folder)
    if not inside and leads_out(folder_of(path), file.folder):
        raise click.UsageError(f"{path} leads out of {file.folder} by a link: nothing was written; remove the link")
    return os.path.join(os.path.realpath(folder_of(path)), os.path.basename(path))


def _may_replace(path: str, place: str, file: File, found: os.stat_result) -> bool:
    """Return whether a file may replace the existing file without ``force``.

    Raises:
        click.UsageError: it may not, not even with ``force``.
        OSError: the existing file is a folder, or can't be read.
    """
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder", path)
    if (found.st_dev, found.st_ino) in opened_files():
        if file.sort is Sort.EDITED:
            return True
        raise click.UsageError(f"{path} is read by this command: nothing was written; name another file")
    data = read_regular_file(place, noted=False)
    if file.sort is not Sort.REPORT:
        data = data.replace(b"\r\n", b"\n")
        return data in (as_written(file.content), b"") or (_has_mark(path, file) and _marked(_unmarked(data)) == data)
    if file.form and _is_other(data[:_HEAD_BYTES], file.form):
        said = f"{path} exists, and is not an earlier report in the form {file.form}"
        raise click.UsageError(f"{said}: nothing was written; name another file, or remove it")
    return True


def _is_other(head: bytes, form: str) -> bool:
    """Return whether the first bytes of a file show that it is not a report in this form."""
    begin = _BEGINS.get(form)
    return re.match(_OTHER, head, re.VERBOSE) is not None and (begin is None or re.match(begin, head) is None)


def _has_mark(path: str, file: File) -> bool:
    """Return whether a file ends in a mark. Only YAML can: the other formats have no comments."""
    return file.sort is not Sort.REPORT and path.endswith((".yaml", ".yml")) and isinstance(file.content, str)


def _marked(data: bytes) -> bytes:
    import hashlib  # noqa: PLC0415 - slow to import, and few commands write such a file

    return data + f"{_MARK}{hashlib.sha256(data).hexdigest()[:_DIGEST_DIGITS]}\n".encode("ascii")


def _unmarked(data: bytes) -> bytes:
    head, mark, _ = data.rpartition(_MARK.encode("ascii"))
    return head if mark else data
