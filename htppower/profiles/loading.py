"""Finds, loads, checks and resolves profiles and power states."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import attrs

from htppower.errors import Finding, Place, ProfileError, RuleBreach, shortened
from htppower.profiles.discovery import Folders, shipped_problem
from htppower.profiles.extends import KnownFiles, ResolvedFile, may_be_quoted, not_shown, resolve_file
from htppower.profiles.file_format import FILES, ProfileFields, RelaxFields, structure, sustain_of
from htppower.profiles.names import LISTED_FIRST, SHIPPED_PROFILES, recorded_name
from htppower.profiles.paths import folder_of, joined, stem_of
from htppower.profiles.profile import NO_VOTES, Lowering, PowerState, Profile, Provenance, Relax, Then
from htppower.profiles.yaml_words import UNREADABLE
from htppower.rules import table as rules
from htppower.rules.case import Case

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from htppower.errors import KeyPath

_Value = TypeVar("_Value")

# The fields that name a power state.
_STATE_FIELDS: tuple[KeyPath, ...] = (("relax", "to"), ("relax", "after_deinit_to"), ("relax", "then", "to"))
# The rules that make a file refused, and that still apply while another field can't be read.
_OF_ONE_FIELD = rules.ids(lambda rule: rule.refuses and not rule.compares)


def profile_names(folders: Iterable[str | os.PathLike[str]] = ()) -> tuple[str, ...]:
    """Return the shipped profiles in the vendor's order, language models last, then the folders' profiles by name."""
    return Folders.of(folders).names(LISTED_FIRST)


def load_profile(name: str | os.PathLike[str], folders: Iterable[str | os.PathLike[str]] = ()) -> Profile:
    """Return a profile by its name in the shipped folder or the given folders, or by path.

    A name with a slash or the suffix ``.yaml`` or ``.yml`` is a path. ``onnxruntime:burst`` is the record of the votes
    of ONNX Runtime in its mode burst (``record_names``).

    Raises:
        ProfileError: it is not found, can't be read, or is invalid; with every problem of the file.
        RuleBreach: it is well-formed, but a rule of the votes refuses it.
    """
    where = Folders.of(folders)
    return examine_profile(where.find(name, "profile"), where).accepted()


def record_names(folders: Iterable[str | os.PathLike[str]] = ()) -> tuple[str, ...]:
    """Return the names of the records of other runtimes' votes, such as ``onnxruntime:burst``, by runtime."""
    return Folders.of(folders).record_names(SHIPPED_PROFILES)


def load_profiles(
    folders: Iterable[str | os.PathLike[str]] = (),
) -> tuple[tuple[Profile, ...], tuple[ProfileError, ...]]:
    """Return every profile in ``profile_names``, and the errors of the invalid ones."""
    where = Folders.of(folders)
    return _load_all(where.names(LISTED_FIRST), where)


def load_records(
    folders: Iterable[str | os.PathLike[str]] = (), *, runtime: str = ""
) -> tuple[tuple[Profile, ...], tuple[ProfileError, ...]]:
    """Return every record in ``record_names``, or only those with one runtime, and the errors of the invalid ones."""
    where = Folders.of(folders)
    names = where.record_names(SHIPPED_PROFILES)
    return _load_all((name for name in names if runtime in ("", name.partition(":")[0])), where)


def _load_all(names: Iterable[str], where: Folders) -> tuple[tuple[Profile, ...], tuple[ProfileError, ...]]:
    known, missing = Known(), shipped_problem()
    profiles, errors = [], [] if missing is None else [missing]
    for name in names:
        try:
            profiles.append(examine_profile(where.find(name, "profile"), where, known).accepted())
        except ProfileError as error:
            errors.append(error)
    return tuple(profiles), tuple(errors)


