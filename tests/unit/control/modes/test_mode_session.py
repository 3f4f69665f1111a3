"""Sessions with modes: the highest mode in flight counts, and a change of the mode lowers nothing in between."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import threading
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.bench import BURST_SUSTAIN_US, Bench, core_target
from support.gates import Gate, cancelled, until
from support.hanging import WAIT_S

from htppower import (
    PhaseMisuse,
    Profile,
    ProfileError,
    Session,
    SessionClosed,
    State,
    VoteController,
    VoteRejected,
    load_profile,
)
from htppower.backends import SimulatedHtp
from htppower.control.modes.level_inference import LevelInference
from htppower.control.modes.levels import Levels
from htppower.events import ProfileChanged
from htppower.profiles.sustain import Adaptive

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from htppower.control.modes.mode_session import ModeSession

MAX, NOM_PLUS, SVS = 160, 112, 64
TARGETS = {"burst": MAX, "balanced": NOM_PLUS, "power_saver": SVS}


def modes_of(bench: Bench, profile: str = "burst") -> tuple[Session, ModeSession]:
    """Return a session, and its form with three modes."""
    session = bench.controller.session(profile, owner="web")
    return session, session.modes(list(TARGETS))


def targets(bench: Bench) -> list[int]:
    """Return the core targets of the calls with clocks, and forget the calls."""
    made = [core_target(call) for call in bench.casts]
    bench.recorder.clear()
    return made


def test_the_highest_mode_in_flight_counts(bench: Bench) -> None:
    """A higher mode revises the votes at once, and its end revises them down; nothing is lowered in between."""
    _session, modes = modes_of(bench)
    with modes.inference("power_saver"):
        with modes.inference("burst"):
            with modes.inference("balanced"):
                assert bench.effective().core_target == MAX
            assert bench.effective().core_target == MAX
        assert bench.effective().core_target == SVS
    relaxed = targets(bench)[3:]
    assert (bench.effective().core_target, len(relaxed)) == (relaxed[-1], 1)


def test_a_low_mode_is_a_limit_after_a_high_one(bench: Bench) -> None:
    """All modes share one id, so the lowered votes of another mode do not lift the limit of this one."""
    _session, modes = modes_of(bench)
    with modes.inference("burst"):
        pass
    bench.time.advance_us(BURST_SUSTAIN_US)
    with modes.inference("power_saver"):
        now = bench.effective()
        assert (now.core_min, now.core_target, now.core_max, now.dcvs_enable) == (SVS, SVS, SVS, False)


def test_inferences_of_the_same_mode_share_its_sustain_time(bench: Bench) -> None:
    """Three inferences in a row make one raise, and the votes come down after the sustain time of the mode."""
    session, modes = modes_of(bench)
    for _ in range(3):
        with modes.inference("burst"):
            pass
    assert targets(bench) == [MAX]
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert session.state is State.LOWERED
    assert len(targets(bench)) == 1


def test_a_lower_mode_within_the_sustain_time_revises(bench: Bench) -> None:
    """The votes of the higher mode are replaced, not lowered first; also for coroutines."""
    _session, modes = modes_of(bench)
    with modes.inference("burst"):
        pass
    with modes.inference("balanced") as inference:
        assert targets(bench) == [MAX, NOM_PLUS]
        assert (inference.profile.name, inference.own_profile.name) == ("balanced", "balanced")

    async def coroutine() -> None:
        async with modes.inference("burst"):
            pass
        async with modes.inference("balanced"):
            assert targets(bench)[1:] == [MAX, NOM_PLUS]

    asyncio.run(coroutine())


def test_an_inference_in_the_mode_in_force_does_not_suspend(bench: Bench) -> None:
    """Nor does a change to a lower mode, or one that has been made."""
    _, modes = modes_of(bench)
    with modes.inference("burst") as other:

        async def act() -> None:
            async with modes.inference("burst") as inference:
                await inference.ause("burst")
                other.use("power_saver")
                for _ in range(2):
                    await inference.ause("balanced")
                    assert inference.profile.name == "balanced"

        with pytest.raises(StopIteration):
            act().send(None)


def test_an_inference_that_ends_while_it_changes_its_mode(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread ends it: it is counted in no mode."""
    session, modes = modes_of(bench)
    add = Levels.add

    def end_and_add(levels: Levels, inference: LevelInference, level: int) -> None:
        inference.end()
        add(levels, inference, level)

    inference = modes.inference("power_saver")
    inference.__enter__()
    monkeypatch.setattr(Levels, "add", end_and_add)
    inference.use("burst")
    monkeypatch.undo()
    with modes.inference("power_saver"):
        assert session.profile.name == "power_saver"


