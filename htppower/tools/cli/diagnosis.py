"""The diagnosis of ``htppower doctor``: the library, the platform, the votes it accepts, the profiles that degrade.

It also checks the variables whose folders FastRPC searches for the skel. Source: apps_std of
https://github.com/qualcomm/fastrpc, which separates the folders by ``;`` on every system.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from htppower.backends.qnn.htp import QnnHtp
from htppower.backends.qnn.library import SDK_VARIABLES, VARIABLE
from htppower.control.plans.plans import Missing, Planner
from htppower.errors import BackendUnavailable, ProfileError, VoteRejected
from htppower.events import Degradation
from htppower.profiles.loading import load_profiles
from htppower.rules.platforms import find_soc
from htppower.rules.soc_names import by_kernel_number
from htppower.votes.native_codes import (
    INVALID_INPUT,
    NOT_ON_THIS_PLATFORM,
    NULL_CLIENT,
    SUCCESS,
    code_name,
    what_to_do_at_start,
)
from htppower.votes.options import VOTE_OPTIONS, Option
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from htppower.backends.base import Backend, Description

SKEL_VARIABLES = ("ADSP_LIBRARY_PATH", "CDSP_LIBRARY_PATH", "DSP_LIBRARY_PATH")
_SEPARATOR = ";"
# The SDK keeps the skels in these folders, relative to the library.
_BESIDE = ("", "../hexagon-v{arch}/unsigned", "../../hexagon-v{arch}/unsigned")
_NEEDS_QUOTES = frozenset('"$`\\')
# One vote of each option that asks for nothing: the value that cancels a vote, or a control latency of 0, which
# is not a vote.
HARMLESS = {option: 0 if about.taken_back is None else about.taken_back for option, about in VOTE_OPTIONS.items()}
VARIABLES = (VARIABLE, *SDK_VARIABLES, "LD_LIBRARY_PATH", *SKEL_VARIABLES)
# The kernel's number of the chip.
_SOC_ID = "/sys/devices/soc0/soc_id"

_ON_A_DEVICE = "run it on a Snapdragon device: here votes are accepted, but no clock changes"


@attrs.frozen
class SkelPaths:
    """The faults of the variables, in sentences, and the lines to type in a shell; both are empty if all is well."""

    faults: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def judged_skel_paths(environment: Mapping[str, str], arch: int | None, library: str = "") -> SkelPaths:
    """Return the faults of the variables that are set.

    Args:
        environment: the variables of the process.
        arch: the Hexagon architecture whose skel is needed; None accepts any.
        library: the file of the library; a skel near it is named in the line.
    """
    values = {name: environment[name] for name in SKEL_VARIABLES if name in environment}
    faults: list[str] = []
    folders: dict[str, list[str]] = {}
    wrong: list[str] = []
    for name, value in values.items():
        parts = [part for entry in value.split(_SEPARATOR) for part in _parts(entry)]
        found = list(_faults(name, value, parts))
        faults += found
        if found:
            wrong.append(name)
        folders[name] = [os.path.abspath(part) for part in parts if os.path.isdir(part)]
    skel = f"libQnnHtpV{arch or '*'}Skel.so"
    if values and not any(_has(folder, skel) for each in folders.values() for folder in each):
        faults.append(f"{skel} is in no folder of {' or '.join(values)}")
        first = next(iter(values))
        wrong = [first, *(name for name in wrong if name != first)]
        folders[first] = [_near(library, arch, skel), *folders[first]]
    return SkelPaths(tuple(faults), tuple(_line(name, folders[name]) for name in wrong))


def _parts(entry: str) -> list[str]:
    """Return the folders of an entry: several if ``:`` separates them."""
    several = ":" in entry and os.name != "nt" and not os.path.isdir(entry)
    return [part for part in (entry.split(":") if several else [entry]) if part]


def _faults(name: str, value: str, parts: list[str]) -> Iterator[str]:
    if not parts:
        yield f"{name} is empty"
    if not set(parts) <= set(value.split(_SEPARATOR)):
        yield f"{name} has ':' between folders: FastRPC separates folders by ';', and reads all of it as one folder"
    for part in parts:
        if not os.path.isabs(part):
            yield f"{name} has the relative folder {part}, which depends on where the process starts"
        if not os.path.isdir(part):
            yield f"{name} has {part}, which is not a folder here"


def _has(folder: str, skel: str) -> bool:
    try:
        return next(Path(folder).glob(skel), None) is not None
    except OSError:
        return False


def _near(library: str, arch: int | None, skel: str) -> str:
    """Return the folder of a skel near the library, or a placeholder for it."""
    home = os.path.dirname(os.path.realpath(library)) if os.path.isfile(library) else ""
    near = (os.path.normpath(os.path.join(home, each.format(arch=arch))) for each in (_BESIDE if home else ()))
    return next((folder for folder in near if _has(folder, skel)), "/FOLDER/OF/THE/SKEL")


def _line(name: str, folders: list[str]) -> str:
    if not folders:
        return f"Remove-Item Env:{name}" if os.name == "nt" else f"unset {name}"
    value = _SEPARATOR.join(dict.fromkeys(folders))
    quoted = shlex.quote(value) if _NEEDS_QUOTES & set(value) and os.name != "nt" else f'"{value}"'
    return f"$env:{name} = {quoted}" if os.name == "nt" else f"export {name}={quoted}"


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
        description: the library that was opened, or None.
        problem: why it can't be used, or None.
        answers: the native code for a harmless vote of each option, in the order of the calls.
        profiles: the profiles on this platform, if the library can be used.
        environment: the environment variables that matter and are set.
        steps: what to do next.
        skel_paths: the faults of the variables that lead FastRPC to the skel, and the lines that mend them.
    """

    description: Description | None
    problem: BackendUnavailable | VoteRejected | None
    answers: dict[Option, int]
    profiles: tuple[ProfileHere, ...]
    environment: dict[str, str]
    steps: tuple[str, ...]
    skel_paths: SkelPaths

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


