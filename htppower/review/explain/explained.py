"""The fields of a profile, explained: value, place, chain of overrides, native form, meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from htppower.errors import HtpPowerError, Place
from htppower.profiles.did_you_mean import nearest
from htppower.profiles.fields import LEFT_OUT, limits, profile_fields, spell, vote_fields
from htppower.profiles.sustain import Adaptive
from htppower.review.explain.meanings import Meaning, meaning_of
from htppower.review.lint.catalogue import rules_on
from htppower.votes.options import BY_FIELD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.errors import KeyPath
    from htppower.profiles.extends import ResolvedFile
    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import PowerState, Profile
    from htppower.profiles.strict_yaml import Document
    from htppower.votes.native import NativeConfig
    from htppower.votes.vote_set import VoteSet

# What stands before the fields of the power states to which a profile relaxes: between the phases, after DE-INIT, and
# further.
LOWERED = "lowered"
AFTER_DEINIT = "after_deinit"
FURTHER = "further"
_SIDES: dict[KeyPath, str] = {
    ("relax", "to"): LOWERED,
    ("relax", "after_deinit_to"): AFTER_DEINIT,
    ("relax", "then", "to"): FURTHER,
}


class NoSuchField(HtpPowerError, ValueError):  # noqa: N818 - reads as what it is
    """A profile has no field of that name."""


class Statement(NamedTuple):
    """A value in one file of a chain.

    Attributes:
        place: where it stands.
        value: as it is spelt there.
        whole: it sets all of the field; False for a mapping, which may set a part of an inherited one.
    """

    place: Place
    value: str
    whole: bool


class Explained(NamedTuple):
    """One field.

    Attributes:
        field: its name, such as ``votes.dcvs_v3.core``, or that of a power state: ``lowered.dcvs_v3.core``,
            ``after_deinit.dcvs_v3.core``, ``further.dcvs_v3.core``.
        value: its value as it is spelt in a file.
        meaning: what it does.
        chain: every statement of it, from the file itself to the last that it extends; the first is in force.
        native: the option that it is part of; None where it is no vote, or unset.
        native_fields: the numbers that it becomes, by the names of the C struct.
        part: it is told only where it is asked for: a corner of a range, the perf mode of a vote on one clock, a number
            of a time that is learnt, or an option that is left out.
    """

    field: str
    value: str
    meaning: Meaning
    chain: tuple[Statement, ...]
    native: NativeConfig | None
    native_fields: dict[str, int]
    part: bool = False


def explain_profile(profile: Examined[Profile]) -> tuple[Explained, ...]:
    """Return every field of a profile, and of the power states to which it relaxes, each state once."""
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


def choose(fields: tuple[Explained, ...], name: str) -> tuple[Explained, ...]:
    """Return the fields of a name: of the whole of it or its end, or those in the mapping of that name.

    Fields of the profile come before those of its power states, for which the name begins with ``lowered``,
    ``after_deinit`` or ``further``.

    Raises:
        NoSuchField: there is none; with the nearest.
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
    from htppower.review.explain.relax_words import is_word  # noqa: PLC0415 - only for a field that there is not

    known = [field.field for field in fields if not field.part]
    near = nearest(name, _names(fields, known))
    raised = (field.field for field in fields if not field.part and not _side(field))
    alike = [near] if near else [each for each in raised if name and name in each]
    hint = f"did you mean {' or '.join(alike)}?" if alike else "leave it out to see all fields"
    if is_word(name):
        hint = f"it states none; htppower explain {name} tells of it"
    raise NoSuchField(f"no field {name!r}: {hint}")


def _names(fields: Iterable[Explained], known: Iterable[str]) -> dict[str, None]:
    """Return what a field may be named by: any end of its name, or of that of the mapping in which it is.

    A field that most profiles leave out may be meant, too.
    """
    left_out = {".".join(at) for at in LEFT_OUT}
    wholes = [*known, *(field.field for field in fields if field.part and field.field in left_out)]
    wholes += dict.fromkeys(each.rpartition(".")[0] for each in wholes if "." in each)
    parts = [each.split(".") for each in wholes]
    return dict.fromkeys(".".join(each[-count:]) for count in (1, 2, 3, 4) for each in parts)


def with_rules_of_options(fields: Iterable[Explained]) -> tuple[Explained, ...]:
    """Return the fields, the first of each option with the rules on the option as a whole besides its own."""
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
    """Return which power state a field is of; empty for one of the profile."""
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
    """Yield each field, and after a value its parts; then the options that may be left out, and are."""
    native = votes.native(0)  # any power config id does: no field here shows it
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
    # What a nearer file has replaced as a whole may state a field that is left out now.
    stating = file.documents if _statement(file, at) is not None else ()
    chain = tuple(filter(None, (_statement(document, at) for document in stating)))
    voted = value is not None and meaning.native
    native = next((config for config in configs if meaning.native[0] in config.fields), None) if voted else None
    numbers = {} if native is None else {field: native.fields[field] for field in meaning.native}
    return Explained(name, spell(value), meaning, chain, native, numbers)


def _statement(document: Document, at: KeyPath) -> Statement | None:
    """Return what a file says of a field, or of a whole that the field is part of; None where it says nothing.

    A word, such as unset or a corner, says it of every part; a number stands in the place of parts, and says nothing.
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
