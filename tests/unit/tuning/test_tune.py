"""What is advised, against trying everything one by one; what it hangs on; the file that it ends in."""

from __future__ import annotations

import functools
import itertools
import tracemalloc
from typing import TYPE_CHECKING

import attrs
import numpy as np
import pytest
from workloads import any_session

from htppower.profiles.loading import load_profile
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.tuning import choices, session_advice
from htppower.tuning.limits import Limit, parse_limit
from htppower.tuning.models.file import load_device_model
from htppower.tuning.sensitivity import assumptions, in_words
from htppower.tuning.session_advice import Aim, SessionAdvice, advise, price_of_latency_w
from htppower.tuning.shared import settle_together
from htppower.tuning.traces.trace import SessionTrace, Trace
from htppower.tuning.tune import Question, TuningError, chosen, tune
from htppower.tuning.variants import Variant, variants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tuning.choices import Choice

MODEL = load_device_model()
BURST = load_profile("burst")
VARIANTS, _ = variants(("burst", "balanced", "low_power_saver"))
LIMITS: tuple[tuple[str, ...], ...] = (
    (),
    ("p99 <= 9 ms",),
    ("p50 <= 5 ms", "cold <= 40 %"),
    ("mean <= 6 ms",),
    ("max <= 11 ms", "p90 <= 8 ms"),
)


def aim_of(texts: Sequence[str], settings: int = 1_000) -> Aim:
    """Return what is wanted, at the price of a break-even time of 100 ms."""
    price_w = price_of_latency_w(MODEL, BURST, 100_000)
    return Aim(tuple(map(parse_limit, texts)), price_w, 400_000, settings)


def advised(session: SessionTrace, aim: Aim) -> SessionAdvice:
    """Return what is found for a session, recorded under burst."""
    return advise(session, VARIANTS, Variant(BURST, BURST), MODEL, aim)


def everything(advice: SessionAdvice) -> list[Choice]:
    """Return every choice: each time-out at an edge of some gap and beside it, 0, and what is learnt."""
    found = []
    for offer in advice.offers:
        edges = offer.trial.time_outs_us
        near = np.unique(np.concatenate((edges, edges + 1, np.maximum(edges - 1, 20_000), [20_000, 300_000])))
        sustains = [0, *near.tolist(), *offer.learnt]
        found += [offer.choice(each) for each in sustains]
    return found


@functools.cache
def session_and_choices(seed: int) -> tuple[SessionTrace, list[Choice]]:
    """Return a session, and every choice for it: limits change what is advised, and not what there is."""
    session = any_session(np.random.default_rng(seed), most=60)
    return session, everything(advised(session, aim_of(())))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("texts", LIMITS, ids=" and ".join)
def test_nothing_that_keeps_to_the_limits_costs_less(seed: int, texts: tuple[str, ...]) -> None:
    """Of all profiles and time-outs, and of what is learnt, the advised choice is the cheapest that keeps to them."""
    session, every = session_and_choices(seed)
    aim = aim_of(texts)
    advice = advised(session, aim)
    inferences = session.begins_us.size
    costs = [each.cost_j(aim.price_in_cost_w, inferences) for each in every if each.keeps_to(aim.limits)]
    if advice.best is None:
        assert not costs
    else:
        assert advice.best.keeps_to(aim.limits)
        assert advice.best.cost_j(aim.price_in_cost_w, inferences) == pytest.approx(min(costs))


@functools.cache
def around_a_time_out() -> tuple[SessionTrace, list[Choice]]:
    """Return a session with gaps around 100 ms, of which a late raise brings many within a time-out; every choice."""
    draw = np.random.default_rng(4)
    gaps = np.where(draw.random(80) < 0.2, 350_000, draw.integers(99_000, 101_500, 80))
    ends = np.cumsum(gaps + draw.integers(3_000, 7_000, 80)).astype(np.int64)
    session = SessionTrace("camera", "burst", ends - draw.integers(3_000, 7_000, 80), ends)
    return session, everything(advised(session, aim_of(())))