def diagnose(library: str | None, soc_model: str | None, folders: Iterable[str]) -> Diagnosis:
    """Open the library, send a harmless vote of each kind, and close it."""
    environment = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    try:
        backend = QnnHtp(library, soc_model)
    except BackendUnavailable as problem:
        paths = judged_skel_paths(environment, _arch(None, soc_model), library or environment.get(VARIABLE, ""))
        return Diagnosis(None, problem, {}, (), environment, (problem.hint,), paths)
    try:
        description = backend.describe()
        answers, rejected = _ask(backend)
        profiles = () if rejected is not None else _profiles(description, answers, folders)
        paths = judged_skel_paths(environment, _arch(description, soc_model), description.path)
        steps = _steps(description, rejected)
        return Diagnosis(description, rejected, answers, profiles, environment, steps, paths)
    finally:
        backend.close()


def _arch(description: Description | None, soc_model: str | None) -> int | None:
    """Return the Hexagon architecture: from the library, else from the named SoC, else from this chip."""
    platform = None if description is None else description.platform
    if platform is not None and platform.arch is not None:
        return platform.arch
    try:
        soc = find_soc(soc_model) if soc_model else by_kernel_number(int(Path(_SOC_ID).read_text(encoding="ascii")))
    except (OSError, ValueError):
        return None
    return None if soc is None else soc.arch


def _ask(backend: Backend) -> tuple[dict[Option, int], VoteRejected | None]:
    """Return the answers, and the failure that prevents all votes."""
    devices = backend.describe().devices
    device_id = devices[0].device_id if devices else 0
    core_ids = devices[0].core_ids if devices else ()
    try:
        power_config_id = backend.create_power_config_id(device_id, core_ids[0] if core_ids else 0)
    except VoteRejected as rejected:
        return {}, rejected
    if power_config_id == NULL_CLIENT:
        # A vote on this id may override all other votes of the process, harmless or not (rule ID-1).
        core = (device_id, core_ids[0] if core_ids else 0)
        return {}, VoteRejected(INVALID_INPUT, function="createPowerConfigId", core=core)
    answers: dict[Option, int] = {}
    failed: VoteRejected | None = None
    for option, vote in HARMLESS.items():
        try:
            backend.set_power_config(power_config_id, VoteSet.of({option: vote}))
            answers[option] = SUCCESS
        except VoteRejected as rejected:
            answers[option] = rejected.code
            if option is Option.DCVS_V3 or rejected.code not in NOT_ON_THIS_PLATFORM:
                failed = failed or rejected
    try:
        backend.destroy_power_config_id(power_config_id)
    except VoteRejected as rejected:
        failed = failed or rejected
    return answers, failed


def _profiles(description: Description, answers: dict[Option, int], folders: Iterable[str]) -> tuple[ProfileHere, ...]:
    missing = Missing()
    planner = Planner(description.platform, missing, strict=False)
    for option, code in answers.items():
        # The planner itself leaves out what the table of platforms lacks. It also knows that a default HMX vote can be
        # left out.
        if code != SUCCESS and (description.platform is None or description.platform.has(option)):
            message = f"the library returns {code} {code_name(code)} for {option.name}"
            missing.add(Degradation(VOTE_OPTIONS[option].rule_if_missing, message, option))
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


def _steps(description: Description, rejected: VoteRejected | None) -> tuple[str, ...]:
    if rejected is not None:
        return (what_to_do_at_start(rejected.code, rejected.function),)
    passed_over = [step.origin for step in description.tried[:-1] if step.origin in SDK_VARIABLES]
    steps = [f"{name} is set, but the library is not from there: see tried" for name in dict.fromkeys(passed_over)]
    return (*steps, *(() if description.hardware else (_ON_A_DEVICE,)))
