"""``htppower explain``: a field's value, its place, its native form and its effect."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import click

from htppower.errors import Finding, ProfileError, printable, shortened
from htppower.profiles.discovery import IS_A_FOLDER, Folders, shown_path
from htppower.profiles.fields import UNSET
from htppower.profiles.names import LISTED_FIRST
from htppower.rules.rule import MINE
from htppower.tools.cli import completion
from htppower.tools.cli.help import Command
from htppower.tools.cli.options import folders_option, format_option
from htppower.tools.cli.terminal import echo
from htppower.tools.report.layout import LABEL, flowed, labelled, shown_width, terminal_width, wrapped
from htppower.tools.report.styled import styled
from htppower.tools.report.words import duration
from htppower.tools.review.explain.explained import NoSuchField, choose, explained_by_name, with_rules_of_options
from htppower.tools.review.explain.subjects import alike, subjects_of
from htppower.tools.review.file_selection import find_either
from htppower.tools.review.lint.catalogue import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import Place
    from htppower.tools.review.explain.explained import Explained
    from htppower.tools.review.explain.subject import Subject
    from htppower.votes.native import NativeConfig

FORMAT_VERSION = 1
# The origin of a value that no file states.
DEFAULT = "default"
# Used for a field that is named without a profile, since every profile has the same fields.
ANY_PROFILE = "burst"
# The kinds whose names may have several meanings.
_SEVERAL = ("corner", "key")
# The native fields of the option whose votes can't be cancelled.
LATENCY = ("rpcControlLatencyConfig",)


class ExplainCommand(Command):
    """A command that takes a negative number, as some logs print codes, for a name instead of an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments."""
        ctx.ignore_unknown_options = any(re.fullmatch("-[0-9]+", each) for each in args)
        return super().parse_args(ctx, args)


@click.command(name="explain", cls=ExplainCommand, example="htppower explain burst after_inference_us")
@click.argument("name", metavar="[NAME|PATH|RULE|CODE|CORNER|KEY]", required=False, shell_complete=completion.subjects)
@click.argument("field", required=False, shell_complete=completion.fields)
@format_option(("text", "json"))
@folders_option("Also look for profiles and power states in this folder.")
def command(name: str | None, field: str | None, form: str, folders: tuple[str, ...]) -> None:
    """Explain a profile, a power state, a rule, a native code, a corner, a SoC, or another name from a message.

    Without a name it lists all rules, codes, corners, states, phases and SoCs.

    For a profile or power state, it shows each field in short, or FIELD in full: its value, its place, its native form,
    its rules. FIELD is a name such as core, dcvs_v3.core.min or relax.to. A field of a power state is named
    lowered.core for the state that the profile relaxes to, after_deinit.core for the state at the end of DE-INIT,
    further.core for the state that it relaxes to later. A mapping such as dcvs_v3 stands for all its fields.

    For a rule such as RPC-6, a code such as 13004 and a corner such as TURBO it shows why, an example that breaks
    it, the mend, and the source. A code may be one of QNN or of FastRPC, by number (0x80000406, 80000406h,
    -2147482618) or by name. In lines of a log, pasted as one argument, every known code and message is explained.

    For a KEY of the vendor's extension files, such as rpc_polling_time, it shows its place, its values, and what
    happens if it is wrong; for shared_buffer, who allocates and who copies. It explains the keys of a learnt
    sustain time, such as adaptive or break_even_us, then and its keys, and raise_ahead_us in the same way, if no
    profile has that name. For a SoC such as SM8650, or an architecture such as V75, it shows its votes; for a state
    such as RAISED, or a phase such as INIT, its meaning.

    Name a profile by its path if it has the same name as one of these.
    """
    width = terminal_width()
    where = Folders.of(folders)
    if name is None:
        from htppower.tools.review.explain.listing import as_document, as_lines  # noqa: PLC0415 - only for the list

        echo(_as_json(as_document()) if form == "json" else "\n".join(as_lines(width)))
        return
    subjects = subjects_of(name) or _others(name, where, folders)
    if subjects:
        if field is not None:
            raise click.UsageError(f"{printable(name)} is a {subjects[0].kind}, and has no fields")
        if form == "json":
            told = [_subject_as_dict(each) for each in subjects]
            kind = subjects[0].kind
            listed = kind in _SEVERAL or (kind == "code" and not subjects_of(name))
            echo(_as_json({f"{kind}s": told} if listed else {kind: told[0]}))
        else:
            echo("\n\n".join("\n".join(_subject(each, width)) for each in subjects))
        return
    fields = _fields(name, where)
    whole = (each for each in fields if not each.part)
    chosen = with_rules_of_options(whole) if field is None else choose(fields, field)
    if form == "json":
        echo(_as_json({"name": name, "fields": [_as_dict(each) for each in chosen]}))
        return
    first = {each.meaning.does: each.field for each in reversed(chosen)}
    blocks = [
        _in_short(each, width, says=first[each.meaning.does] == each.field) if field is None else _in_full(each, width)
        for each in chosen
    ]
    echo("\n\n".join("\n".join(block) for block in blocks))


def _others(name: str, where: Folders, folders: tuple[str, ...]) -> tuple[Subject, ...]:
    """Return what a name means that no profile or power state has: a key, a state, a chip, a device, or a log."""
    try:
        find_either(name, where)
    except ProfileError:
        from htppower.tools.review.explain.chips import chip_subject, device_subject  # noqa: PLC0415 - only for such a name
        from htppower.tools.review.explain.codes import subjects_in  # noqa: PLC0415
        from htppower.tools.review.explain.extension_keys import key_subjects  # noqa: PLC0415
        from htppower.tools.review.explain.relax_words import word_subjects  # noqa: PLC0415
        from htppower.tools.review.explain.session_words import session_subject  # noqa: PLC0415

        found = word_subjects(name) or key_subjects(name)
        other = session_subject(name) or chip_subject(name) or device_subject(name, folders)
        return found or tuple(filter(None, (other,))) or subjects_in(name)
    return ()


def _fields(name: str, folders: Folders) -> tuple[Explained, ...]:
    """Return the fields of a profile or power state.

    Raises:
        ProfileError: there is none. If the name is a field, or looks like something else that is explained, the hint
            shows it.
    """
    try:
        return explained_by_name(name, folders)
    except ProfileError as error:
        if error.rule != "NAME-1" or error.path != name:
            raise
        hint = error.hint
        said = f"{shortened(name)!r} is not a profile, a power state, a rule, a code, a corner, a SoC or a key"
        if _is_field(name):
            hint = f"a field needs a profile: htppower explain {ANY_PROFILE} {name}"
        elif os.path.isdir(name):
            said = f"{said}: it {IS_A_FOLDER}"
        elif "did you mean" not in hint:
            hint = alike(name) or f"the profiles are {', '.join(folders.names(LISTED_FIRST))}"
        raise ProfileError([Finding.of_file(name, "NAME-1", said, hint)]) from None


def _is_field(name: str) -> bool:
    """Return whether profiles have a field of that name."""
    try:
        return bool(choose(explained_by_name(ANY_PROFILE, Folders.of(())), name))
    except NoSuchField:
        return False


def _as_json(document: dict[str, Any]) -> str:
    import json  # noqa: PLC0415 - not needed for text

    return json.dumps({"format_version": FORMAT_VERSION, **document}, indent=2)


def _subject(subject: Subject, width: int) -> Iterator[str]:
    head = f"{subject.id}  {subject.says}"
    if len(head) <= width:
        yield f"{subject.id}  {styled(subject.says, 'bold')}"
    else:
        yield from wrapped(head, width, "  ")
    # The labels of a key's facts are longer than other labels.
    label_width = max([LABEL, *(shown_width(label) for label, _ in subject.facts)])
    for label, text in subject.facts:
        if label == "mend":
            yield from _files("breaks", subject.example, width)
            if subject.finds:
                yield from labelled("found by", subject.finds, width)
        yield from labelled(label, text, width, label_width)
        if label == "mend":
            yield from _files("", subject.mended, width)


def _files(label: str, files: Mapping[str, str], width: int) -> Iterator[str]:
    """Yield files, with their names if there are several, or if the name is not the usual one."""
    names = len(files) > 1 or MINE not in files
    lines = [line for name, text in files.items() for line in _file(name if names else "", text)]
    margin = " " * (LABEL + 2)
    for number, line in enumerate(lines):
        lead = "" if number else label
        # A long line is broken after a comma, where YAML may also be broken.
        told = flowed(
            line.lstrip(" ").replace(", ", ",\n").split("\n"),
            width - len(margin),
            _lead(line),
            f"{_lead(line)}    ",
            " ",
        )
        yield from (f"{lead if not place else '':<{len(margin)}}{part}" for place, part in enumerate(told))


def _lead(line: str) -> str:
    return " " * (len(line) - len(line.lstrip(" ")))


def _file(name: str, text: str) -> Iterator[str]:
    if name:
        yield f"# {name}" if text else f"# no {name}"
    yield from text.splitlines()


def _subject_as_dict(subject: Subject) -> dict[str, Any]:
    return {
        "id": subject.id,
        "says": subject.says,
        **dict(subject.facts),
        "breaks": dict(subject.example),
        "mended": dict(subject.mended),
    }


def _in_short(explained: Explained, width: int, *, says: bool) -> Iterator[str]:
    """Yield a field in short. With ``says`` its effect is added, which the first of several similar fields has."""
    where = _place_text(explained.chain[0].place) if explained.chain else DEFAULT
    yield from _head(explained, width, f" ({where})")
    if explained.native is not None:
        # A native field and its number are on the same line, if there is room.
        *most, last = _native(explained, explained.native)
        parts = [line for each in (*(f"{each}," for each in most), last) for line in wrapped(each, width - 4)]
        yield from flowed(parts, width, "  ", "    ", " ")
    if says:
        yield from (f"  {line}" for line in wrapped(explained.meaning.does, width - 2, "  "))


def _in_full(explained: Explained, width: int) -> Iterator[str]:
    yield from _head(explained, width)
    for label, text in _parts(explained):
        yield from labelled(label, text, width)


def _head(explained: Explained, width: int, where: str = "") -> Iterator[str]:
    """Yield a field and its value, in bold if both fit in a line."""
    value = printable(explained.value) + _in_words(explained)
    first = f"{explained.field}  {value}{where and f'  {where}'}"
    if len(first) <= width:
        yield f"{explained.field}  {styled(value, 'bold')}{where and f'  {where}'}"
    else:
        yield from wrapped(first, width, "  ")


def _in_words(explained: Explained) -> str:
    """Return a time with its unit, for a field in us."""
    spelt = explained.value
    return f" ({duration(int(spelt))})" if explained.field.endswith("_us") and spelt.isdecimal() else ""


def _parts(explained: Explained) -> Iterator[tuple[str, str]]:
    """Yield the facts about a field, each with its label."""
    yield "does", explained.meaning.does
    label, covered = "written", False
    for statement in explained.chain:
        # Unless both are mappings, the field is replaced as a whole.
        how = "" if label else " (overridden)" if covered or statement.whole else " (overridden in part)"
        yield label, f"{_place_text(statement.place)}  {printable(statement.value)}{how}"
        label = ""
        covered = covered or statement.whole
    if not explained.chain:
        said = "left out, as if unset" if explained.value == UNSET else f"the {DEFAULT}"
        yield "written", f"nowhere: it is {said}"
    if explained.native is not None:
        for number, line in enumerate(_native(explained, explained.native)):
            yield "" if number else "native", line
    elif explained.meaning.native == LATENCY:
        yield "native", "none: unset sends no vote here, and nothing cancels an earlier vote (RPC-5)"
    elif explained.meaning.native:
        yield "native", "none: unset sends no vote here, and htppower cancels an earlier vote"
    else:
        yield "native", "none: it is not a vote"
    for rule in explained.meaning.rules:
        entry = CATALOGUE[rule]
        yield "rule", f"{rule}  {entry.says} ({entry.source}; {entry.pointer})"
    yield "vendor", explained.meaning.section


def _place_text(place: Place) -> str:
    return printable(f"{shown_path(place.path)}:{place.line}")


def _native(explained: Explained, config: NativeConfig) -> Iterator[str]:
    """Yield the native option, then its fields with their numbers and enumerators."""
    yield f"{config.option}, option {config.number}"
    for field, number in explained.native_fields.items():
        symbol = f" {config.symbols[field]}" if field in config.symbols else ""
        yield f"{field} {number}{symbol}"


def _as_dict(explained: Explained) -> dict[str, Any]:
    native = explained.native
    return {
        "field": explained.field,
        "value": explained.value,
        "does": explained.meaning.does,
        "chain": [{**each.place._asdict(), "value": each.value} for each in explained.chain],
        "native": None
        if native is None
        else {
            "option": native.option,
            "number": native.number,
            "fields": explained.native_fields,
            "symbols": {name: native.symbols[name] for name in explained.native_fields if name in native.symbols},
        },
        "rules": list(explained.meaning.rules),
        "vendor": explained.meaning.section,
    }
