"""Finds test files, and makes tests of them: each is read and checked, and its profiles are loaded."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from htppower.control.plans.plans import Missing, Planner
from htppower.errors import Finding, Place, ProfileError, RuleBreach, VoteTestError, shortened
from htppower.profiles.discovery import folder_list, yaml_files
from htppower.profiles.file_format import structure
from htppower.profiles.loading import Known, examine_power_state, examine_profile
from htppower.profiles.paths import folder_of, joined, stem_of
from htppower.profiles.strict_yaml import read_document
from htppower.rules.platforms import Platform, platform_of
from htppower.tools.review.file_selection import folders_of
from htppower.tools.review.vote_tests.cases import Expectation, VoteCase, VoteTest, findings_of, same_names, timeline
from htppower.tools.review.vote_tests.fields import CaseFields, ExpectFields, UseStep, VoteTestFields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.errors import KeyPath
    from htppower.profiles.discovery import Folders
    from htppower.profiles.profile import PowerState, Profile
    from htppower.profiles.strict_yaml import Document

# The name of the folder of tests in a folder of profiles.
FOLDER = "tests"
_A_LINK_ELSEWHERE = "not a valid test, but a link out of the folders being used; its content is not shown"
_WHERE_TESTS_STAND = f"put tests next to the profiles, in a folder {FOLDER}"


def test_files(path: str) -> tuple[str, ...]:
    """Return the test files of a path: the file itself; for a folder, those in its subfolder ``tests``, or in itself.

    A folder that holds profiles, and no subfolder ``tests``, has none.

    Raises:
        VoteTestError: FILE-1, there is none.
    """
    if not os.path.isdir(path):
        return (path,)
    inner = joined(path, FOLDER)
    if os.path.isdir(inner):
        files = yaml_files(inner)
    else:
        files = [file for file in yaml_files(path) if _other_kind(read_document(file, "test").tree) is None]
    if not files:
        raise VoteTestError([Finding.of_file(path, "FILE-1", "no tests in this folder", _WHERE_TESTS_STAND)])
    return tuple(files)


def _other_kind(tree: Any) -> str | None:
    """Return the kind of a file by the keys at its top, if it is a profile or power state; None for a test."""
    keys = set(tree) if isinstance(tree, dict) else set()
    if keys & {"test", "cases"}:
        return None
    if "state" in keys and "profile" not in keys:
        return "power state"
    return "profile" if keys & {"votes", "relax", "extends"} else None


def load_beside(
    paths: Iterable[str | os.PathLike[str]], folders: Iterable[str | os.PathLike[str]] = ()
) -> tuple[tuple[Profile, ...], tuple[PowerState, ...]]:
    """Return every profile and power state in those paths that are folders of profiles, or of their tests.

    Raises:
        VoteTestError: one is invalid; the error holds every problem.
    """
    named = folder_list(folders)
    known = Known()
    profiles: list[Profile] = []
    states: list[PowerState] = []
    problems: dict[Finding, None] = {}

    for folder in dict.fromkeys(filter(None, (_folder_of_profiles(joined(path)) for path in paths))):
        where = folders_of(folder, named)
        for file in yaml_files(folder):
            with _noted(problems):
                profiles.append(examine_profile(file, where, known).accepted())
        for file in yaml_files(joined(folder, "states")):
            with _noted(problems):
                states.append(examine_power_state(file, where, known).accepted())
    if problems:
        raise VoteTestError(_in_order(problems))
    return tuple(profiles), tuple(states)


@contextlib.contextmanager
def _noted(problems: dict[Finding, None]) -> Iterator[None]:
    """Note the problems of a file that can't be used, and go on with the next."""
    try:
        yield
    except ProfileError as error:
        problems.update(dict.fromkeys(error.problems))


def _folder_of_profiles(path: str) -> str | None:
    if os.path.isdir(joined(path, FOLDER)):
        return path
    return folder_of(path) if os.path.isdir(path) and _holds_tests(path) else None


def _holds_tests(folder: str) -> bool:
    """Return whether a folder, or the folder that a link leads to, is a folder of tests."""
    return os.path.basename(os.path.realpath(folder)) == FOLDER


def load_tests(
    paths: Iterable[str | os.PathLike[str]], folders: Iterable[str | os.PathLike[str]] = ()
) -> tuple[VoteTest, ...]:
    """Return the tests of files and folders, each file once, with the profiles that they test.

    Args:
        paths: test files; folders of profiles with a folder ``tests``; folders of test files.
        folders: where to look up profiles by name, after the folder of a test file's profiles and the shipped one.

    Raises:
        VoteTestError: a test can't be run; the error holds every problem of every file.
    """
    folders = folder_list(folders)
    files: dict[str, str] = {}
    problems: dict[Finding, None] = {}
    tests = []
    for path in paths:
        with _noted(problems):
            files.update({os.path.realpath(file): file for file in test_files(joined(path))})
    for file in files.values():
        with _noted(problems):
            tests.append(load_test(file, folders))
    if problems:
        raise VoteTestError(problems)
    return tuple(tests)