def test_a_change_of_the_mode_before_the_begin(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread changes it while the inference begins: after its end it is counted in no mode."""
    session, modes = modes_of(bench)
    add = Levels.add

    def add_and_change(levels: Levels, inference: LevelInference, level: int) -> None:
        add(levels, inference, level)
        inference.move(levels.of["power_saver"])

    inference = modes.inference("burst")
    monkeypatch.setattr(Levels, "add", add_and_change)
    with inference:
        monkeypatch.undo()
    with modes.inference("power_saver"):
        assert session.profile.name == "power_saver"


def test_an_interrupted_end_of_a_block(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The inference ends although the host still has the variable, which then changes nothing."""
    session, modes = modes_of(bench)

    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LevelInference, "__exit__", interrupt)
    with contextlib.suppress(KeyboardInterrupt), modes.inference("burst") as inference:
        inference.use("balanced")
    monkeypatch.undo()
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert (session.in_flight, session.state) == (0, State.LOWERED)
    assert (inference.running, inference.own_profile.name) == (False, "balanced")
    inference.use("burst")
    inference.end()
    with pytest.raises(PhaseMisuse):
        inference.__enter__()
    assert (session.in_flight, session.profile.name) == (0, "balanced")


def test_another_mode_of_a_lowered_session_is_one_raise(bench: Bench) -> None:
    """The session never raises the votes of the mode before."""
    _session, modes = modes_of(bench)
    for mode in ("balanced", "power_saver", "burst"):
        with modes.inference(mode):
            assert targets(bench) == [TARGETS[mode]]
        bench.time.advance_us(BURST_SUSTAIN_US)
        targets(bench)


def test_a_mode_beyond_the_profile_of_the_session_is_capped(bench: Bench) -> None:
    """It uses the session's profile, which is also the mode of an inference that names none."""
    _session, modes = modes_of(bench, "balanced")
    assert modes.capped == {"burst"}
    assert {name: profile.name for name, profile in modes.profiles.items()} == {
        "burst": "balanced",
        "balanced": "balanced",
        "power_saver": "power_saver",
    }
    for mode in ("burst", "balanced", None):
        with modes.inference(mode):
            assert bench.effective().core_target == NOM_PLUS


def test_a_profile_of_a_mode_may_be_given(bench: Bench) -> None:
    """A mode has a name of its own, and a profile by name or as a value."""
    session = bench.controller.session("burst")
    modes = session.modes({"eco": load_profile("power_saver"), "fast": "burst"})
    with modes.inference("eco"):
        assert session.profile.name == "power_saver"


def test_a_change_of_the_mode_is_one_call(bench: Bench) -> None:
    """A prompt in one mode and the decoding in another are one inference, one raise and one revision."""
    session, modes = modes_of(bench)
    told: list[Any] = []
    bench.controller.subscribe(told.append, ProfileChanged)
    with modes.inference("burst") as inference:
        inference.use("balanced")
        assert (session.in_flight, session.state) == (1, State.RAISED)
        assert targets(bench) == [MAX, NOM_PLUS]
        inference.use("balanced")
        assert targets(bench) == []
    assert [each.reason for each in told] == ["mode balanced"]


def test_the_mode_of_a_request_limits_its_changes(bench: Bench) -> None:
    """With ``at_most`` a change goes down, but not above the mode of the begin."""
    _session, modes = modes_of(bench)
    with modes.inference("balanced", at_most=True) as inference:
        for mode, used in (("burst", "balanced"), ("power_saver", "power_saver"), (None, "balanced")):
            inference.use(mode)
            assert inference.profile.name == used


