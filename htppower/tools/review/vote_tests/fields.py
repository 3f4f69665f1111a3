"""A test file, as attrs classes. The types of the fields decide how it is read, and make its JSON Schema."""

from typing import Any, ClassVar

import attrs

from htppower.events import State
from htppower.profiles.field_limits import wanted
from htppower.profiles.sustain import LONGEST_SUSTAIN_US
from htppower.profiles.typed_fields import StatedVotes
from htppower.rules import table as rules
from htppower.rules.platforms import ARCHITECTURES, OPERATING_SYSTEMS
from htppower.rules.socs import SOCS
from htppower.votes.options import LARGEST_UINT32, VOTE_OPTIONS

# Annotations are not postponed here: the types of the fields are read, and resolving them would slow the start.

_DURATION: dict[str, Any] = {"limits": (0, LONGEST_SUSTAIN_US)}
# A day, which is longer than any sequence of hour-long steps that is still readable.
_TIME: dict[str, Any] = {"limits": (0, 24 * LONGEST_SUSTAIN_US)}
_AFTER_ALL = "in us from the start of the case; left out, it begins once all before it has ended."
# The rules that degrade votes on a platform.
_DEGRADING = tuple(
    sorted({*rules.ids(lambda rule: rule.degrades), *(about.rule_if_missing for about in VOTE_OPTIONS.values())} - {""})
)
_SYSTEM = wanted("its operating system; linux if it is left out.", words=OPERATING_SYSTEMS, optional=True)


def _optional(says: str, **wants: Any) -> Any:
    """Return a field that may be left out; then it is None."""
    return attrs.field(default=None, metadata=wanted(says, **wants, optional=True))


@attrs.frozen(repr=False, eq=False)
class SocFields:
    """``platform`` by its SoC."""

    SAYS: ClassVar[str] = "A platform, by its SoC."

    soc: str = attrs.field(
        metadata=wanted("its part number, such as SM8650.", words=tuple(name for soc in SOCS for name in soc.names))
    )
    os: str = attrs.field(default="linux", metadata=_SYSTEM)


@attrs.frozen(repr=False, eq=False)
class ArchFields:
    """``platform`` by its architecture."""

    SAYS: ClassVar[str] = "A platform, by its Hexagon architecture."

    arch: str = attrs.field(
        metadata=wanted("the architecture, such as V75.", words=tuple(f"V{arch}" for arch in ARCHITECTURES))
    )
    os: str = attrs.field(default="linux", metadata=_SYSTEM)


@attrs.frozen(repr=False, eq=False)
class InitStep:
    """A step ``init_us``."""

    SAYS: ClassVar[str] = "INIT: a graph is initialised."

    init_us: int = attrs.field(metadata=wanted("how long INIT takes, in us.", **_DURATION))
    at_us: int | None = _optional(f"when it begins, {_AFTER_ALL}", **_TIME)


@attrs.frozen(repr=False, eq=False)
class InferenceStep:
    """A step ``inference_us``."""

    SAYS: ClassVar[str] = "INFERENCE: one run of the graph."

    inference_us: int = attrs.field(metadata=wanted("how long the inference takes, in us.", **_DURATION))
    at_us: int | None = _optional(
        f"when it begins, {_AFTER_ALL} One that begins earlier overlaps what is still running.", **_TIME
    )


@attrs.frozen(repr=False, eq=False)
class IdleStep:
    """A step ``idle_us``."""

    SAYS: ClassVar[str] = "Nothing runs."

    idle_us: int = attrs.field(metadata=wanted("for how long, in us, once all before it has ended.", **_DURATION))


@attrs.frozen(repr=False, eq=False)
class UseStep:
    """A step ``use``."""

    SAYS: ClassVar[str] = "The session's profile is changed."

    use: str = attrs.field(metadata=wanted("the new profile, by name or by path."))
    at_us: int | None = _optional(f"when, {_AFTER_ALL}", **_TIME)


@attrs.frozen(repr=False, eq=False)
class RestartStep:
    """A step ``subsystem_restart``."""

    SAYS: ClassVar[str] = (
        "The DSP subsystem restarts: every vote is lost, and the next call to the library returns 1007."
    )

    subsystem_restart: bool = attrs.field(metadata=wanted("true.", only=True))
    at_us: int | None = _optional(f"when, {_AFTER_ALL}", **_TIME)


@attrs.frozen(repr=False, eq=False)
class DeinitStep:
    """A step ``deinit_us``."""

    SAYS: ClassVar[str] = "DE-INIT: a graph is released."

    deinit_us: int = attrs.field(metadata=wanted("how long DE-INIT takes, in us.", **_DURATION))
    at_us: int | None = _optional(f"when it begins, {_AFTER_ALL}", **_TIME)


PlatformFields = SocFields | ArchFields
StepFields = InitStep | InferenceStep | IdleStep | UseStep | RestartStep | DeinitStep


@attrs.frozen(repr=False, eq=False)
class ExpectFields:
    """An item of ``expect``."""

    SAYS: ClassVar[str] = "What holds at a time, once all that is due then has run; only stated fields are checked."

    at_us: int = attrs.field(metadata=wanted("when, in us from the start of the case.", **_TIME))
    state: str | None = _optional(
        "the session's state.", words=tuple(str(state) for state in State if state != "DESTROYED")
    )
    votes: StatedVotes | None = attrs.field(
        default=None,
        metadata=wanted(
            "the votes in force on the power config id, written as in a profile; unset: no vote on any option.",
            optional=True,
        ),
    )
    calls: int | None = _optional(
        "how many native calls were made since the previous expectation, or since the start of the case.",
        limits=(0, LARGEST_UINT32),
    )
    sent: tuple[str, ...] | None = _optional(
        "the options that those calls carried, such as DCVS_V3, in any order; [] for none.",
        words=tuple(option.name for option in VOTE_OPTIONS),
        each_once=True,
    )
    degraded: tuple[str, ...] | None = _optional(
        "the rules that leave out a vote of the profile on the platform, in any order; [] for none.",
        words=_DEGRADING,
        each_once=True,
    )


@attrs.frozen(repr=False, eq=False)
class CaseFields:
    """An item of ``cases``."""

    SAYS: ClassVar[str] = "One case: a fresh session, what happens to it, and what is expected."

    case: str = attrs.field(metadata=wanted("what it is about, in a few words.", one_line=True))
    sequence: tuple[StepFields, ...] = attrs.field(
        metadata=wanted("what happens, in the order of the beginnings.", fewest=1)
    )
    expect: tuple[ExpectFields, ...] = attrs.field(metadata=wanted("what holds, in the order of time.", fewest=1))
    profile: str | None = _optional("the profile, by name or by path, if it differs from the file's.")
    platform: PlatformFields | None = attrs.field(
        default=None, metadata=wanted("the platform, if it differs from the file's.", optional=True)
    )


@attrs.frozen(repr=False, eq=False)
class VoteTestFields:
    """The content of a test file."""

    SAYS: ClassVar[str] = "Expected states and votes of a profile."

    test: str = attrs.field(metadata=wanted("its name.", is_name=True))
    summary: str = attrs.field(metadata=wanted("one sentence.", one_line=True))
    profile: str = attrs.field(metadata=wanted("the profile that is tested, by name or by path."))
    platform: PlatformFields = attrs.field(metadata=wanted("the platform."))
    cases: tuple[CaseFields, ...] = attrs.field(metadata=wanted("the cases, each with a session of its own.", fewest=1))
