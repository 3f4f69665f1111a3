"""``htppower import``: profiles from the vendor's files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from htppower.errors import Finding, ProfileError, printable
from htppower.profiles.regular_file import NotRegular, read_regular_file
from htppower.tools.cli import completion
from htppower.tools.cli.help import OUTPUT, REFUSED, WHAT, Command, option
from htppower.tools.cli.options import STANDARD_INPUT, force_option, standard_input
from htppower.tools.cli.outputs import File, Sort, write_files
from htppower.tools.cli.parameter_types import WholeNumber
from htppower.tools.cli.terminal import echo
from htppower.tools.extensions.extension_file import as_inner, parse_extension_file, read_extension_file
from htppower.tools.extensions.inner_files import inner_files
from htppower.tools.extensions.json_text import parse_json
from htppower.tools.extensions.key_checks import refuse_others, unknown_keys
from htppower.tools.extensions.to_profiles import to_profiles
from htppower.tools.report.layout import terminal_width, wrapped
from htppower.tools.review.settings_check import findings_of, outer_of_dialog, why_unread
from htppower.tools.runtimes.other_kinds import other_kind
from htppower.tools.runtimes.reading import named_extensions, said, sniff

if TYPE_CHECKING:
    from htppower.tools.extensions.extension_file import ExtensionFile, Wrong

_MOST_CORES = 2**32 - 1


@click.command(name="import", cls=Command, example="htppower import htp_config.json -o profiles")
@click.argument("file", metavar="FILE", shell_complete=completion.files)
@option("--strict", is_flag=True, group=WHAT, help="Refuse a file with keys that are ignored, or read as other keys.")
@option("--core", type=WholeNumber(0, _MOST_CORES), group=WHAT, help="Only the cores of this id.")
@option("--name", default="", group=WHAT, help="The name of the profile.  [default: as the file]")
@option(
    "-o",
    "--output",
    "folder",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    group=OUTPUT,
    help="Write the profiles into this folder, and their power states into its subfolder states.",
)
@force_option("With --output: overwrite existing files that differ from what htppower wrote.")
def command(file: str, core: int | None, name: str, folder: Path | None, *, strict: bool, force: bool) -> None:
    """Make profiles from the vendor's backend extension file, or from the settings of an inference runtime.

    FILE is the file of the HTP backend, as for Genie; or the outer file of --config_file, or a dialog of Genie, which
    name it; or - for the standard input. The cores of a device are one profile, and each graph with settings of its own
    is another. If there are several files, one for each SoC, each has a folder. Comments list what a profile can't
    express.

    Keys that are never read, and keys that the vendor's parser reads as others, are also reported on standard error.

    FILE may also be a genai_config.json, options of ONNX Runtime, LiteRT, TensorFlow Lite's delegate or AI Hub, or
    SNPE's perf config: each mode in it is a profile that votes as its runtime does.

    Exit code 0: made; 1: with --strict, a key is ignored or read as another; 2: it failed, or without --force would
    overwrite a file that differs from what htppower wrote.
    """
    if force and folder is None:
        raise click.UsageError("--force is for --output FOLDER; leave it out")
    data = standard_input() if file == STANDARD_INPUT else _content(file)
    path = "stdin" if file == STANDARD_INPUT else file
    text = data.decode("utf-8", "replace")
    reader = sniff(text, path)
    if reader is not None:
        if core is not None or name:
            raise click.UsageError(f"--core and --name are for extension files, but {printable(path)} has settings")
        texts = {each: content for found in reader(text, path) for each, content in found.texts().items()}
        unknown = _unread_settings(text, path)
    else:
        read, unknown = _extension_files(data, path)
        texts = _of_extensions(read, core, name)
        unknown += [_found(each, wrong) for each in read for _, wrong in unknown_keys(each)]
    _tell(unknown, strict=strict)
    if folder is None:
        echo(_printed(texts), nl=False)
        return
    files = {str(folder / each): File(text, Sort.KEPT, folder=str(folder)) for each, text in texts.items()}
    write_files(files, force=force)
    for target in files:
        echo(target)


def _content(file: str) -> bytes:
    """Return the content of a file; empty if it can't be read, which its reader then reports."""
    try:
        return read_regular_file(file)
    except (NotRegular, OSError, ValueError):
        return b""


def _unread_settings(text: str, path: str) -> list[Finding]:
    """Return the keys in the settings of a runtime that are never read."""
    return [found for found in findings_of(said(text, path), path) if found.rule == "SET-1"]


def _found(file: ExtensionFile, wrong: Wrong) -> Finding:
    return file.problem(wrong.rule, wrong.at, wrong.message, wrong.hint)


def _tell(unknown: list[Finding], *, strict: bool) -> None:
    """Report keys that are ignored, or read as others; with ``strict`` end the command there."""
    for found in unknown:
        for line in wrapped(f"htppower: {'error' if strict else 'warning'}: {found}", terminal_width(), "  "):
            echo(line, err=True)
    if unknown and strict:
        click.get_current_context().exit(REFUSED)


def _extension_files(data: bytes, path: str) -> tuple[tuple[ExtensionFile, ...], list[Finding]]:
    """Return an extension file, or the files that it or a dialog of Genie names, and the faults of the dialog."""
    text = data.decode("utf-8", "replace")
    found = said(text, path)
    is_other = text.lstrip()[:1] not in ("{", "[", "") and parse_json(data, path).root is None
    if is_other or (found.open_values and not found.form):
        if found.problems:
            raise ProfileError(found.problems)
        message = f"no setting that htppower can read{', and not JSON' * is_other}{why_unread(found)}"
        hint = "name a file with settings that vote"
        raise ProfileError([Finding.of_file(path, "JSON-1", message, hint)])
    named = named_extensions(text, path)
    if named is not None:
        # Genie does not read the inner file of an outer one.
        files = tuple(as_inner(read_extension_file(each)) for each in named)
        return files, [found for file, place in named.items() for found in outer_of_dialog(file, place)]
    file = parse_extension_file(data, path) if path == "stdin" else read_extension_file(path)
    kind = other_kind(file)
    refuse_others(file, "" if kind is None else kind.name)
    return inner_files(file), []


def _of_extensions(files: tuple[ExtensionFile, ...], core: int | None, name: str) -> dict[str, str]:
    several = len(files) > 1
    folders = _folders(files) if several else [""]
    texts: dict[str, str] = {}
    for each, below in zip(files, folders, strict=True):
        for imported in to_profiles(each, core=core, name=name):
            texts.update({f"{below}{path}": text for path, text in imported.texts().items()})
    return texts


def _folders(files: tuple[ExtensionFile, ...]) -> list[str]:
    """Return a folder for each file: its name, with a number if another has the same name."""
    folders: list[str] = []
    for number, file in enumerate(files):
        stem = Path(file.path).stem
        folders.append(f"{stem}_{number}/" if f"{stem}/" in folders else f"{stem}/")
    return folders


def _printed(texts: dict[str, str]) -> str:
    """Return the files below each other. If there are several, each has its path above it."""
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "\n".join(f"# --- {path}\n{text}" for path, text in texts.items())
