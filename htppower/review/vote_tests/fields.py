"""A test file, as attrs classes: the types of the fields say how it is read, and make its JSON Schema."""

import attrs

from htppower.events import State
from htppower.profiles.field_limits import wanted
from htppower.profiles.file_format import LONGEST_SUSTAIN_US
from htppower.profiles.typed_fields import StatedVotes
from htppower.rules.platforms import ARCHITECTURES, OPERATING_SYSTEMS
from htppower.rules.socs import SOCS
from htppower.votes.options import LARGEST_UINT32, VOTE_OPTIONS

# No postponed annotations here: the types of the fields are read, and resolving them would cost start-up.

_DURATION = wanted(limits=(0, LONGEST_SUSTAIN_US))
# A day: longer than any sequence of an hour's steps that somebody would read.
_TIME = wanted(limits=(0, 24 * LONGEST_SUSTAIN_US))
_MAYBE_TIME = wanted(limits=(0, 24 * LONGEST_SUSTAIN_US), optional=True)
# The rules under which a platform degrades.
_DEGRADING = tuple(sorted({about.rule_if_missing for about in VOTE_OPTIONS.values()} - {""}))
_SYSTEM = wanted(words=OPERATING_SYSTEMS, optional=True)


@attrs.frozen(repr=False, eq=False)
class SocFields:
    """A platform, by its SoC.

    Attributes:
        soc: its part number, such as SM8650.
        os: its operating system; linux where it is left out.
    """

    soc: str = attrs.field(metadata=wanted(words=tuple(name for soc in SOCS for name in soc.names)))
    os: str = attrs.field(default="linux", metadata=_SYSTEM)


@attrs.frozen(repr=False, eq=False)
class ArchFields:
    """A platform, by its Hexagon architecture.

    Attributes:
        arch: the architecture, such as V75.
        os: its operating system; linux where it is left out.
    """

    arch: str = attrs.field(metadata=wanted(words=tuple(f"V{arch}" for arch in ARCHITECTURES)))
    os: str = attrs.field(default="linux", metadata=_SYSTEM)


@attrs.frozen(repr=False, eq=False)
class InitStep:
    """INIT: a graph is initialised.

    Attributes:
        init_us: how long INIT takes, in us.
        at_us: when it begins, in us from the start of the case; when all before it has ended, where it is left out.
    """

    init_us: int = attrs.field(metadata=_DURATION)
    at_us: int | None = attrs.field(default=None, metadata=_MAYBE_TIME)


@attrs.frozen(repr=False, eq=False)
class InferenceStep:
    """INFERENCE: one run of the graph.

    Attributes:
        inference_us: how long the inference takes, in us.
        at_us: when it begins, in us from the start of the case; when all before it has ended, where it is left out.
            One that begins earlier overlaps what is still running.
    """

    inference_us: int = attrs.field(metadata=_DURATION)
    at_us: int | None = attrs.field(default=None, metadata=_MAYBE_TIME)


@attrs.frozen(repr=False, eq=False)
class IdleStep:
    """Nothing runs.

    Attributes:
        idle_us: for how long, in us, once all before it has ended.
    """

    idle_us: int = attrs.field(metadata=_DURATION)


@attrs.frozen(repr=False, eq=False)
class UseStep:
    """The session's profile is changed.

    Attributes:
        use: the new profile, by name or by path.
        at_us: when, in us from the start of the case; when all before it has ended, where it is left out.
    """

    use: str
    at_us: int | None = attrs.field(default=None, metadata=_MAYBE_TIME)


@attrs.frozen(repr=False, eq=False)
class RestartStep:
    """The DSP subsystem restarts: every vote is lost, and the next call to the library is told so (1007).

    Attributes:
        subsystem_restart: true.
        at_us: when, in us from the start of the case; when all before it has ended, where it is left out.
    """

    subsystem_restart: bool = attrs.field(metadata=wanted(only=True))
    at_us: int | None = attrs.field(default=None, metadata=_MAYBE_TIME)


@attrs.frozen(repr=False, eq=False)
class DeinitStep:
    """DE-INIT: a graph is released.

    Attributes:
        deinit_us: how long DE-INIT takes, in us.
        at_us: when it begins, in us from the start of the case; when all before it has ended, where it is left out.
    """

    deinit_us: int = attrs.field(metadata=_DURATION)
    at_us: int | None = attrs.field(default=None, metadata=_MAYBE_TIME)


PlatformFields = SocFields | ArchFields
StepFields = InitStep | InferenceStep | IdleStep | UseStep | RestartStep | DeinitStep


@attrs.frozen(repr=False, eq=False)
class ExpectFields:
    """What holds at a time, once all that is due then has run; only what is stated is looked at.

    Attributes:
        at_us: when, in us from the start of the case.
        state: the session's state.
        votes: what is in force on the power config id, spelt as in a profile; unset: no vote on any option.
        calls: how many native calls were made since the expectation before, or since the start of the case.
        sent: the options that those calls carried, such as DCVS_V3, in any order; [] for none.
        degraded: the rules for which the platform lacks a vote of the profile, in any order; [] for none.
    """

    at_us: int = attrs.field(metadata=_TIME)
    state: str | None = attrs.field(
        default=None, metadata=wanted(words=tuple(str(state) for state in State if state != "DESTROYED"), optional=True)
    )
    votes: StatedVotes | None = attrs.field(default=None, metadata=wanted(optional=True))
    calls: int | None = attrs.field(default=None, metadata=wanted(limits=(0, LARGEST_UINT32), optional=True))
    sent: tuple[str, ...] | None = attrs.field(
        default=None,
        metadata=wanted(words=tuple(option.name for option in VOTE_OPTIONS), each_once=True, optional=True),
    )
    degraded: tuple[str, ...] | None = attrs.field(
        default=None, metadata=wanted(words=_DEGRADING, each_once=True, optional=True)
    )


@attrs.frozen(repr=False, eq=False)
class CaseFields:
    """One case: a fresh session, what happens to it, and what is expected then.

    Attributes:
        case: what it is about, in a few words.
        profile: the profile, by name or by path, where it is another than the file's.
        platform: where it runs, where that is another than the file's.
        sequence: what happens, in the order in which it begins.
        expect: what holds, in the order of time.
    """

    case: str = attrs.field(metadata=wanted(one_line=True))
    sequence: tuple[StepFields, ...] = attrs.field(metadata=wanted(fewest=1))
    expect: tuple[ExpectFields, ...] = attrs.field(metadata=wanted(fewest=1))
    profile: str | None = attrs.field(default=None, metadata=wanted(optional=True))
    platform: PlatformFields | None = attrs.field(default=None, metadata=wanted(optional=True))


@attrs.frozen(repr=False, eq=False)
class VoteTestFields:
    """Expected states and votes of a profile.

    Attributes:
        test: its name.
        summary: one sentence.
        profile: the profile that is tested, by name or by path.
        platform: where it runs.
        cases: the cases, each with a session of its own.
    """

    test: str = attrs.field(metadata=wanted(is_name=True))
    summary: str = attrs.field(metadata=wanted(one_line=True))
    profile: str
    platform: PlatformFields
    cases: tuple[CaseFields, ...] = attrs.field(metadata=wanted(fewest=1))
