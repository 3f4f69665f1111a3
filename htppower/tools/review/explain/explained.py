"""The fields of a profile, explained: value, place, chain of overrides, native form, meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from htppower.errors import HtpPowerError, Place, ProfileError, RuleBreach
from htppower.profiles.did_you_mean import nearest
from htppower.profiles.fields import LEFT_OUT, limits, profile_fields, spell, vote_fields
from htppower.profiles.loading import examine_power_state, examine_profile
from htppower.profiles.sustain import Adaptive
from htppower.tools.review.explain.meanings import Meaning, meaning_of
from htppower.tools.review.file_kinds import Kind
from htppower.tools.review.file_selection import find_either
from htppower.tools.review.lint.catalogue import rules_on
from htppower.votes.options import BY_FIELD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.errors import KeyPath
    from htppower.profiles.discovery import Folders
    from htppower.profiles.extends import ResolvedFile
    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import PowerState, Profile
    from htppower.profiles.strict_yaml import Document
    from htppower.votes.native import NativeConfig
    from htppower.votes.vote_set import VoteSet

# The prefixes of the fields of the power states that a profile relaxes to: between the phases, after DE-INIT, and
# at the second lowering (``relax.then``).
LOWERED = "lowered"
AFTER_DEINIT = "after_deinit"
FURTHER = "further"
_SIDES: dict[KeyPath, str] = {
    ("relax", "to"): LOWERED,
    ("relax", "after_deinit_to"): AFTER_DEINIT,
    ("relax", "then", "to"): FURTHER,
}


class NoSuchField(HtpPowerError, ValueError):  # noqa: N818 - the name states the fault
    """A profile has no field of that name."""


class Statement(NamedTuple):
    """A value in one file of a chain of files that extend each other.

    Attributes:
        place: its place.
        value: the value as it is written there.
        whole: whether it sets all of the field; False for a mapping, which may set a part of an inherited one.
    """

    place: Place
    value: str
    whole: bool


class Explained(NamedTuple):
    """One field.

    Attributes:
        field: its name, such as ``votes.dcvs_v3.core``. The field of a power state is named ``lowered.dcvs_v3.core``,
            ``after_deinit.dcvs_v3.core`` or ``further.dcvs_v3.core``.
        value: its value as a file writes it.
        meaning: what it does.
        chain: every statement of it, from the file itself to the last file that it extends; the first is in force.
        native: the option that it is part of; None if it is not a vote, or is unset.
        native_fields: the numbers that are sent for it, by the names in the C struct.
        part: whether it is shown only if it is named: a corner of a range, the perf mode of a vote on one clock, a
            number of a learnt time, or an option that is left out.
    """

    field: str
    value: str
    meaning: Meaning
    chain: tuple[Statement, ...]
    native: NativeConfig | None
    native_fields: dict[str, int]
    part: bool = False


def explain_profile(profile: Examined[Profile]) -> tuple[Explained, ...]:
    """Return every field of a profile, and of the power states that it relaxes to, each state once."""
    value, file = profile.value, profile.file
    found = [*_texts("profile", value, file), *_fields(profile_fields(value), "votes", value.votes, file)]
    told = {tuple(each.field.split(".")[:2]) for each in found}
    for at, said in LEFT_OUT.items() if value.relax is not None else ():
        if at not in told:
            found.append(_explained(".".join(at), at, said, (), file)._replace(part=True))
    for at, state in profile.states.items():
        votes = state.value.votes
        found += _fields(vote_fields(votes), _SIDES[at], votes, state.file)
    return tuple(found)


def explain_state(state: Examined[PowerState]) -> tuple[Explained, ...]:
    """Return every field of a power state."""
    value, file = state.value, state.file
    return (*_texts("state", value, file), *_fields(vote_fields(value.votes), "votes", value.votes, file))


def explained_by_name(name: str, folders: Folders) -> tuple[Explained, ...]:
    """Return the fields of a profile, or of a power state if no profile has the name.

    Raises:
        ProfileError: neither exists, or the file is wrong.
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
        # A broken rule is an error like any other here, since nothing can be explained.
        raise ProfileError(breach.problems) from None


def choose(fields: tuple[Explained, ...], name: str) -> tuple[Explained, ...]:
    """Return the fields whose whole name or end of name this is, or the fields in the mapping of that name.

    The profile's own fields win over the fields of its power states, whose names begin with ``lowered``,
    ``after_deinit`` or ``further``.

    Raises:
        NoSuchField: there is none. The message has the nearest names.
    """
    first, _, rest = name.partition(".")
    of_state = first in _SIDES.values()
    wanted = rest.split(".") if of_state and rest else name.split(".")
    for side in (first,) if of_state else ("", *_SIDES.values()):
        candidates = [field for field in fields if _side(field) == side]
        ending = tuple(field for field in candidates if field.field.split(".")[-len(wanted) :] == wanted)
        if ending:
            return ending
        named = [field for field in candidates if _is_in(field.field.split("."), wanted)]
        within = [field for field in named if not field.part] or named
        if within:
            return with_rules_of_options(within)
    from htppower.tools.review.explain.relax_words import is_word  # noqa: PLC0415 - only for an unknown field

    known = [field.field for field in fields if not field.part]
    near = nearest(name, _names(fields, known))
    raised = (field.field for field in fields if not field.part and not _side(field))
    alike = [near] if near else [each for each in raised if name and name in each]
    hint = f"did you mean {' or '.join(alike)}?" if alike else "leave it out to see all fields"
    if is_word(name):
        hint = f"it states none; htppower explain {name} describes it"
    raise NoSuchField(f"no field {name!r}: {hint}")