def test_overlapping_generations_use_the_mode_of_the_highest(bench: Bench) -> None:
    """While one generation is in its prompt, the other decodes with the same clocks; then both have those of decode."""
    modes = bench.controller.session("burst").modes({"prompt": "burst", "decode": "balanced"})
    with modes.inference("prompt") as first:
        first.use("decode")
        with modes.inference("prompt") as second:
            assert bench.effective().core_target == MAX
            second.use("decode")
            assert bench.effective().core_target == NOM_PLUS


def test_an_exception_ends_the_inference(bench: Bench) -> None:
    """The exception is passed on, the votes come down, and the next inference has its own mode."""
    session, modes = modes_of(bench)
    with pytest.raises(KeyError), modes.inference("balanced"):
        raise KeyError
    assert (session.in_flight, session.state) == (0, State.LOWERED)
    with modes.inference("power_saver"):
        assert bench.effective().core_target == SVS


def test_a_dropped_inference_does_not_count(bench: Bench) -> None:
    """An inference that is garbage collected is counted no longer: the next one has its own mode."""
    session, modes = modes_of(bench)
    modes.inference("burst").__enter__()
    gc.collect()
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert session.in_flight == 0
    with modes.inference("power_saver"):
        assert bench.effective().core_target == SVS


def test_an_end_from_elsewhere(bench: Bench) -> None:
    """``end`` may be called again; a change of the mode after it changes nothing."""
    session, modes = modes_of(bench)
    modes.inference("burst").end()
    inference = modes.inference("balanced")
    inference.__enter__()
    assert inference.running
    inference.end()
    inference.end()
    assert not inference.running
    bench.recorder.clear()
    inference.use("burst")
    assert (targets(bench), session.state) == ([], State.LOWERED)


@pytest.mark.parametrize("form", ["with", "async with"])
def test_an_end_within_its_block(bench: Bench, form: str) -> None:
    """Leaving the block changes nothing more."""
    session, modes = modes_of(bench)

    async def coroutine() -> None:
        async with modes.inference("balanced") as inference:
            inference.end()
            assert session.in_flight == 0

    if form == "async with":
        asyncio.run(coroutine())
    else:
        with modes.inference("balanced") as inference:
            inference.end()
            assert session.in_flight == 0
    assert session.state is State.LOWERED


def test_misuse(bench: Bench) -> None:
    """An inference is entered once, and left after that; nothing else changes."""
    session, modes = modes_of(bench)
    inference = modes.inference("balanced")
    with pytest.raises(PhaseMisuse):
        inference.__exit__(None, None, None)
    with inference:
        with pytest.raises(PhaseMisuse):
            inference.__enter__()
        assert session.in_flight == 1
    inference.__exit__(None, None, None)
    assert session.in_flight == 0


def test_wrong_modes(bench: Bench) -> None:
    """An unknown mode names a known one; other mistakes are found when the modes are made."""
    session, modes = modes_of(bench)
    with pytest.raises(ValueError, match="mode is 'brust': did you mean burst"):
        modes.inference("brust")
    with pytest.raises(ValueError, match="mode is 'x'"), modes.inference("burst") as inference:
        inference.use("x")
    session = bench.controller.session("burst")
    for wrong, error in (("burst", TypeError), ((1,), TypeError), (("no_profile",), ProfileError)):
        with pytest.raises(error):
            session.modes(wrong)  # type: ignore[arg-type]
    session.close()
    with pytest.raises(SessionClosed):
        session.modes(("burst",))


def test_a_closed_session_begins_nothing(bench: Bench) -> None:
    """The error is the same as for an inference, and no mode is counted."""
    _session, modes = modes_of(bench)
    bench.controller.close()
    with pytest.raises(SessionClosed), modes.inference("balanced"):
        pass


@pytest.mark.parametrize("raised", [False, True])
def test_a_vote_that_fails_begins_nothing(raised: bool) -> None:
    """With ``on_error="raise"`` the error is raised, and the mode is not counted any longer."""
    bench = Bench.make(on_error="raise")
    _session, modes = modes_of(bench)
    if raised:
        modes.inference("power_saver").__enter__()
    bench.simulated.fail_next(1000, function="setPowerConfig")
    inference = modes.inference("balanced")
    with pytest.raises(VoteRejected):
        inference.__enter__()
    assert not inference.running
    bench.time.advance_us(10_000_000)
    with modes.inference("power_saver"):
        assert bench.effective().core_target == SVS
    bench.controller.close()


