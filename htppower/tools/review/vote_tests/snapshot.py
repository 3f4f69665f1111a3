"""Writes a test of a profile as it is: its votes after each change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import attrs

from htppower.profiles.fields import vote_fields
from htppower.profiles.paths import folder_of, joined
from htppower.profiles.sustain import longest_us
from htppower.profiles.yaml_text import field_lines, quoted
from htppower.tools.review.vote_tests.cases import Expectation, VoteCase, timeline
from htppower.tools.review.vote_tests.fields import DeinitStep, IdleStep, InferenceStep, InitStep
from htppower.tools.review.vote_tests.files import FOLDER
from htppower.tools.review.vote_tests.runner import run_case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.profiles.profile import Profile
    from htppower.rules.platforms import Platform
    from htppower.tools.review.vote_tests.runner import Seen

_PHASE_US = 20_000
_INFERENCE_US = 8_000
_IDLE_US = 30_000
_STEPS = {InitStep: "init_us", InferenceStep: "inference_us", IdleStep: "idle_us", DeinitStep: "deinit_us"}


def snapshot_path(profile_path: str) -> str:
    """Return the path of a profile's test: the same file name, in the folder of tests next to it."""
    return joined(folder_of(profile_path), FOLDER, os.path.basename(profile_path))


def snapshot_text(profile: Profile, platform: Platform) -> str:
    """Return the text of a test that passes as long as the profile votes on a platform as it does now.

    One case has two inferences and the idle time after them, the other INIT and DE-INIT. Every field of the votes is
    stated after a call. The state is stated a microsecond before a timer lowers, too.

    Raises:
        RuleBreach: a rule refuses the profile on the platform.
    """
    relax = profile.relax
    further = 0 if relax is None or relax.then is None else longest_us(relax.then.after_us)
    sustain_us = 0 if relax is None else longest_us(relax.after_inference_us) + further
    init_us = 0 if relax is None else relax.after_init_us + further
    inferences = (InferenceStep(_INFERENCE_US, _IDLE_US), InferenceStep(_INFERENCE_US, 2 * _IDLE_US))
    phases = (InitStep(_PHASE_US), IdleStep(init_us + _IDLE_US), DeinitStep(_PHASE_US))
    soc = None if platform.soc is None else platform.soc.names[0]
    where = f"arch: V{platform.arch}" if soc is None else f"soc: {soc}"
    system = "" if platform.os == "linux" else f", os: {platform.os}"
    return "\n".join(
        (
            f"test: {profile.name}",
            f"summary: {quoted(f'What {profile.name} votes, as it was when this test was written.')}",
            f"profile: {profile.name}",
            f"platform: {{{where}{system}}}",
            "cases:",
            *_case(
                "two inferences, and the idle time after them", (*inferences, IdleStep(sustain_us)), profile, platform
            ),
            *_case("INIT and DE-INIT", phases, profile, platform),
            "",
        )
    )


def _case(name: str, steps: tuple[Any, ...], profile: Profile, platform: Platform) -> Iterator[str]:
    """Yield the lines of a case: its steps, and what holds after each change."""
    line = timeline(steps, [None] * len(steps), ())
    bare = VoteCase(name, profile, platform, line.moments, line.end_us, ())
    changed = {change.time_us for change in run_case(bare).transitions if change.time_us <= line.end_us}
    by_hand = {moment.at_us for moment in line.moments}
    times = sorted({0, *changed, *(time_us - 1 for time_us in changed - by_hand), line.end_us})
    expectations = tuple(Expectation((), at_us, None, None, None, None, None) for at_us in times)
    seen = run_case(attrs.evolve(bare, expectations=expectations)).seen
    yield f"  - case: {name}"
    yield "    sequence:"
    yield from (f"      - {_step(step)}" for step in steps)
    yield "    expect:"
    for at_us, each in zip(times, seen, strict=True):
        yield from _expectation(at_us, each)


def _step(step: Any) -> str:
    said = f"{_STEPS[type(step)]}: {getattr(step, _STEPS[type(step)])}"
    at_us = getattr(step, "at_us", None)
    return said if at_us is None else f"{{{said}, at_us: {at_us}}}"


def _expectation(at_us: int, seen: Seen) -> Iterator[str]:
    yield f"      - at_us: {at_us}"
    yield f"        state: {seen.state}"
    yield f"        calls: {seen.calls}"
    if seen.calls:  # without a call the votes are unchanged
        yield f"        sent: [{', '.join(seen.sent)}]"
        yield f"        degraded: [{', '.join(seen.degraded)}]"
        yield from (f"        {line}" for _, line in field_lines(vote_fields(seen.votes)))
