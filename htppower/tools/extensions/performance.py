"""Turns the settings of a core or a graph into a profile with the votes that they cause.

A vendor's profile name stands for the shipped profile with that name, since the shipped ones match the vendor's own
voter. Settings that no profile here can express become remarks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.profiles.loading import load_profile
from htppower.profiles.profile import PowerState, Profile, Relax
from htppower.profiles.sustain import VENDOR_SUSTAIN_US
from htppower.rules import table as rules
from htppower.rules.case import Case
from htppower.tools.extensions.clock_blocks import DEINIT_DONE, INFERENCE_DONE, INFERENCE_START, Blocks, custom_votes
from htppower.tools.extensions.extension_file import Remark, as_inner
from htppower.tools.extensions.keys import LLM_DECODE, Section
from htppower.tools.extensions.one_core import as_one_core
from htppower.tools.extensions.refusals import refused
from htppower.votes.clock_votes import HMX_DEFAULT
from htppower.votes.vote_set import LIMITS, VoteSet

if TYPE_CHECKING:
    from htppower.errors import Place
    from htppower.tools.extensions.clock_blocks import CustomVotes
    from htppower.tools.extensions.extension_file import Block, ExtensionFile
    from htppower.tools.extensions.json_parser import Node

DEFAULT_PROFILE = "high_performance"
# The power states of an imported profile if no shipped one is equal; they are named after the profile.
RELAXED, RELEASED = "relaxed", "released"
_SILENT = PowerState(RELAXED, "No votes on clocks, and no polling.", VoteSet(rpc_polling_time_us=0))
# The votes of the vendor's voter for each profile if the file has no value.
_DEFAULT_LATENCY_US = 100
_POLLING = LIMITS[VoteSet, "rpc_polling_time_us"]
_TIMEOUT = LIMITS[VoteSet, "hmx_timeout_us"]


@attrs.frozen
class Performance:
    """A vendor's profile as a profile of htppower.

    Attributes:
        perf_profile: the vendor's name for it.
        profile: the same votes; its name and summary are not set yet.
        remarks: settings that the profile does not express.
    """

    perf_profile: str
    profile: Profile
    remarks: tuple[Remark, ...]


def core_performance(file: ExtensionFile, core: Block | None) -> Performance:
    """Return the votes of a core's settings; without a core, the default votes of the vendor's voter."""
    return _performance(file, core, _name(core))


def graph_performance(file: ExtensionFile, core: Block | None, graph: Block) -> Performance:
    """Return the votes for a graph's inferences, with the other settings of its core."""
    node = graph.get("perf_profile")
    found = _performance(file, core, _name(graph))
    if node is None or found.perf_profile == _name(core):
        return found
    says = f"only for the inferences of these graphs; INIT and DE-INIT vote like the core's {_name(core)}"
    return attrs.evolve(found, remarks=(*found.remarks, Remark(file.place(node), says)))


def votes_of_genie(file: ExtensionFile) -> str:
    """Return a text about the profile that Genie votes for a file; Genie reads both kinds as an inner file."""
    if refused(file):
        return "refuses it and votes nothing"
    _, cores = as_one_core(as_inner(file))
    return f"votes {_name(next((each.core for each in cores if each.device == 0), None))}"


def _name(block: Block | None) -> str:
    return DEFAULT_PROFILE if block is None else block.word("perf_profile") or DEFAULT_PROFILE


def _performance(file: ExtensionFile, core: Block | None, name: str) -> Performance:
    remarks: list[Remark] = []
    place = file.text.place(0 if core is None else core.node.start)
    is_custom = name == "custom" and core is not None and core.get("custom") is not None
    if is_custom and core is not None:
        votes, relax = _custom(custom_votes(file, core), core, file, remarks)
    else:
        votes, relax = _named(name, place, remarks)
        unused = None if core is None else core.get("custom")
        if unused is not None and _name(core) != "custom":
            remarks.append(Remark(file.place(unused), f"custom with perf_profile {name} is not voted; omitted"))
    votes = _with_process_votes(file, core, votes, remarks, named=not is_custom)
    if not votes:
        says = "the vendor's voter votes an RPC control latency of 100 us for system_settings, too; omitted"
        remarks.append(Remark(place, says))
    # The votes on the matrix unit next to a profile: none or one.
    beside = () if core is None else file.of(Section.CORE_HMX, core.at)
    if beside:
        blocks = Blocks(file)
        votes = attrs.evolve(votes, hmx_v2=blocks.hmx(beside[0]))
        says = "hmxControl next to a profile is read as its raised vote; the x86 library (measured) does not send it"
        remarks += [*blocks.remarks, Remark(file.place(beside[0].node), says)]
    votes = _valid(votes, place, remarks)
    if votes and relax is None:
        relax = Relax(_SILENT, 0, 0)
    return Performance(name, Profile(name, "", votes, relax), tuple(dict.fromkeys(remarks)))