def load_test(file: str | os.PathLike[str], folders: Iterable[str | os.PathLike[str]] = ()) -> VoteTest:
    """Return the test of a file.

    Raises:
        VoteTestError: as for ``load_tests``.
    """
    path = joined(file)
    folders = tuple(folders)
    document = read_document(path, "test")
    _, where = _home(path, folders)
    kind = _other_kind(document.tree)
    if kind is not None:
        message = f"this is a {kind}, not a test"
        found = Finding("FILE-1", (), message, _WHERE_TESTS_STAND, place=Place(path, 1, 1))
        raise VoteTestError([found])
    fields, findings = structure(document.tree, VoteTestFields)
    if document.problems or findings:
        if not where.hold(path, path):
            raise VoteTestError([Finding.of_file(path, "FILE-1", _A_LINK_ELSEWHERE, _WHERE_TESTS_STAND)])
        named = _Maker(document, folders).wrong_names()
        raise VoteTestError(_in_order([*document.problems, *map(document.located, findings), *named]))
    maker = _Maker(document, folders)
    maker.note(same_names(fields.cases))
    cases = tuple(maker.case(fields, case, ("cases", str(number))) for number, case in enumerate(fields.cases))
    if maker.problems:
        raise VoteTestError(_in_order(maker.problems))
    return VoteTest(path, fields.test, tuple(case for case in cases if case is not None), document)


def _home(test: str, named: Iterable[str | os.PathLike[str]]) -> tuple[str, Folders]:
    """Return the folder of the profiles of a test file, and where names are looked up."""
    folder = folder_of(test)
    home = folder_of(folder) if _holds_tests(folder) else folder
    return home, folders_of(home, folder_list(named))


class _Maker:
    """Makes the cases of one file, and collects its faults."""

    def __init__(self, document: Document, folders: Iterable[str | os.PathLike[str]]) -> None:
        self.problems: dict[Finding, None] = {}
        self._document = document
        self._home, self._where = _home(document.path, folders)
        self._loaded: dict[str, Profile | None] = {}

    def case(self, test: VoteTestFields, case: CaseFields, at: KeyPath) -> VoteCase | None:
        """Return a case, or None if it has a fault."""
        own_profile, own_platform = case.profile is not None, case.platform is not None
        profile_at = (*at, "profile") if own_profile else ("profile",)
        platform_at = (*at, "platform") if own_platform else ("platform",)
        named: Any = case.platform if own_platform else test.platform
        platform = platform_of(getattr(named, "soc", None), getattr(named, "arch", None), named.os)
        profile = self._profile(case.profile or test.profile, profile_at)
        used = [
            self._profile(step.use, (*at, "sequence", str(number), "use")) if isinstance(step, UseStep) else None
            for number, step in enumerate(case.sequence)
        ]
        line = timeline(case.sequence, used, (*at, "sequence"))
        self.note(line.findings)
        expectations = [_expectation(expect, (*at, "expect", str(number))) for number, expect in enumerate(case.expect)]
        self.note(findings_of(expectations, line.end_us))
        self._refuse([profile, *used], platform, platform_at)
        if profile is None:
            return None
        return VoteCase(case.case, profile, platform, line.moments, line.end_us, tuple(expectations))

    def wrong_names(self) -> tuple[Finding, ...]:
        """Return the faults of the profiles that a file names, even if the file has faults of its own."""
        for at, name in _named(self._document.tree):
            self._profile(name, at)
        return tuple(self.problems)

    def _profile(self, name: str, at: KeyPath) -> Profile | None:
        """Return a profile: the one next to the test, or else the one that its name leads to everywhere."""
        if name not in self._loaded:
            self._loaded[name] = None
            try:
                self._loaded[name] = examine_profile(
                    self._find(name), self._where, named_by=self._document.path
                ).accepted()
            except ProfileError as error:
                self._note_profile(name, error, at)
        return self._loaded[name]

    def _find(self, name: str) -> str:
        if "/" in name or os.sep in name or name.endswith((".yaml", ".yml")):
            return joined(folder_of(self._document.path), name)
        beside = (file for file in yaml_files(self._home) if stem_of(file) == name)
        return next(beside, None) or self._where.find(name, "profile")

    def _note_profile(self, name: str, error: ProfileError, at: KeyPath) -> None:
        """Note a fault of a profile: in its own file, or if that is not found, at its name in the test."""
        for problem in error.problems:
            if problem.line:
                self.problems[problem] = None
            else:
                said = problem.message if problem.rule == "NAME-1" else f"{shortened(name)!r}: {problem.message}"
                self.note([Finding(problem.rule, at, said, problem.hint)])

    def _refuse(self, profiles: Iterable[Profile | None], platform: Platform, at: KeyPath) -> None:
        """Note the rules that refuse a profile on this platform."""
        planner = Planner(platform, Missing(), strict=False)
        for profile in filter(None, profiles):
            try:
                planner.plan(profile)
            except RuleBreach as error:
                self.note(
                    Finding(problem.rule, at, f"{profile.name} is refused here: {problem.message}", problem.hint)
                    for problem in error.problems
                )

    def note(self, findings: Iterable[Finding]) -> None:
        """Note faults of the file."""
        self.problems.update(dict.fromkeys(map(self._document.located, findings)))


def _named(tree: Any, at: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Yield the names of profiles in a tree, each with the keys that lead to it."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        if key in ("profile", "use") and isinstance(value, str):
            yield (*at, key), value
        else:
            yield from _named(value, (*at, str(key)))


def _expectation(expect: ExpectFields, at: KeyPath) -> Expectation:
    votes = None if expect.votes is None else expect.votes.fields
    return Expectation(at, expect.at_us, expect.state, votes, expect.calls, expect.sent, expect.degraded)


def _in_order(problems: Iterable[Finding]) -> list[Finding]:
    return sorted(problems, key=lambda problem: (problem.path, problem.line, problem.column))