@attrs.frozen(repr=False, eq=False, slots=False)
class Examined(Generic[_Value]):
    """A profile or power state as far as its file can be read, with all its problems.

    Attributes:
        value: the profile or power state; parts that can't be read are omitted.
        file: its file, merged with the files that it extends.
        problems: the reasons why it is refused, in the order of the lines.
        readable: whether every field is readable, so that rules which compare fields apply.
        named: the power states that a profile relaxes to, by the keys of the fields that name them: ``relax.to``,
            ``relax.after_deinit_to``, ``relax.then.to``.
    """

    value: _Value
    file: ResolvedFile
    problems: tuple[Finding, ...]
    readable: bool
    named: Mapping[KeyPath, Examined[PowerState]] = attrs.field(factory=dict)

    @property
    def states(self) -> Mapping[KeyPath, Examined[PowerState]]:
        """The power states that a profile relaxes to, each once, by the keys of the first field that names it."""
        first: dict[int, KeyPath] = {}
        for at, state in self.named.items():
            first.setdefault(id(state), at)
        return {at: self.named[at] for at in first.values()}

    def accepted(self) -> _Value:
        """Return the value if it and its power states have no problems.

        Raises:
            ProfileError, RuleBreach: as for ``load_profile``; problems of a power state are reported at the field that
                names it.
        """
        problems = list(self.problems)
        for at, state in self.states.items():
            problems += [self.file.located(_at_its_name(problem, at)) for problem in state.problems]
        if not problems:
            return self.value
        problems.sort(key=self.file.order)
        raise (RuleBreach if all(problem.rule in rules.RULES for problem in problems) else ProfileError)(problems)


class Known:
    """Results for files that are useful for other files, so that each file is read only once.

    Attributes:
        files: the files that other files extend.
        states: power states, by lookup folders and path.
        named: power states, by lookup folders, the folder of the file with the name, and the name.
        texts: contents that replace those of files, by real path.
    """

    def __init__(self, texts: Mapping[str, bytes] = MappingProxyType({})) -> None:
        self.texts = texts
        self.files: KnownFiles = {}
        self.states: dict[tuple[tuple[str, ...], str], Examined[PowerState]] = {}
        self.named: dict[tuple[Folders, str, str], Examined[PowerState]] = {}

    def power_state(self, path: str, folders: Folders) -> Examined[PowerState]:
        """Return the power state of a file with all its problems; each file is examined only once."""
        # Names in a file of the first folder refer to files of that folder, whatever the other folders are.
        first = folders.paths[0]
        key = (folders.paths[:1] if folder_of(path) in {first, joined(first, "states")} else folders.paths, path)
        return self.states.get(key) or self.states.setdefault(key, examine_power_state(path, folders, self))

    def power_state_named(self, name: str, folders: Folders, near: str) -> Examined[PowerState]:
        """Return the power state that the file ``near`` names; raise a ProfileError if it does not exist."""
        key = (folders, folder_of(near), name)
        if key not in self.named:
            self.named[key] = self.power_state(folders.find(name, "state", near), folders)
        return self.named[key]


def examine_profile(
    path: str, folders: Folders, known: Known | None = None, named_by: str | None = None
) -> Examined[Profile]:
    """Return the profile of a file with all its problems; nothing is raised.

    Other files are taken from ``known``, and added to it. If an invalid file may not be quoted (``extends.py``), this
    is its only problem. A file is ``named_by`` another file, or by the user.
    """
    known = Known() if known is None else known
    file, fields, findings = _read(path, folders, "profile", known)
    named, of_relax = _find_states(fields, file, folders, known)
    profile = Profile(
        name=recorded_name(file.path, (fields and fields.profile) or stem_of(file.path)),
        summary=(fields and fields.summary) or "",
        votes=(fields and fields.votes) or NO_VOTES,
        relax=_relax(named, fields.relax) if fields and fields.relax and _STATE_FIELDS[0] in named else None,
        source=file.path,
        lineage=file.lineage,
        origins=file.places,
        provenance=_provenance(fields),
        cpu_latency_us=None if fields is None else fields.cpu_latency_us,
    )
    readable = not (findings or of_relax or file.problems or any(state.problems for state in named.values()))
    problems = _problems(file, [*findings, *of_relax], profile.case(), readable=readable)
    if problems and not _may_be_told(file, folders, named_by):
        untold = (_not_shown(file, "profile"),)
        return Examined(Profile(stem_of(path), "", NO_VOTES, None, path), _unread(file), untold, readable=False)
    return Examined(profile, file, problems, readable, named)


def _provenance(fields: ProfileFields | None) -> Provenance | None:
    """Return the source of a record's values; parts that can't be read, which are reported elsewhere, are empty."""
    said = None if fields is None else fields.provenance
    if said is None:
        return None
    return Provenance(said.how or "", said.of or "", said.source or "")


