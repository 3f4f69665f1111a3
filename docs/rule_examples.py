"""One example of the message of every rule: a profile file, or a call, that breaks it, and what is then said.

The messages in ``rules.md`` are made by running these, so they are what a user sees.
"""

from __future__ import annotations

import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import ProfileError
from htppower.profiles.discovery import shipped_folder
from htppower.profiles.loading import load_profile
from htppower.rules import file_rules
from htppower.rules import table as rules
from htppower.rules.case import Case
from htppower.rules.platforms import platform_of
from htppower.votes.clock_votes import CENG_DEFAULT, DcvsV3Exp, ExpandedRange, HmxV2
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode
from htppower.votes.vote_set import VoteSet

FILE_RULES = {rule.id: rule.says for rule in file_rules.FILE_RULES}

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.rules.platforms import Platform


@attrs.frozen
class Example:
    """One breach.

    Attributes:
        given: what breaks the rule, in one line of Markdown.
        said: the message, without the rule's id; empty where there is none.
    """

    given: str
    said: str


def examples() -> dict[str, Example]:
    """Return an example for every rule of the votes and every rule of the files, in the order of the page."""
    made = {rule_id: make() for rule_id, make in (_OF_VOTES | _OF_FILES).items()}
    return {rule_id: made[rule_id] for rule_id in (*rules.RULES, *FILE_RULES)}


def burst(changes: str) -> str:
    """Return a profile file that extends burst."""
    return f"profile: mine\nextends: burst\nsummary: Mine.\n{textwrap.dedent(changes)}"


def complete(old: str, new: str) -> str:
    """Return the shipped burst as a file of one's own, with one change."""
    text = (shipped_folder() / "burst.yaml").read_text(encoding="utf-8").replace("burst", "mine", 1)
    if old not in text:
        raise ValueError(f"no {old!r} in burst.yaml")
    return text.replace(old, new, 1)


