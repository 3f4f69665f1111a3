"""The keys of the profile ``custom``: its items, its old object form, and the votes in both."""

from __future__ import annotations

from htppower.tools.extensions.keys import UINT32, Key, Section, Source, Type
from htppower.votes.corners import ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.option import Limits

_EXPANDED = "DCVS_EXP_VCORNER_"

# The times when an item is voted: before and after INIT, INFERENCE and DE-INIT.
GRAPH_STATES = ("init_start", "inference_start", "deinit_start", "init_done", "inference_done", "deinit_done")
CORNERS = tuple(corner.enumerator for corner in VoltageCorner)
# All names of the corners; the parser accepts the names that are new in 2.50 only from 2.50 on.
EXPANDED_CORNERS = tuple(f"{_EXPANDED}{name}" for name in ExpandedCorner.__members__)
POWER_MODES = tuple(mode.enumerator for mode in PowerMode)
DEFAULT_POWER_MODE = PowerMode.POWER_SAVER.enumerator
DEFAULT_SLEEP_LATENCY_US = 1000

_SINCE_2_48 = (2, 48)
_PERF_MODE = Limits(0, 255)


def _key(section: Section, name: str, kind: Type, does: str, **more: object) -> Key:
    return Key(section, name, kind, does, source=Source.MEASURED, power=True, **more)  # type: ignore[arg-type]


def _corners(section: Section, clock: str, words: tuple[str, ...], *, required: bool = True) -> tuple[Key, ...]:
    what = {"Min": "lowest", "Target": "wanted", "Max": "highest"}
    return tuple(
        _key(
            section,
            f"{clock}VoltageCorner{limit}",
            Type.WORD,
            f"The {said} corner of the {clock} clock.",
            words=words,
            required=required,
        )
        for limit, said in what.items()
    )


def _clocks(section: Section, words: tuple[str, ...]) -> tuple[Key, ...]:
    return (*_corners(section, "bus", words), *_corners(section, "core", words))


def _block(name: str, does: str, since: tuple[int, int] = (2, 47)) -> Key:
    return _key(Section.CUSTOM_ITEM, name, Type.OBJECT, does, since=since)


def _perf_mode(section: Section, name: str, clock: str) -> Key:
    return _key(
        section, name, Type.INTEGER, f"Which frequency of the {clock} corner: 0 the highest.", limits=_PERF_MODE
    )


def _sleep_and_mode(section: Section) -> tuple[Key, ...]:
    return (
        _key(
            section,
            "powerMode",
            Type.WORD,
            "How eagerly DCVS moves the clocks.",
            words=POWER_MODES,
            default=DEFAULT_POWER_MODE,
        ),
        _key(
            section,
            "sleep_latency_us",
            Type.INTEGER,
            "The longest tolerated wake-up time, in us.",
            default=DEFAULT_SLEEP_LATENCY_US,
            limits=UINT32,
            useful=Limits(10, 65535),
        ),
    )


_ENABLE = "Whether DCVS may move the clocks."
_SUSTAIN = "Whether the votes stay up for 300 ms after the last inference."

CUSTOM_KEYS = (
    _key(
        Section.CUSTOM_ITEM,
        "graphState",
        Type.TEXTS,
        "When the item is voted.",
        words=GRAPH_STATES,
        required=True,
        note="Not empty, and no state twice. A state that no item names keeps the votes of the state before.",
    ),
    _key(
        Section.CUSTOM_ITEM,
        "sustainInferencePerfState",
        Type.BOOL,
        _SUSTAIN,
        default=False,
        note="The last item with this key decides for all items.",
    ),
    _block("dcvsControl", "The votes on the core and bus clocks."),
    _block("dcvsExpControl", "The votes on the core and bus clocks in expanded corners.", _SINCE_2_48),
    _block("hmxControl", "The vote on the matrix unit."),
    _block("cengControl", "The vote on the compression engine."),
    _block("cengExpControl", "The vote on the compression engine in expanded corners.", _SINCE_2_48),
    *_clocks(Section.DCVS, CORNERS),
    _key(Section.DCVS, "enableDcvs", Type.BOOL, _ENABLE, default=True),
    *_sleep_and_mode(Section.DCVS),
    *_clocks(Section.DCVS_EXP, EXPANDED_CORNERS),
    *_sleep_and_mode(Section.DCVS_EXP),
    _key(
        Section.DCVS_EXP,
        "sleepDisable",
        Type.INTEGER,
        "Whether the DSP is kept from sleeping: 1 or 0, since true and false refuse the file.",
        default=0,
    ),
    _perf_mode(Section.DCVS_EXP, "corePerfMode", "core"),
    _perf_mode(Section.DCVS_EXP, "busPerfMode", "bus"),
    _key(
        Section.HMX,
        "hmxPickDefault",
        Type.INTEGER,
        "1 if the matrix unit's clock follows the core's: true and false refuse the file.",
    ),
    _perf_mode(Section.HMX, "hmxPerfMode", "hmx"),
    *_corners(Section.HMX, "hmx", EXPANDED_CORNERS, required=False),
    _key(
        Section.CORE_HMX,
        "hmxPickDefault",
        Type.INTEGER,
        "1 if the matrix unit's clock follows the core's.",
    ),
    _perf_mode(Section.CORE_HMX, "hmxPerfMode", "hmx"),
    *_corners(Section.CORE_HMX, "hmx", EXPANDED_CORNERS, required=False),
    *_corners(Section.CENG, "ceng", CORNERS),
    _perf_mode(Section.CENG, "cengPerfMode", "ceng"),
    *_corners(Section.CENG_EXP, "ceng", EXPANDED_CORNERS),
    _perf_mode(Section.CENG_EXP, "cengPerfMode", "ceng"),
    _key(Section.CUSTOM_OBJECT, "dcvsControl", Type.OBJECT, "The votes on the core and bus clocks.", required=True),
    _key(Section.CUSTOM_OBJECT, "hmxControl", Type.OBJECT, "The vote on the matrix unit."),
    _key(Section.CUSTOM_OBJECT, "cengControl", Type.OBJECT, "The vote on the compression engine."),
    *(
        key._replace(type=Type.OBJECT, does=key.does.replace("corner", "corners, start and done,", 1))
        for key in _clocks(Section.DCVS_OBJECT, CORNERS)
    ),
    _key(Section.DCVS_OBJECT, "sustainVote", Type.BOOL, _SUSTAIN, default=False),
    _key(Section.DCVS_OBJECT, "enableDcvs", Type.BOOL, _ENABLE, default=True),
    *_sleep_and_mode(Section.DCVS_OBJECT),
    _key(Section.DCVS_OBJECT, "sleep_disable", Type.BOOL, "No effect: it is read, but 0 is voted."),
    _key(Section.CORNER_PAIR, "start", Type.WORD, "The corner while raised.", words=CORNERS, required=True),
    _key(Section.CORNER_PAIR, "done", Type.WORD, "The corner after INIT and INFERENCE.", words=CORNERS, required=True),
)