def test_holds_and_caps_have_priority(bench: Bench) -> None:
    """A cap of the controller limits every mode."""
    _session, modes = modes_of(bench)
    with bench.controller.cap("balanced", reason="warm"), modes.inference("burst") as inference:
        assert inference.profile.name == "balanced"


def test_init_has_the_profile_of_the_session(bench: Bench) -> None:
    """Whichever mode came last, and whatever runs within it; its own sustain time follows."""
    session, modes = modes_of(bench)
    with modes.inference("power_saver"):
        pass
    bench.time.advance_us(BURST_SUSTAIN_US)
    with session.init():
        assert bench.effective().core_target == MAX
        with modes.inference("power_saver"):
            assert bench.effective().core_target == MAX
        assert bench.effective().core_target == MAX
    assert (session.state, session.profile.name) == (State.RAISED, "burst")
    with modes.inference("power_saver"):
        with session.init():
            assert bench.effective().core_target == MAX
        assert bench.effective().core_target == SVS


def test_the_profile_of_the_session_stays_its_own(bench: Bench) -> None:
    """Status names it, and the mode that decides; a pace chooses among the profiles below it."""
    session, modes = modes_of(bench)
    with modes.inference("power_saver"):
        pass
    (status,) = bench.controller.status().sessions
    assert (status.profile, status.own_profile) == ("power_saver", "burst")
    assert status.decided_by is not None
    assert (status.decided_by.kind, status.decided_by.reason) == ("mode", "power_saver")
    assert session.own_profile.name == "burst"
    with session.pace(fps=30, wait=False):
        assert session.profile.name == "burst"
    with modes.inference("burst"):
        assert bench.controller.status().sessions[0].decided_by is None


def test_the_modes_of_a_session_are_made_once(bench: Bench) -> None:
    """Two forms would not know each other's inferences. When the first one is gone, another one may be made."""
    session, modes = modes_of(bench)
    with modes.inference("power_saver"):
        pass
    with pytest.raises(ValueError, match="session 1 has modes already"):
        session.modes(["burst"])
    del modes
    assert session.modes(list(TARGETS)).capped == set()


@pytest.mark.parametrize("pause_us", [100_000, 5_000_000], ids=["within the sustain time", "after it"])
def test_a_session_learns_from_the_gap_before_another_mode(bench: Bench, pause_us: int) -> None:
    """The gap belongs to the mode before it."""

    def learning(name: str) -> Profile:
        profile = load_profile(name)
        assert profile.relax is not None
        relax = attrs.evolve(profile.relax, after_inference_us=Adaptive(break_even_us=200_000))
        return attrs.evolve(profile, relax=relax)

    session = bench.controller.session(learning("burst"))
    modes = session.modes({"a": learning("burst"), "b": learning("balanced")})
    for _ in range(20):
        for mode in ("a", "b"):
            with modes.inference(mode):
                bench.time.advance_us(5_000)
            bench.time.advance_us(pause_us)
    learnt = bench.controller.status().sessions[0].learnt
    assert learnt is not None
    assert learnt.gaps == 19


WORDS = ["to", "be", "or"]