def _named(name: str, place: Place, remarks: list[Remark]) -> tuple[VoteSet, Relax | None]:
    """Return the votes of a profile that the vendor names."""
    if name == "custom":
        remarks.append(Remark(place, "perf_profile custom, but its core has no custom; nothing is voted"))
        name = "system_settings"
    if name == "default":
        relaxed = load_profile("balanced")
        if relaxed.relax is not None:
            remarks.append(Remark(place, "default is never raised: it votes its relaxed state around each inference"))
            return attrs.evolve(relaxed.relax.to.votes, rpc_control_latency_us=100), relaxed.relax
    if name.startswith(LLM_DECODE):
        says = "llm_decode profiles are raised on V79 and later only, for decoding"
        remarks.append(Remark(place, says))
    shipped = load_profile(name)
    return shipped.votes, shipped.relax


def _custom(
    custom: CustomVotes, core: Block, file: ExtensionFile, remarks: list[Remark]
) -> tuple[VoteSet, Relax | None]:
    """Return the votes of a custom profile, and its power states: the votes in force once inferences have begun."""
    node = core.get("custom") or core.node
    place = file.place(node)
    remarks += custom.remarks
    raised = custom.in_force[INFERENCE_START]
    relaxed, released = custom.in_force[INFERENCE_DONE], custom.in_force[DEINIT_DONE]
    for state, votes in custom.in_force.items():
        expected = raised if state.endswith("_start") else relaxed
        if state != DEINIT_DONE and votes != expected:
            instead = "the votes of inferences" if expected is raised else "the votes after inferences"
            remarks.append(Remark(place, f"{state} has votes of its own; a profile has {instead} there"))
    lowered = [custom.cast.get(state) for state in (INFERENCE_DONE, DEINIT_DONE)]
    if any(votes is None or votes.hvx is None for votes in lowered):
        says = "no clocks for inference_done or for deinit_done: the votes before stay until the id is destroyed"
        remarks.append(Remark(place, says))
    if not raised:
        remarks.append(Remark(place, "no clocks for init_start or inference_start: nothing is raised"))
    states = [
        PowerState(name, f"The votes after {said}.", _lowered(_valid(votes, place, remarks), raised, place, remarks))
        for name, said, votes in ((RELAXED, "an inference", relaxed), (RELEASED, "DE-INIT", released))
    ]
    to, after_deinit_to = (_shipped_state(state) for state in states)
    sustain_us = VENDOR_SUSTAIN_US if custom.sustains else 0
    if after_deinit_to.votes == to.votes:
        after_deinit_to = to
    return raised, Relax(to, 0, sustain_us, after_deinit_to=after_deinit_to)


def _lowered(votes: VoteSet, raised: VoteSet, place: Place, remarks: list[Remark]) -> VoteSet:
    """Return the votes of a power state: without polling, and with sleep enabled if a raise disables it (DCVS-4)."""
    votes = attrs.evolve(votes, rpc_polling_time_us=0)
    hvx = votes.hvx
    if raised.hvx is None or not raised.hvx.sleep_disable or hvx is None or hvx.sleep_disable is False:
        return votes
    if hvx.sleep_disable:
        remarks.append(Remark(place, "sleep stays disabled when the votes are lowered; enabled here (DCVS-4)"))
    cleared: Any = attrs.evolve(hvx, sleep_disable=False)
    return attrs.evolve(votes, **{votes.hvx_field: cleared})


