"""The diagnosis: the machine, the library, the votes that it accepts, the profiles that degrade, the likely causes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from htppower.backends.qnn.library import SDK_VARIABLES, VARIABLE
from htppower.backends.qnn.loaded import LOADED
from htppower.backends.qnn.skels import SKEL_VARIABLES
from htppower.control.plans.plans import Missing, Planner
from htppower.errors import BackendUnavailable, ProfileError, VoteRejected
from htppower.events import Degradation
from htppower.profiles.loading import load_profiles
from htppower.rules.platforms import UnknownPlatform, find_soc
from htppower.rules.soc_names import by_kernel_number
from htppower.tools.doctor.answers import Answers, ask_library
from htppower.tools.doctor.attempts import Attempts
from htppower.tools.doctor.causes import Evidence, Found, found_causes
from htppower.tools.doctor.chip_causes import CHIP_CAUSES
from htppower.tools.doctor.link_causes import LINK_CAUSES
from htppower.tools.doctor.log_lines import Log, kept_lines, read_log
from htppower.tools.doctor.machine import Here, Machine, read_machine
from htppower.tools.doctor.node_causes import NODE_CAUSES
from htppower.tools.doctor.skel_causes import SKEL_CAUSES
from htppower.tools.doctor.skel_paths import PLACEHOLDER, SkelPaths, judged_skel_paths
from htppower.tools.review.explain.log_texts import LogText
from htppower.votes.native_codes import NOT_ON_THIS_PLATFORM, SUCCESS, code_name, what_to_do_at_start
from htppower.votes.options import VOTE_OPTIONS, Option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.backends.base import Description

VARIABLES = (VARIABLE, *SDK_VARIABLES, "LD_LIBRARY_PATH", *SKEL_VARIABLES)
CAUSES = (*CHIP_CAUSES, *SKEL_CAUSES, *LINK_CAUSES, *NODE_CAUSES)
# The rule under which a setting of the process degrades if FastRPC refuses it.
_REFUSED_SETTING = "RPC-7"
# The hints of some errors name this command.
_DOCTOR = "htppower doctor"
_NO_CAUSE = "no cause is known: look into the log, and into the kernel's log (dmesg)"
_ON_A_DEVICE = "run it on a Snapdragon device: here votes are accepted, but no clock changes"
_NO_UNSIGNED = "the DSP says that it has no unsigned process domains; the library goes on"


@attrs.frozen
class ProfileHere:
    """A profile on this platform: what it lacks, or, with ``refused``, why it can't be used."""

    name: str
    degradations: tuple[Degradation, ...] = ()
    refused: tuple[str, ...] = ()


@attrs.frozen
class Diagnosis:
    """All results of the diagnosis.

    Attributes:
        machine: the facts of the machine.
        description: the library that was opened, or None.
        problem: why it can't be used, or None.
        causes: the causes of the problem, the most likely one first.
        answers: the native code for a harmless vote of each option, in the order of the calls.
        profiles: the profiles on this platform, if the library can be used.
        environment: the environment variables that matter and are set.
        log: the errors and warnings of the vendor's log.
        steps: what to do next, without the lines of the causes.
        skel_paths: the faults of the variables that lead FastRPC to the skel, and the lines that mend them.
        notes: what else is worth knowing.
        failures: the facts that can't be found out.
    """

    machine: Machine
    description: Description | None
    problem: BackendUnavailable | VoteRejected | None
    causes: tuple[Found, ...]
    answers: dict[Option, int]
    profiles: tuple[ProfileHere, ...]
    environment: dict[str, str]
    log: Log
    steps: tuple[str, ...]
    skel_paths: SkelPaths
    notes: tuple[str, ...]
    failures: tuple[str, ...]

    @property
    def what_is_wrong(self) -> str:
        """The problem in a sentence, without what to do; empty if there is none."""
        if isinstance(self.problem, VoteRejected):
            core = self.problem.core
            where = "" if core is None else f" for device {core[0]}, core {core[1]}"
            return f"{self.problem.function}{where} returned {self.problem.code} {self.problem.name}"
        return "" if self.problem is None else self.problem.message

    @property
    def usable(self) -> bool:
        """Whether votes are taken."""
        return self.problem is None