class Model:
    """Makes tokens, and notes the core target at each."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.seen: list[int] = []

    def tokens(self) -> Iterator[str]:
        """Make tokens."""
        for word in WORDS:
            self.seen.append(self.bench.effective().core_target)
            yield word

    async def atokens(self) -> AsyncIterator[str]:
        """Do the same for an asynchronous loop."""
        for word in self.tokens():
            await asyncio.sleep(0)
            yield word


def test_a_stream_changes_its_mode_after_the_first_token(bench: Bench) -> None:
    """The prompt and the first token have one mode, the other tokens the next; the whole is one inference."""
    (session, modes), model = modes_of(bench), Model(bench)
    stream = modes.stream(model.tokens(), "burst", then="balanced")
    assert targets(bench) == []
    assert list(stream) == WORDS
    assert model.seen == [MAX, NOM_PLUS, NOM_PLUS]
    assert targets(bench)[:2] == [MAX, NOM_PLUS]
    assert (session.in_flight, session.state) == (0, State.LOWERED)


def test_an_asynchronous_stream_does_the_same(bench: Bench) -> None:
    """Also if it is closed early."""
    (session, modes), model = modes_of(bench), Model(bench)

    async def read() -> list[str]:
        return [word async for word in modes.stream(model.atokens(), "burst", then="power_saver")]

    async def leave() -> None:
        stream = modes.stream(model.atokens(), None, then="balanced")
        assert await anext(stream) == WORDS[0]
        await stream.aclose()

    assert asyncio.run(read()) == WORDS
    assert model.seen == [MAX, SVS, SVS]
    asyncio.run(leave())
    bench.time.advance_us(1)
    assert (session.in_flight, session.state) == (0, State.LOWERED)


def test_an_idle_stream_begins_again_in_its_second_mode(bench: Bench) -> None:
    """A reader that pauses lowers the votes; the next token has the mode of decoding."""
    (session, modes), model = modes_of(bench), Model(bench)
    stream = modes.stream(model.tokens(), "burst", then="balanced", idle_timeout_us=1000)
    next(stream)
    with modes.inference("power_saver"):
        bench.time.advance_us(1001)
        assert bench.effective().core_target == SVS, "the stream is counted no longer"
    assert next(stream) == WORDS[1]
    assert model.seen == [MAX, NOM_PLUS]
    stream.close()
    bench.time.advance_us(1)
    assert session.state is State.LOWERED


def test_coroutines(bench: Bench) -> None:
    """The same as with threads."""
    session, modes = modes_of(bench)

    async def scenario() -> None:
        async with modes.inference("power_saver"):
            async with modes.inference("burst") as inference:
                assert bench.effective().core_target == MAX
                await inference.ause("balanced")
                assert bench.effective().core_target == NOM_PLUS
                await inference.ause("burst")
                assert bench.effective().core_target == MAX
            assert bench.effective().core_target == SVS

    asyncio.run(scenario())
    assert session.state is State.LOWERED


@pytest.mark.parametrize("raised", [False, True], ids=["from lowered", "from a lower mode"])
def test_a_coroutine_that_is_cancelled_within_its_raise(gate: Gate, raised: bool) -> None:
    """The loop goes on during the call, and the mode is not counted after the cancellation."""
    session = gate.controller.session("burst")
    modes = session.modes(list(TARGETS))

    async def scenario() -> None:
        other = modes.inference("power_saver")
        if raised:
            await other.__aenter__()
        gate.backend.shut()

        async def enter() -> None:
            async with modes.inference("balanced"):
                await asyncio.Event().wait()

        task = asyncio.create_task(enter())
        await until(gate.backend.reached.is_set)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gate.backend.opened.set()
        if raised:
            await until(lambda: session.profile.name == "power_saver")
            await other.__aexit__(None, None, None)

    asyncio.run(scenario())
    gate.assert_down(session)


@pytest.mark.parametrize("waits_for", ["a raise", "a higher mode", "a change", "a lowering"])
def test_a_loop_that_is_closed_while_an_inference_waits(gate: Gate, waits_for: str) -> None:
    """The inference ends and its mode counts no longer, although the host keeps its coroutine."""
    session = gate.controller.session("burst")
    modes = session.modes(list(TARGETS))
    other = modes.inference("power_saver")
    if waits_for == "a higher mode":
        other.__enter__()
        gate.backend.shut()

    async def infer() -> None:
        if waits_for == "a raise":
            gate.backend.shut()
        async with modes.inference("power_saver" if waits_for == "a change" else "balanced") as inference:
            gate.backend.shut()
            if waits_for == "a change":
                await inference.ause("balanced")

    loop = asyncio.new_event_loop()
    task = loop.create_task(infer())
    loop.run_until_complete(until(lambda: gate.backend.reached.is_set() and not gate.backend.opened.is_set()))
    loop.close()
    gate.backend.opened.set()
    gate.drain()
    if waits_for == "a higher mode":
        assert session.profile.name == "power_saver"
        other.__exit__(None, None, None)
    gate.assert_down(session)
    with modes.inference("power_saver"):
        assert session.profile.name == "power_saver"
    assert not task.done()


def test_a_change_of_the_mode_that_is_cancelled(gate: Gate) -> None:
    """The mode has changed, so its votes follow, although the coroutine does not wait for them any longer."""
    session = gate.controller.session("burst")
    modes = session.modes(list(TARGETS))
    go = threading.Event()

    async def scenario() -> None:
        async with modes.inference("power_saver") as inference:
            gate.post(go.wait)
            task = asyncio.create_task(inference.ause("balanced"))
            await asyncio.sleep(0)
            assert await cancelled(task)
            go.set()
            await until(lambda: session.profile.name == "balanced")

    asyncio.run(scenario())
    gate.assert_down(session)


def test_a_change_of_the_mode_waits_for_the_call_of_another_thread(gate: Gate) -> None:
    """Two inferences change to the same mode: the second one also returns only when its votes are in force."""
    session = gate.controller.session("burst")
    modes = session.modes(list(TARGETS))
    done: list[str] = []
    begun, first, second = (threading.Event() for _ in range(3))

    def infer(name: str, go: threading.Event) -> None:
        with modes.inference("power_saver") as inference:
            if name == "second":
                begun.set()
            assert go.wait(WAIT_S)
            inference.use("burst")
            done.append(name)

    threads = [threading.Thread(target=infer, args=each) for each in (("first", first), ("second", second))]
    for thread in threads:
        thread.start()
    assert begun.wait(WAIT_S)
    gate.backend.shut()
    first.set()
    assert gate.backend.reached.wait(WAIT_S)
    second.set()
    threads[1].join(0.05)
    assert done == []
    gate.backend.opened.set()
    for thread in threads:
        thread.join(WAIT_S)
    assert sorted(done) == ["first", "second"]
    gate.drain()
    gate.time.advance_us(BURST_SUSTAIN_US)
    gate.assert_down(session)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([*TARGETS, "end"])), max_size=40))
def test_any_sequence_has_the_clocks_of_the_highest_mode(steps: list[tuple[int, str]]) -> None:
    """However inferences begin, change and end, the highest mode in flight has its votes in force."""
    bench = Bench.make()
    _session, modes = modes_of(bench)
    running: dict[int, tuple[Any, str]] = {}
    for number, mode in steps:
        if mode == "end":
            if number in running:
                running.pop(number)[0].__exit__(None, None, None)
        elif number in running:
            running[number][0].use(mode)
            running[number] = running[number][0], mode
        else:
            inference = modes.inference(mode)
            inference.__enter__()
            running[number] = inference, mode
        if running:
            assert bench.effective().core_target == max(TARGETS[mode] for _, mode in running.values())
    running.clear()
    bench.controller.close()


def test_threads_leave_nothing_up() -> None:
    """Eight threads begin, change and end at random; each has at least its clocks, and at the end all votes are down.

    The calls take real time, so that changes of the mode meet calls that have not returned.
    """
    htp = SimulatedHtp(arch=75)
    htp.delay_calls(200, "setPowerConfig")
    low: list[str] = []
    with VoteController(htp, handle_sigterm=False) as controller:
        session = controller.session("balanced")
        modes = session.modes(["balanced", "low_balanced", "power_saver"])
        corners = {"balanced": NOM_PLUS, "low_balanced": 96, "power_saver": SVS}

        def infer(seed: int) -> None:
            choices = random.Random(seed)
            for _ in range(40):
                mode, then = choices.choices(list(corners), k=2)
                with modes.inference(mode) as inference:
                    if htp.effective().core_target < corners[mode]:
                        low.append(mode)
                    inference.use(then)
                    if htp.effective().core_target < corners[then]:
                        low.append(then)

        threads = [threading.Thread(target=infer, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
        assert (low, session.in_flight, htp.overlaps) == ([], 0, 0)
        with modes.inference("power_saver"):
            assert htp.effective().core_max == SVS