@pytest.mark.parametrize("measure", ["p50", "p90", "p99", "max", "mean", "cold"])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_a_limit_that_some_choices_keep_to_is_used_to_its_end(
    measure: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of choices on both sides of a limit the cheapest that keeps to it is found, however few are looked at at once."""
    session, known = around_a_time_out()
    monkeypatch.setattr(choices, "_FIRST", 2)
    monkeypatch.setattr(choices, "_TOGETHER", 3)
    value = sorted(each.latency.of(measure) for each in known)[int(share * len(known))]
    unit = f"{100 * value:.4f} %" if measure == "cold" else f"{value:.3f} us"
    aim = aim_of((f"{measure} <= {unit}",))
    advice = advised(session, aim)
    keeping = [each.energy_j for each in known if each.keeps_to(aim.limits)]
    assert 0 < len(keeping) < len(known)
    assert advice.best is not None
    assert advice.best.energy_j == pytest.approx(min(keeping))


@pytest.mark.parametrize("seed", range(6))
def test_nothing_that_was_tried_is_better_than_the_front(seed: int) -> None:
    """For every choice there is one on the front that is no worse in energy, p50, p99 and cold starts."""
    session = any_session(np.random.default_rng(seed), most=40)
    advice = advised(session, aim_of(()))

    def row(choice: Choice) -> tuple[float, ...]:
        return choice.energy_j, choice.latency.p50, choice.latency.p99, choice.cold

    front = np.array([row(each) for each in advice.front])
    for each in everything(advice):
        assert (front <= np.array(row(each)) * (1 + 1e-12)).all(axis=1).any(), str(each)
    for one, other in itertools.permutations(map(row, advice.front), 2):
        assert any(mine < others for mine, others in zip(one, other, strict=True))


def test_an_impossible_limit_is_named_with_what_comes_nearest() -> None:
    """Of two limits only the impossible one is named; the choice has the least of its measure that there is."""
    advice = advised(any_session(np.random.default_rng(2)), aim_of(("p99 <= 1 us", "cold <= 100 %")))
    assert advice.best is None
    ((limit, nearest),) = advice.nearest
    assert str(limit) == "p99 <= 1 us"
    assert nearest.latency.p99 == min(each.latency.p99 for each in everything(advice))


def test_limits_that_are_possible_only_alone_are_all_named() -> None:
    """Each is kept to by some choice, but all by none: then all are named, with the choice that exceeds least."""
    session = any_session(np.random.default_rng(5), most=60)
    everyone = everything(advised(session, aim_of(())))
    least_j = min(everyone, key=lambda each: each.energy_j)
    quickest = min(each.latency.p50 for each in everyone)
    limits = (f"p50 <= {quickest} us", "cold <= 1 %")
    alone = [[each for each in everyone if each.keeps_to((parse_limit(text),))] for text in limits]
    assert least_j not in alone[0]
    advice = advised(session, aim_of(limits))
    if all(alone) and not set(alone[0]) & set(alone[1]):
        assert [str(limit) for limit, _ in advice.nearest] == list(limits)
    else:
        assert advice.best is not None or len(advice.nearest) == 1


def drawn_j(advices: Sequence[SessionAdvice], choices: Sequence[Choice]) -> float:
    """Return what sessions draw together, us by us."""
    begin = min(int(each.session.begins_us[0]) for each in advices)
    end = max(int(each.session.ends_us.max()) for each in advices)
    runs = [each.offer(choice).trial.run(choice.sustain) for each, choice in zip(advices, choices, strict=True)]
    offers = [each.offer(choice) for each, choice in zip(advices, choices, strict=True)]
    length = max(int(run.lowered_us[-1]) for run in runs) - begin
    up = np.zeros((len(runs), max(length, end - begin)), np.bool_)
    busy = np.zeros(up.shape[1], np.bool_)
    polled_us = 0
    for place, run in enumerate(runs):
        for raised, lowered in zip(run.raised_us, run.lowered_us, strict=True):
            up[place, raised - begin : lowered - begin] = True
        for begun, ended in zip(run.begins_us, run.ends_us, strict=True):
            busy[begun - begin : ended - begin] = True
    for offer, run in zip(offers, runs, strict=True):
        takes = offer.trial.workload.takes_us.tolist()
        for at, lasts in zip((run.begins_us - begin).tolist(), takes, strict=True):
            asked = [other.variant.profile.votes.rpc_polling_time_us or 0 for other in offers]
            polled_us += min(lasts, max((us for us, is_up in zip(asked, up[:, at], strict=True) if is_up), default=0))
    lowered_w = max(each.power.lowered_idle_w for each in offers)
    active = np.max([np.where(row, each.power.active_w, 0) for row, each in zip(up, offers, strict=True)], axis=0)
    idle = np.max([np.where(row, each.power.raised_idle_w, lowered_w) for row, each in zip(up, offers, strict=True)], 0)
    drawn = np.where(busy, active, idle)
    drawn[end - begin :] -= lowered_w
    calls_j = sum(choice.calls for choice in choices) * MODEL.call_j.value
    return float(drawn.sum()) / 1e6 + calls_j + MODEL.polling_w.value * polled_us / 1e6


@pytest.mark.parametrize("seed", range(4))
def test_sessions_that_share_a_core_are_settled_by_what_it_draws(seed: int) -> None:
    """The energy is that of the core, us by us, and no combination of what was kept costs less."""
    draw = np.random.default_rng(seed)
    aim = aim_of((), settings=50)
    advices = [advised(any_session(draw, most=12, name=name), aim) for name in ("camera", "voice")]
    found = settle_together(advices, aim)
    assert found.choices is not None
    assert found.all_tried
    assert found.tried >= found.kept[0] * found.kept[1]
    assert found.energy_j == pytest.approx(drawn_j(advices, found.choices))
    assert found.present_j == pytest.approx(drawn_j(advices, [each.present for each in advices]))
    best = [each.best for each in advices]
    assert found.alone_j == pytest.approx(drawn_j(advices, [each for each in best if each is not None]))


def test_one_session_together_draws_what_it_draws_alone() -> None:
    """The energy of a core with one session is that of the session."""
    aim = aim_of((), settings=50)
    advice = advised(any_session(np.random.default_rng(3)), aim)
    found = settle_together([advice], aim)
    assert found.present_j == pytest.approx(advice.present.energy_j)
    assert advice.best is not None
    assert found.energy_j == pytest.approx(advice.best.energy_j)


def test_many_sessions_are_settled_in_turns() -> None:
    """Where all combinations are too many, none of the sessions alone can better what is found."""
    draw = np.random.default_rng(8)
    aim = aim_of((), settings=20)
    advices = [advised(any_session(draw, most=8, name=str(each)), aim) for each in range(6)]
    found = settle_together(advices, aim)
    assert found.choices is not None
    assert not found.all_tried
    assert found.energy_j == pytest.approx(drawn_j(advices, found.choices))


def periodic(count: int = 60) -> SessionTrace:
    """Return inferences of 5 ms each 90 to 110 ms, with some pauses of 2 s."""
    draw = np.random.default_rng(1)
    gaps = np.where(draw.random(count) < 0.1, 2_000_000, draw.integers(90_000, 110_000, count))
    ends = np.cumsum(gaps + 5_000).astype(np.int64)
    return SessionTrace("camera", "burst", ends - 5_000, ends)


def test_the_advice_stands_up_to_what_is_said_and_not_beyond() -> None:
    """At the edge that is told of an assumed value the advice stands; 2 % further another choice is better."""
    aim = aim_of(("p99 <= 12 ms",))
    session = periodic()
    advice = advised(session, aim)
    assert advice.best is not None
    found = assumptions(advice, advice.best, MODEL, aim)
    told = {each.name: each for each in found}
    assert {name for name, each in MODEL.quantities().items() if each.assumed and "speeds" not in name} <= set(told)
    moved = [(each, edge) for each in found for edge in (each.down, each.up) if edge is not None]
    assert moved
    for each, edge in moved:
        beyond = edge + (0.02 * (each.highest - each.lowest)) * (1 if edge > each.quantity.value else -1)
        if not each.lowest <= beyond <= each.highest:
            continue
        other = advise(session, VARIANTS, Variant(BURST, BURST), MODEL.with_value(each.name, beyond), aim)
        assert other.best is not None
        offer = other.offer(advice.best)
        same = offer.choice(advice.best.sustain)
        assert not same.keeps_to(aim.limits) or other.best.energy_j < 0.995 * same.energy_j, each.name
    said = "\n".join(in_words(found))
    assert all(each.name in said for each in found)


def test_a_value_that_is_measured_is_no_assumption() -> None:
    """It is left out of what the advice hangs on."""
    aim = aim_of(())
    advice = advised(periodic(), aim)
    assert advice.best is not None
    measured = attrs.evolve(MODEL.call_j, provenance="measured")
    model = MODEL.with_quantity("call_j", measured)
    assert "call_j" not in {each.name for each in assumptions(advice, advice.best, model, aim)}


def recording(*sessions: SessionTrace) -> Trace:
    """Return a recording of sessions."""
    return Trace("recording.json", "htppower", sessions)


def test_a_recording_without_an_inference_is_nothing_to_tune() -> None:
    """It is refused with its name; so is a session that there is not, and a profile without votes."""
    empty = SessionTrace("camera", None, np.zeros(0, np.int64), np.zeros(0, np.int64))
    with pytest.raises(TuningError, match=r"recording\.json.*nothing to tune"):
        tune(recording(empty), MODEL, Question())
    with pytest.raises(TuningError, match="no session 'voice'; it has camera"):
        chosen(recording(empty), ("voice",))
    with pytest.raises(TuningError, match="casts no votes"):
        tune(recording(attrs.evolve(periodic(), profile="system_settings")), MODEL, Question())


def test_one_inference_is_tuned() -> None:
    """It has no gap; all is said of it nevertheless."""
    one = SessionTrace("camera", None, np.array([5], np.int64), np.array([5], np.int64))
    tuning = tune(recording(one), MODEL, Question(verify=3))
    assert tuning.sessions[0].best is not None
    assert tuning.equal
    assert any("it is taken to be of burst" in note for note in tuning.sessions[0].advice.notes)


def test_all_profiles_of_the_vendor_are_tried_and_those_for_decode_beside_one_of_them() -> None:
    """Those without votes are left out, which is said; polling is tried both ways where no rule warns of it."""
    of_burst = tune(recording(periodic(5)), MODEL, Question()).sessions[0].advice
    names = {offer.variant.name for offer in of_burst.offers}
    assert names == set(SHIPPED_PROFILES) - {"system_settings"}
    both = {
        name for name in names if sum(offer.variant.name == name for offer in of_burst.offers) == len((True, False))
    }
    assert both == {"burst", "sustained_high_performance", "high_performance"}
    decode = attrs.evolve(periodic(5), profile="llm_decode_burst")
    of_decode = tune(recording(decode), MODEL, Question()).sessions[0].advice
    assert all(offer.variant.name.startswith("llm_decode_") for offer in of_decode.offers)


def test_a_raise_that_is_later_than_a_timer_keeps_is_tuned_gap_by_gap() -> None:
    """With a raise 30 ms late all is found, and equal to the controller's."""
    late = MODEL.with_value("raise_late_us", 30_000)
    tuning = tune(recording(periodic(30)), late, Question((parse_limit("cold <= 50 %"),), verify=2))
    assert tuning.sessions[0].best is not None
    assert tuning.equal


def test_of_a_long_recording_what_is_learnt_is_tried_under_the_best_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """That is said, with their names, and what is advised keeps to it."""
    monkeypatch.setattr(session_advice, "_MOST_LEARNT", 1_000)
    aim = aim_of(("p99 <= 9 ms",))
    advice = advised(periodic(), aim)
    best = advised(periodic(), aim).best
    assert best is not None
    learnt = [offer.variant for offer in advice.offers if offer.learnt]
    assert 0 < len(learnt) < len(advice.offers)
    assert best.variant in learnt
    (note,) = advice.notes
    assert all(str(each) in note for each in learnt)


def test_a_limit_is_a_value() -> None:
    """Two limits of the same text are equal: what is worked out for one serves the other."""
    assert parse_limit("p99 <= 1 ms") == parse_limit("p99 <= 1 ms") == Limit("p99", 1_000, "p99 <= 1 ms")  # type: ignore[arg-type]


def test_how_far_values_may_move_is_found_in_little_memory() -> None:
    """Each value that is looked at needs arrays of its own; those of the values before are let go."""
    draw = np.random.default_rng(5)
    begins = np.cumsum(draw.integers(20_000, 300_000, 2_000))
    session = SessionTrace("camera", "burst", begins, begins + 2_000)
    tracemalloc.start()
    try:
        tune(recording(session), MODEL, Question(profiles=("burst", "balanced"), settings=1))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 20_000_000


def test_what_is_large_of_a_trial_is_let_go_and_comes_back_the_same() -> None:
    """After a session is settled no trial holds arrays of all inferences; asked again it says the same."""
    draw = np.random.default_rng(3)
    begins = np.cumsum(draw.integers(20_000, 300_000, 200))
    advice = advised(SessionTrace("camera", "burst", begins, begins + 2_000), aim_of(()))
    assert advice.best is not None
    trials = [offer.trial for offer in advice.offers]
    assert not any({"exact", "workload"} & set(vars(trial)) for trial in trials)
    offer = advice.offer(advice.best)
    assert offer.trial.run(advice.best.sustain).cold.size == advice.best.cold


def test_no_range_is_told_of_what_is_best_only_together() -> None:
    """What no session would be given alone stands for no value of the model: that is said, and no range is."""
    begins = np.arange(1, 6) * 100_000
    ends = begins + 1_000
    sessions = (SessionTrace("a", None, begins, ends), SessionTrace("b", None, begins, ends))
    tuned = tune(recording(*sessions), MODEL, Question(profiles=("burst",), settings=5)).sessions
    others = [each for each in tuned if each.best != each.advice.best]
    assert others
    for each in others:
        assert not each.assumptions
        assert "not the best for this one alone" in each.advice.notes[-1]
