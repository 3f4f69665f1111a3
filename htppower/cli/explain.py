"""``htppower explain``: a field's value, where it is written, its native form and what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from htppower.cli.options import folders_option, format_option
from htppower.cli.terminal import echo
from htppower.errors import ProfileError, RuleBreach, printable
from htppower.profiles.discovery import Folders, shown_path
from htppower.profiles.fields import UNSET
from htppower.profiles.loading import examine_power_state, examine_profile
from htppower.review.durations import duration
from htppower.review.explain.explained import (
    Explained,
    choose,
    explain_profile,
    explain_state,
    with_rules_of_options,
)
from htppower.review.file_selection import Kind, find_either
from htppower.review.layout import labelled, terminal_width, wrapped
from htppower.review.lint.catalogue import CATALOGUE
from htppower.review.styled import styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import Place
    from htppower.rules.rule import Rule
    from htppower.votes.native import NativeConfig

FORMAT_VERSION = 1
# The origin of a value that no file states.
DEFAULT = "default"
# The native fields of the option that can't be taken back.
LATENCY = ("rpcControlLatencyConfig",)


@click.command(name="explain")
@click.argument("name", metavar="NAME|PATH|RULE")
@click.argument("field", required=False)
@format_option(("text", "json"))
@folders_option("Look for profiles here, too.")
def command(name: str, field: str | None, form: str, folders: tuple[str, ...]) -> None:
    """Explain a field of a profile or power state; without FIELD, each in short.

    The id of a rule, such as RPC-6, explains that. FIELD is a name such as core, dcvs_v3.core.min or relax.to;
    lowered.core is a field of the power state to which the profile relaxes. A mapping such as dcvs_v3 stands for all
    that is in it.
    """
    if name in CATALOGUE:
        if field is not None:
            raise click.UsageError(f"{name} is a rule, and has no fields")
        echo(_as_json({"rule": _rule_as_dict(CATALOGUE[name])}) if form == "json" else _rule(CATALOGUE[name]))
        return
    fields = _fields(name, Folders.of(folders))
    whole = (each for each in fields if not each.part)
    chosen = with_rules_of_options(whole) if field is None else choose(fields, field)
    if form == "json":
        echo(_as_json({"name": name, "fields": [_as_dict(each) for each in chosen]}))
        return
    width = terminal_width()
    blocks = [_in_short(each, width) if field is None else _in_full(each, width) for each in chosen]
    echo("\n\n".join("\n".join(block) for block in blocks))


def _fields(name: str, folders: Folders) -> tuple[Explained, ...]:
    """Return the fields of a profile, or of a power state where no profile has the name.

    Raises:
        ProfileError: there is neither, or it is wrong.
    """
    path, kind = find_either(name, folders)
    try:
        if kind is Kind.STATE:
            state = examine_power_state(path, folders)
            state.accepted()
            return explain_state(state)
        profile = examine_profile(path, folders)
        profile.accepted()
        return explain_profile(profile)
    except RuleBreach as breach:
        # A broken rule is an error like any other here: there is nothing to explain.
        raise ProfileError(breach.problems) from None


def _as_json(document: dict[str, Any]) -> str:
    import json  # noqa: PLC0415 - text needs none

    return json.dumps({"format_version": FORMAT_VERSION, **document}, indent=2)


def _rule(entry: Rule) -> str:
    lines = [f"{entry.id}  {styled(entry.says, 'bold')}"]
    for label, text in list(_rule_as_dict(entry).items())[2:]:
        lines += labelled(label, text)
    return "\n".join(lines)


def _rule_as_dict(entry: Rule) -> dict[str, str]:
    return {
        "id": entry.id,
        "says": entry.says,
        "weighs": entry.severity.value,
        "about": entry.family.value,
        "source": entry.source,
    }


def _in_short(explained: Explained, width: int) -> Iterator[str]:
    where = _place_text(explained.chain[0].place) if explained.chain else DEFAULT
    yield from _head(explained, width, f" ({where})")
    native = () if explained.native is None else _native(explained, explained.native)
    for text in (", ".join(native), explained.meaning.does):
        yield from (f"  {line}" for line in wrapped(text, width - 2, "  ") if line)


def _in_full(explained: Explained, width: int) -> Iterator[str]:
    yield from _head(explained, width)
    for label, text in _parts(explained):
        yield from labelled(label, text, width)


def _head(explained: Explained, width: int, where: str = "") -> Iterator[str]:
    """Yield a field and its value, in bold where both fit a line."""
    value = printable(explained.value) + _in_words(explained)
    first = f"{explained.field}  {value}{where and f'  {where}'}"
    if len(first) <= width:
        yield f"{explained.field}  {styled(value, 'bold')}{where and f'  {where}'}"
    else:
        yield from wrapped(first, width, "  ")


def _in_words(explained: Explained) -> str:
    """Return a time with its unit, for a field that is spelt in us."""
    spelt = explained.value
    return f" ({duration(int(spelt))})" if explained.field.endswith("_us") and spelt.isdecimal() else ""


def _parts(explained: Explained) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a field, each with its label."""
    yield "does", explained.meaning.does
    label, state = "written", ""
    for statement in explained.chain:
        yield label, f"{_place_text(statement.place)}  {printable(statement.value)}{state}"
        label = ""
        state = " (overridden)" if statement.whole or state == " (overridden)" else " (overridden in part)"
    if not explained.chain:
        said = "left out, as if unset" if explained.value == UNSET else f"the {DEFAULT}"
        yield "written", f"nowhere: it is {said}"
    if explained.native is not None:
        for number, line in enumerate(_native(explained, explained.native)):
            yield "" if number else "native", line
    elif explained.meaning.native == LATENCY:
        yield "native", "none: unset casts no vote here, and nothing takes an earlier one back (RPC-5)"
    elif explained.meaning.native:
        yield "native", "none: unset casts no vote here, and htppower takes an earlier one back"
    else:
        yield "native", "none: it is no vote"
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