def diagnose(library: str | None, soc_model: str | None, folders: Iterable[str], here: Here | None = None) -> Diagnosis:
    """Read the facts of the machine, open the library, send a harmless vote of each kind, and close it.

    Args:
        library: the library's path, or None to search for it.
        soc_model: the SoC to create the device for, or None.
        folders: folders with more profiles.
        here: where the facts of the machine are read; None for this machine.

    Raises:
        UnknownPlatform: no SoC has that name.
    """
    here, attempts = here or Here(), Attempts()
    if soc_model is not None:
        find_soc(soc_model)
    machine = read_machine(here, attempts)
    with kept_lines() as lines:
        answers = ask_library(library, soc_model, attempts)
    log = attempts.of("the vendor's log", lambda: read_log(lines), Log())
    description, problem = answers.description, answers.problem
    environment = {name: here.environment[name] for name in VARIABLES if name in here.environment}
    path = _path(answers, library or here.environment.get(VARIABLE, ""))
    arch = _arch(description, soc_model, machine)
    paths = attempts.of("skel paths", lambda: judged_skel_paths(here.environment, arch, path), SkelPaths())
    causes: tuple[Found, ...] = ()
    if problem is not None:
        evidence = Evidence(machine, problem, log, here.environment, path, arch, soc_model, paths)
        causes = found_causes(CAUSES, evidence, attempts)
    elif paths.lines:
        # The library works, so a line is told only if it has no placeholder.
        paths = attrs.evolve(paths, lines=tuple(line for line in paths.lines if PLACEHOLDER not in line))
    profiles: tuple[ProfileHere, ...] = ()
    if description is not None and problem is None:
        profiles = attempts.of("profiles", lambda: _profiles(description, answers.votes, folders), ())
    return Diagnosis(
        machine,
        description,
        problem,
        causes,
        answers.votes,
        profiles,
        environment,
        log,
        _steps(description, problem, causes),
        paths,
        _notes(machine, log, description, arch),
        tuple(attempts.failures),
    )


def _path(answers: Answers, named: str) -> str:
    """Return the file of the library: the one that was opened, or that the search ended with, or the one named."""
    if answers.description is not None:
        return answers.description.path
    tried = getattr(answers.problem, "tried", ())
    return tried[-1].path if tried and tried[-1].outcome == LOADED else named


def _arch(description: Description | None, soc_model: str | None, machine: Machine) -> int | None:
    """Return the Hexagon architecture: from the library, else from the named SoC, else from this chip."""
    platform = None if description is None else description.platform
    if platform is not None and platform.arch is not None:
        return platform.arch
    try:
        soc = find_soc(soc_model) if soc_model else by_kernel_number(machine.soc_number or 0)
    except UnknownPlatform:
        return None
    return None if soc is None else soc.arch


def _profiles(description: Description, answers: dict[Option, int], folders: Iterable[str]) -> tuple[ProfileHere, ...]:
    missing = Missing()
    planner = Planner(description.platform, missing, strict=False)
    for option, code in answers.items():
        # The planner itself leaves out what the table of platforms lacks. It also knows that a default HMX vote can be
        # left out.
        if code != SUCCESS and (description.platform is None or description.platform.has(option)):
            message = f"the library returns {code} {code_name(code)} for {option.name}"
            refused = code not in NOT_ON_THIS_PLATFORM
            rule = _REFUSED_SETTING if refused else VOTE_OPTIONS[option].rule_if_missing
            missing.add(Degradation(rule, message, option), refused=refused)
    loaded, errors = load_profiles(folders)
    found = []
    for profile in loaded:
        try:
            found.append(ProfileHere(profile.name, planner.plan(profile).degradations))
        except ProfileError as error:
            found.append(_refused(profile.name, error))
    return (*found, *(_refused(Path(error.path).stem, error) for error in errors))


def _refused(name: str, error: ProfileError) -> ProfileHere:
    return ProfileHere(name, refused=tuple(map(str, error.problems)))


def _steps(
    description: Description | None, problem: BackendUnavailable | VoteRejected | None, causes: tuple[Found, ...]
) -> tuple[str, ...]:
    if isinstance(problem, BackendUnavailable):
        if problem.hint and _DOCTOR not in problem.hint:
            return (problem.hint,)
        return () if causes else (_NO_CAUSE,)
    if problem is not None:
        return (what_to_do_at_start(problem.code, problem.function),)
    if description is None:
        return ()
    passed_over = [step.origin for step in description.tried[:-1] if step.origin in SDK_VARIABLES]
    steps = [f"{name} is set, but the library is not from there: see tried" for name in dict.fromkeys(passed_over)]
    return (*steps, *(() if description.hardware else (_ON_A_DEVICE,)))


def _notes(machine: Machine, log: Log, description: Description | None, arch: int | None) -> tuple[str, ...]:
    unsigned = log.message(LogText.UNSIGNED_REFUSED) if description is not None else None
    return (*machine.fastrpc.limits(arch), *(() if unsigned is None else (_NO_UNSIGNED,)))