def _shipped_state(state: PowerState) -> PowerState:
    """Return the shipped power state with the same votes, or the state itself."""
    for name in ("burst", "balanced", "extreme_power_saver"):
        relax = load_profile(name).relax
        for shipped in () if relax is None else (relax.to, relax.after_deinit_to):
            if shipped.votes == state.votes:
                return shipped
    return state


def _valid(votes: VoteSet, place: Place, remarks: list[Remark]) -> VoteSet:
    """Return votes without those that a rule refuses; an HMX vote becomes the default."""
    while broken := rules.errors(Case(votes)):
        finding = broken[0]
        field = finding.at[1]
        instead: Any = HMX_DEFAULT if field == "hmx_v2" and votes.hvx is not None else None
        if getattr(votes, field) == instead:
            break
        votes = attrs.evolve(votes, **{field: instead})
        remarks.append(Remark(place, f"{finding.message} ({finding.rule}); {'default' if instead else 'omitted'} here"))
    return votes


def _with_process_votes(
    file: ExtensionFile, core: Block | None, votes: VoteSet, remarks: list[Remark], *, named: bool
) -> VoteSet:
    """Return the votes of a profile with the core's additional votes, which are sent when the device is created.

    Args:
        file: the file.
        core: the core; None if the file has no core.
        votes: the votes of the profile.
        remarks: remarks on settings that can't be expressed are added here.
        named: whether it is a vendor's profile, with the vendor's latency and polling.
    """
    stated = _Stated(file, core, remarks)
    said: dict[str, Any] = {
        "rpc_control_latency_us": stated.number("rpc_control_latency"),
        "rpc_polling_time_us": stated.polling_us(),
        "hmx_timeout_us": stated.timeout_us(),
        "ddr_perf_mode": stated.ddr(),
    }
    asks = said["rpc_control_latency_us"] or said["rpc_polling_time_us"]
    if not votes and not asks and said["hmx_timeout_us"] is None and said["ddr_perf_mode"] is None:
        return votes  # system_settings: a latency of 0 is not a vote
    if not named or not votes:
        said = {"rpc_control_latency_us": _DEFAULT_LATENCY_US, "rpc_polling_time_us": 0, **_but_none(said)}
    votes = attrs.evolve(votes, **_but_none(said))
    adaptive_us = stated.number("adaptive_polling_time")
    if adaptive_us and not votes.rpc_polling_time_us:
        stated.remark("adaptive_polling_time", "adaptive polling without polling is not voted; omitted")
    elif adaptive_us:
        votes = attrs.evolve(votes, adaptive_polling_time_us=adaptive_us)
    return votes


def _but_none(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


class _Stated:
    """The keys of a core."""

    def __init__(self, file: ExtensionFile, core: Block | None, remarks: list[Remark]) -> None:
        self._file = file
        self._core = core
        self._remarks = remarks

    def number(self, name: str) -> int | None:
        number = None if self._core is None else self._core.number(name)
        node = self._node(name)
        if node is not None and number is None:
            self.remark(name, f"{name} is {node.value}, which is not a number of us; omitted")
        return number

    def polling_us(self) -> int | None:
        polling_us = self.number("rpc_polling_time")
        if polling_us is None or _POLLING.hold(polling_us):
            return polling_us
        says = f"a polling time of {polling_us} us is voted unchanged; {_POLLING.high} here, the documented maximum"
        self.remark("rpc_polling_time", says)
        return _POLLING.high

    def timeout_us(self) -> int | None:
        timeout_us = self.number("hmx_timeout_us")
        if timeout_us is None or _TIMEOUT.hold(timeout_us):
            return timeout_us
        says = f"the library refuses an HMX timeout of {timeout_us} us, and the run continues without it; omitted"
        self.remark("hmx_timeout_us", says)
        return None

    def ddr(self) -> bool | None:
        node = self._node("ddr_perf_mode")
        if node is None:
            return None
        if node.value:
            says = "if the chip lacks the DDR performance mode, the vendor's voter loses the raised votes, too"
            self.remark("ddr_perf_mode", f"{says}; a session of htppower loses only this vote")
        return bool(node.value)

    def remark(self, name: str, says: str) -> None:
        node = self._node(name)
        if node is not None:
            self._remarks.append(Remark(self._file.place(node), says))

    def _node(self, name: str) -> Node | None:
        return None if self._core is None else self._core.get(name)