def _names(fields: Iterable[Explained], known: Iterable[str]) -> dict[str, None]:
    """Return the names that can choose a field: any end of a field's name, or of its mapping's name.

    Fields that most profiles leave out have names, too.
    """
    left_out = {".".join(at) for at in LEFT_OUT}
    wholes = [*known, *(field.field for field in fields if field.part and field.field in left_out)]
    wholes += dict.fromkeys(each.rpartition(".")[0] for each in wholes if "." in each)
    parts = [each.split(".") for each in wholes]
    return dict.fromkeys(".".join(each[-count:]) for count in (1, 2, 3, 4) for each in parts)


def with_rules_of_options(fields: Iterable[Explained]) -> tuple[Explained, ...]:
    """Return the fields. To the first of each option, add the rules on the option as a whole."""
    seen, found = set(), []
    for field in fields:
        side, option, *rest = (*field.field.split("."), "")
        whole = ("votes", option)
        if option in BY_FIELD and len(rest) > 1 and (side, option) not in seen:
            rules = rules_on(whole, (*whole, rest[0]))
            field = field._replace(meaning=field.meaning._replace(rules=rules))  # noqa: PLW2901
        seen.add((side, option))
        found.append(field)
    return tuple(found)


def _side(field: Explained) -> str:
    """Return the power state that a field belongs to; empty for a field of the profile."""
    first = field.field.partition(".")[0]
    return first if first in _SIDES.values() else ""


def _is_in(field: list[str], wanted: list[str]) -> bool:
    return any(field[start : start + len(wanted)] == wanted for start in range(len(field)))


def _texts(kind: str, value: Profile | PowerState, file: ResolvedFile) -> Iterator[Explained]:
    for key, text in ((kind, value.name), ("summary", value.summary)):
        yield _explained(key, (key,), text, (), file)


def _fields(
    fields: Iterable[tuple[KeyPath, Any]], prefix: str, votes: VoteSet, file: ResolvedFile
) -> Iterator[Explained]:
    """Yield each field, and after a value its parts; then the options that are left out."""
    native = votes.native(0)  # with any power config id, since no field here shows it
    for at, value in fields:
        name = ".".join((prefix, *at[1:]) if at[0] == "votes" else at)
        whole = _explained(name, at, value, native, file)
        if isinstance(value, Adaptive):
            rules = rules_on(at, *(part for part, _ in limits(at, value)))
            whole = whole._replace(meaning=whole.meaning._replace(rules=rules))
        yield whole
        for part, limit in limits(at, value):
            if part != at:
                yield _explained(".".join((name, *part[len(at) :])), part, limit, native, file)._replace(part=True)
    for name, about in BY_FIELD.items():
        if about.optional and getattr(votes, name) is None:
            yield _explained(f"{prefix}.{name}", ("votes", name), None, native, file)._replace(part=True)


def _explained(name: str, at: KeyPath, value: Any, configs: tuple[NativeConfig, ...], file: ResolvedFile) -> Explained:
    meaning = meaning_of(at)
    # If a nearer file has replaced a mapping as a whole, the replaced part may state a field that is left out now.
    stating = file.documents if _statement(file, at) is not None else ()
    chain = tuple(filter(None, (_statement(document, at) for document in stating)))
    voted = value is not None and meaning.native
    native = next((config for config in configs if meaning.native[0] in config.fields), None) if voted else None
    numbers = {} if native is None else {field: native.fields[field] for field in meaning.native}
    return Explained(name, spell(value), meaning, chain, native, numbers)


def _statement(document: Document, at: KeyPath) -> Statement | None:
    """Return what a file states about a field, or about a mapping that it is part of; None if it states nothing.

    A word, such as unset or a corner, sets every part. A number replaces the parts and states nothing about one.
    """
    value: Any = document.tree
    for depth, key in enumerate(at):
        if not isinstance(value, dict):
            return _at(document, at[:depth], value) if depth and isinstance(value, str) else None
        if key not in value:
            return None
        value = value[key]
    return _at(document, at, value)


def _at(document: Document, at: KeyPath, value: Any) -> Statement:
    return Statement(document.place(at), _spelt(value), not isinstance(value, dict))


def _spelt(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_spelt(part)}' for key, part in value.items())}}}"
    return spell(value)