def problems(text: str | bytes, *others: tuple[str, str]) -> tuple[str, ...]:
    """Return the problems of a profile file as lines, the first of each that a breach causes included."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in others:
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).write_text(content, encoding="utf-8")
        file = Path(folder) / "mine.yaml"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        try:
            load_profile(file)
        except ProfileError as error:
            shipped = str(shipped_folder())
            said = (str(problem).replace(f"{folder}/", "") for problem in error.problems)
            return tuple(line.replace(shipped, "profiles") for line in said)
    return ()


def _in_file(rule_id: str, given: str, text: str | bytes, *others: tuple[str, str]) -> Example:
    lines = [line for line in problems(text, *others) if f": {rule_id}: " in line]
    if not lines:
        raise ValueError(f"no example of {rule_id}")
    return Example(given, lines[0])


def _extending(rule_id: str, votes: str) -> Example:
    return _in_file(rule_id, f"`{votes}`", burst(f"votes: {{{votes}}}"))


def _finding(rule_id: str, given: str, case: Case) -> Example:
    (finding, *_) = rules.check(case, [rule_id])
    hint = f" ({finding.hint})" if finding.hint else ""
    return Example(given, f"{rule_id}: {finding.message}{hint}")


def _shipped(rule_id: str, given: str, platform: Platform | None = None, **votes: Any) -> Example:
    """Return the finding on burst with other votes."""
    case = load_profile("burst").case(platform)
    return _finding(rule_id, given, case._replace(votes=attrs.evolve(case.votes, **votes)))


def _short_sustain() -> Example:
    case = load_profile("burst").case()._replace(after_inference_us=5000)
    return _finding("SUS-1", "`after_inference_us: 5000`", case)


def _in_background() -> Example:
    case = load_profile("burst").case()._replace(in_background=True)
    return _finding("SUS-3", "`lowering: background` in a profile that extends burst", case)


_EXPLICIT = HmxV2(ExpandedCorner.NOM, ExpandedCorner.TUR, ExpandedCorner.TUR, ClkPerfMode.HIGH)
_BURST = load_profile("burst").votes
_HVX_EXP = DcvsV3Exp(
    power_mode=PowerMode.PERFORMANCE,
    sleep_latency_us=40,
    sleep_disable=None,
    bus=ExpandedRange.at(ExpandedCorner.TUR_L1),
    core=ExpandedRange.at(ExpandedCorner.TUR_L1),
    core_perf_mode=ClkPerfMode.HIGH,
    bus_perf_mode=ClkPerfMode.HIGH,
)
_NO_CLOCK = load_profile("extreme_power_saver").votes


def _unsaid() -> Example:
    case = Case(VoteSet(dcvs_v3=_BURST.dcvs_v3), in_force=VoteSet(dcvs_v3=_BURST.dcvs_v3, hmx_v2=_EXPLICIT))
    return _finding("HMX-5", "a set without `hmx_v2`, after an explicit HMX vote", case)


def _changed() -> Example:
    case = Case(
        VoteSet(hmx_v2=attrs.evolve(_EXPLICIT, min=ExpandedCorner.TUR)),
        in_force=VoteSet(dcvs_v3=_NO_CLOCK.dcvs_v3, hmx_v2=_EXPLICIT),
    )
    return _finding("HMX-6", "another HMX vote while the HVX vote of the id is DISABLE", case)


_HMX = "hmx_v2: {min: TUR, target: TUR, max: TUR, perf_mode: HIGH}"

_CENG = "ceng: {min: SVS, target: NOM, max: NOM, perf_mode: HIGH}"
_EXPANDED = (
    "dcvs_v3_exp: {power_mode: PERFORMANCE, sleep_latency_us: 40, sleep_disable: unset, bus: TUR_L1, core: TUR_L1, "
    "core_perf_mode: HIGH, bus_perf_mode: HIGH}"
)

_OF_VOTES: dict[str, Callable[[], Example]] = {
    "DCVS-1": lambda: _extending("DCVS-1", "dcvs_v3: {sleep_latency_us: 5}"),
    "DCVS-2": lambda: _extending("DCVS-2", "dcvs_v3: {core: {min: TURBO, target: NOM, max: TURBO}}"),
    "DCVS-3": lambda: _shipped("DCVS-3", "burst as it is shipped"),
    "DCVS-4": lambda: _extending("DCVS-4", "dcvs_v3: {sleep_disable: true}"),
    "DCVS-5": lambda: _extending("DCVS-5", _EXPANDED),
    "DCVS-6": lambda: _shipped(
        "DCVS-6", "`dcvs_v3_exp` on V81", platform_of(arch=81), dcvs_v3=None, dcvs_v3_exp=_HVX_EXP
    ),
    "HMX-1": lambda: _shipped("HMX-1", f"`{_HMX}` on V73", platform_of(arch=73), hmx_v2=_EXPLICIT),
    "HMX-2": lambda: Example("`hmx_v2: default` beside `dcvs_v3`", ""),
    "HMX-3": lambda: _extending("HMX-3", f"dcvs_v3: {{core: DISABLE}}, {_HMX}"),
    "HMX-4": lambda: Example("`hmx_v2: unset`", ""),
    "HMX-5": _unsaid,
    "HMX-6": _changed,
    "HMX-7": lambda: Example("`session.close()`", ""),
    "HMX-8": lambda: _extending("HMX-8", "hmx_v2: {min: TUR, target: NOM, max: TUR, perf_mode: HIGH}"),
    "CENG-1": lambda: _shipped("CENG-1", f"`{_CENG}` on V73", platform_of(arch=73), ceng=CENG_DEFAULT),
    "CENG-2": lambda: _extending("CENG-2", f"dcvs_v3: unset, hmx_v2: unset, {_CENG}"),
    "CENG-3": lambda: _extending("CENG-3", f"{_CENG}, ceng_exp: {{min: SVS, target: NOM, max: NOM, perf_mode: HIGH}}"),
    "CENG-4": lambda: _extending("CENG-4", "ceng: {min: NOM, target: SVS, max: NOM, perf_mode: HIGH}"),
    "RPC-1": lambda: _extending("RPC-1", "rpc_polling_time_us: 10000"),
    "RPC-2": lambda: _extending("RPC-2", "rpc_polling_time_us: 0, adaptive_polling_time_us: 1000"),
    "RPC-3": lambda: _shipped("RPC-3", "`adaptive_polling_time_us: 500`", adaptive_polling_time_us=500),
    "RPC-4": lambda: _shipped("RPC-4", "burst on QNX", platform_of(arch=75, os="qnx")),
    "RPC-5": lambda: _shipped("RPC-5", "`rpc_control_latency_us: 0`", rpc_control_latency_us=0),
    "RPC-6": lambda: _finding(
        "RPC-6",
        "`rpc_polling_time_us: 100` in a profile that extends balanced",
        load_profile("burst").case()._replace(lineage=("mine", "balanced")),
    ),
    "TMR-1": lambda: _extending("TMR-1", "hmx_timeout_us: 50"),
    "DDR-1": lambda: _extending("DDR-1", "ddr_perf_mode: true, dcvs_v3: {bus: TURBO}"),
    "SUS-1": _short_sustain,
    "SUS-2": lambda: _in_file("SUS-2", "`relax: unset`", burst("relax: unset")),
    "SUS-3": _in_background,
}


# The rules of files. The code that reports their breaches is in strict_yaml.py, typed_fields.py and discovery.py.
def _missing() -> Example:
    try:
        load_profile("./mine.yaml")
    except ProfileError as error:
        return Example("the path of a file that does not exist", str(error))
    raise ValueError("there is a mine.yaml")


_OF_FILES: dict[str, Callable[[], Example]] = {
    "FILE-1": _missing,
    "FILE-2": lambda: _in_file("FILE-2", "a file of 2 MiB", b"#" * 2**21),
    "FILE-3": lambda: _in_file("FILE-3", "a file saved as Latin-1", "profile: m\xfcde\n".encode("latin-1")),
    "YAML-1": lambda: _in_file("YAML-1", "`profile: [mine`", "profile: [mine\n"),
    "YAML-2": lambda: _in_file("YAML-2", "`summary:` twice", burst("summary: Again.\n")),
    "YAML-3": lambda: _extending("YAML-3", "dcvs_v3: {dcvs_enable: on}"),
    "YAML-4": lambda: _in_file("YAML-4", "`votes: &a {dcvs_v3: *a}`", burst("votes: &a {dcvs_v3: *a}\n")),
    "YAML-5": lambda: _in_file("YAML-5", "`<<: *base`", burst("votes: &base {hmx_v2: default}\nrelax: {<<: *base}\n")),
    "KEY-1": lambda: _extending("KEY-1", "dcvs_v3: {sleep_latency: 40}"),
    "KEY-2": lambda: _in_file(
        "KEY-2",
        "`hmx_timeout_us` left out of a file that extends nothing",
        complete("  hmx_timeout_us: unset\n", ""),
    ),
    "TYPE-1": lambda: _extending("TYPE-1", 'rpc_polling_time_us: "9999"'),
    "VALUE-1": lambda: _extending("VALUE-1", "dcvs_v3: {bus: TURB}"),
    "NAME-1": lambda: _in_file("NAME-1", "`relax: {to: relax}`", burst("relax: {to: relax}\n")),
    "EXT-1": lambda: _in_file(
        "EXT-1",
        "two files that extend each other",
        burst("").replace("burst", "./other.yaml"),
        ("other.yaml", "profile: other\nextends: ./mine.yaml\n"),
    ),
}
