"""Completions of arguments and options: profiles, fields, rules, SoCs. A wrong file silently gives no completions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click
    from click.shell_completion import CompletionItem

# Click's type for a value that the shell completes as a file.
_FILE = "file"


def profiles(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return matching profiles from ``--profiles`` and the shipped folder; files if none matches.

    The records of runtimes' votes are offered only if no other profile matches.
    """
    return _or_files(_with_records(ctx, _profile_names(ctx), incomplete), incomplete)


def profiles_and_states(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return matching profiles and power states in the same way."""
    return _or_files(_with_records(ctx, (*_profile_names(ctx), *_state_names(ctx)), incomplete), incomplete)


def subjects(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return what can be explained: profiles, power states and rules; all else only if some text is typed."""
    from htppower.tools.review.explain.subjects import other_names, rule_ids  # noqa: PLC0415 - only to complete

    names = (*_profile_names(ctx), *_state_names(ctx), *(other_names() if incomplete else rule_ids()))
    return _or_files(names, incomplete)


def fields(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the fields of the profile or power state before it on the command line, in short and in full.

    Fields that most profiles leave out, and those in a learnt time, are offered by their words, such as ``then``.
    """
    from htppower.errors import HtpPowerError  # noqa: PLC0415 - as above
    from htppower.profiles.discovery import Folders  # noqa: PLC0415
    from htppower.tools.review.explain.explained import explained_by_name  # noqa: PLC0415
    from htppower.tools.review.explain.relax_words import is_word  # noqa: PLC0415

    try:
        found = explained_by_name(ctx.params.get("name") or "", Folders.of(_folders(ctx)))
    except HtpPowerError:
        return []
    whole = [each.field for each in found if not each.part]
    ends = [field.rpartition(".")[2] for field in whole]
    words = [key for each in found for key in each.field.split(".") if is_word(key)]
    return _beginning(dict.fromkeys((*ends, *words, *whole)), incomplete)


def devices(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return matching device models from ``--profiles`` and the shipped folder; files if none matches."""
    from htppower.profiles.discovery import DEVICES  # noqa: PLC0415 - only to complete

    return _or_files(_names_in(ctx, DEVICES), incomplete)


def files(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete files."""
    return _or_files((), incomplete)


def socs(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the SoCs, by part number."""
    from htppower.rules.socs import SOCS  # noqa: PLC0415 - as above

    return _beginning((name for soc in SOCS for name in soc.names), incomplete.upper())


def architectures(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the Hexagon architectures."""
    from htppower.rules.platforms import ARCHITECTURES  # noqa: PLC0415 - as above

    return _beginning((f"V{arch}" for arch in ARCHITECTURES), incomplete.upper())


def _profile_names(ctx: click.Context) -> tuple[str, ...]:
    from htppower.errors import HtpPowerError  # noqa: PLC0415 - as above
    from htppower.profiles.discovery import Folders  # noqa: PLC0415
    from htppower.profiles.names import LISTED_FIRST  # noqa: PLC0415

    try:
        return Folders.of(_folders(ctx)).names(LISTED_FIRST)
    except HtpPowerError:
        return Folders.of(()).names(LISTED_FIRST)


def _with_records(ctx: click.Context, names: tuple[str, ...], incomplete: str) -> tuple[str, ...]:
    from htppower.errors import HtpPowerError  # noqa: PLC0415 - as above
    from htppower.profiles.discovery import Folders  # noqa: PLC0415
    from htppower.profiles.names import SHIPPED_PROFILES  # noqa: PLC0415

    if not incomplete or any(name.startswith(incomplete) for name in names):
        return names
    try:
        return Folders.of(_folders(ctx)).record_names(SHIPPED_PROFILES)
    except HtpPowerError:
        return Folders.of(()).record_names(SHIPPED_PROFILES)


def _state_names(ctx: click.Context) -> tuple[str, ...]:
    return _names_in(ctx, "states")


def _names_in(ctx: click.Context, folder: str) -> tuple[str, ...]:
    """Return the names of the files in a folder of each folder of profiles."""
    from htppower.errors import HtpPowerError  # noqa: PLC0415 - as above
    from htppower.profiles.discovery import Folders, yaml_files  # noqa: PLC0415
    from htppower.profiles.paths import joined, stem_of  # noqa: PLC0415

    try:
        paths = Folders.of(_folders(ctx)).paths
    except HtpPowerError:
        return ()
    return tuple(dict.fromkeys(stem_of(file) for path in paths for file in yaml_files(joined(path, folder))))


def _folders(ctx: click.Context) -> tuple[str, ...]:
    return tuple(ctx.params.get("folders") or ())


def _beginning(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - as above

    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _or_files(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the names that match; if none does, let the shell complete files."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - as above

    return _beginning(names, incomplete) or [CompletionItem(incomplete, type=_FILE)]