def _relax(named: Mapping[KeyPath, Examined[PowerState]], fields: RelaxFields) -> Relax:
    """Return the value of ``relax``; parts that can't be read, which are reported elsewhere, count as 0."""
    in_background = fields.lowering == Lowering.BACKGROUND
    to, last, further = (named.get(at, named[_STATE_FIELDS[0]]).value for at in _STATE_FIELDS)
    then = fields.then if _STATE_FIELDS[2] in named else None
    return Relax(
        to,
        fields.after_init_us or 0,
        sustain_of(fields.after_inference_us),
        Lowering.BACKGROUND if in_background else Lowering.FOREGROUND,
        last,
        None if then is None else Then(further, sustain_of(then.after_us)),
        fields.raise_ahead_us or 0,
    )


def examine_power_state(path: str, folders: Folders, known: Known | None = None) -> Examined[PowerState]:
    """Return the power state of a file with all its problems; nothing is raised."""
    file, fields, findings = _read(path, folders, "state", Known() if known is None else known)
    state = PowerState(
        name=(fields and fields.state) or stem_of(file.path),
        summary=(fields and fields.summary) or "",
        votes=(fields and fields.votes) or NO_VOTES,
        source=file.path,
    )
    readable = not (findings or file.problems)
    problems = _problems(file, findings, Case(state.votes), readable=readable)
    if problems and not _may_be_told(file, folders, None):
        untold = (_not_shown(file, "state"),)
        return Examined(PowerState(stem_of(path), "", NO_VOTES, path), _unread(file), untold, readable=False)
    return Examined(state, file, problems, readable)


def _may_be_told(file: ResolvedFile, folders: Folders, named_by: str | None) -> bool:
    """Return whether messages may quote a file that another file, or the user, names."""
    if named_by is None:
        return folders.hold(file.path, file.path)
    return may_be_quoted(file.documents[0], folders, named_by)


def _not_shown(file: ResolvedFile, kind: str) -> Finding:
    leads = os.path.realpath(file.path)
    said = "" if leads == os.path.abspath(file.path) else f", a link to {leads},"  # abspath keeps links
    return attrs.evolve(not_shown(file.path, kind, (), said), place=Place(file.path))


def _unread(file: ResolvedFile) -> ResolvedFile:
    """Return a file without any of its content."""
    return attrs.evolve(file, tree=UNREADABLE, places={}, key_places={}, problems=(), lineage=(stem_of(file.path),))


def _read(path: str, folders: Folders, kind: str, known: Known) -> tuple[ResolvedFile, Any, list[Finding]]:
    """Return a file, its fields as far as they can be read, and its problems."""
    file = resolve_file(path, folders, kind, known.files, known.texts)
    fields, findings = structure(file.tree, FILES[kind])
    return file, fields, [finding for finding in findings if file.complete or finding.rule != "KEY-2"]


def _find_states(
    fields: ProfileFields | None, file: ResolvedFile, folders: Folders, known: Known
) -> tuple[dict[KeyPath, Examined[PowerState]], list[Finding]]:
    """Return the power states that a profile relaxes to, and findings for names without a power state."""
    named: dict[KeyPath, Examined[PowerState]] = {}
    findings: list[Finding] = []
    for at in _STATE_FIELDS:
        name: Any = fields
        for key in at:
            name = None if name is None else getattr(name, key)
        if name:
            state, wrong = _find_state(name, at, file, folders, known)
            findings += wrong
            if state is not None:
                named[at] = state
    return named, findings


def _find_state(
    name: str, at: KeyPath, file: ResolvedFile, folders: Folders, known: Known
) -> tuple[Examined[PowerState] | None, list[Finding]]:
    """Return the power state with a name, or a finding that it does not exist."""
    try:
        state = known.power_state_named(name, folders, file.written_in(at))
    except ProfileError as error:
        return None, [Finding("NAME-1", at, f"no power state {shortened(name)!r}", error.hint)]
    if state.problems and not may_be_quoted(state.file.documents[0], folders, file.path):
        return None, [not_shown(name, "state", at)]
    return state, []


def _at_its_name(problem: Finding, at: KeyPath) -> Finding:
    """Return a problem of a power state as a finding of the profile that names it."""
    message = f"its power state is wrong in {problem.path}:{problem.line}:{problem.column}: {problem.message}"
    return Finding(problem.rule, at, message, problem.hint or "correct that file")


def _problems(file: ResolvedFile, findings: list[Finding], case: Case, *, readable: bool) -> tuple[Finding, ...]:
    """Return the problems of a file, in the order of its lines."""
    broken = rules.errors(case) if readable else rules.check(case, _OF_ONE_FIELD)
    problems = [*file.problems, *(file.located(finding) for finding in (*findings, *broken))]
    return tuple(sorted(problems, key=file.order))
