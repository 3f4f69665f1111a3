"""Tuning of a recording: the sessions and profiles that are tried, and the refusals."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from support.advising import MODEL, periodic, recording

from htppower.profiles.names import SHIPPED_PROFILES
from htppower.tools.tuning.limits import parse_limit
from htppower.tools.tuning.traces.trace import SessionTrace
from htppower.tools.tuning.tune import Question, TuningError, chosen, tune


def test_a_recording_without_an_inference_is_nothing_to_tune() -> None:
    """The error names the recording; an unknown session and a profile without votes are errors too."""
    empty = SessionTrace("camera", None, np.zeros(0, np.int64), np.zeros(0, np.int64))
    with pytest.raises(TuningError, match=r"recording\.json.*nothing to tune"):
        tune(recording(empty), MODEL, Question())
    with pytest.raises(TuningError, match="no session 'voice'; it has camera"):
        chosen(recording(empty), ("voice",))
    with pytest.raises(TuningError, match="sends no votes"):
        tune(recording(attrs.evolve(periodic(), profile="system_settings")), MODEL, Question())


def test_a_session_without_a_gap_is_nothing_to_tune() -> None:
    """Such a session is left out and named; if no session has a gap, the recording is refused."""
    one = SessionTrace("one", None, np.array([5], np.int64), np.array([9], np.int64))
    touching = SessionTrace("touching", None, np.array([5, 9], np.int64), np.array([9, 12], np.int64))
    with pytest.raises(TuningError, match=r"recording\.json: nothing to tune: no session has two inferences"):
        tune(recording(one, touching), MODEL, Question())
    tuning = tune(recording(one, periodic(30), touching), MODEL, Question(profiles=("burst",)))
    assert [each.advice.session.name for each in tuning.sessions] == ["camera"]
    assert any("left out" in note and "one, touching" in note for note in tuning.trace.notes)


def test_two_inferences_are_tuned_and_said_to_be_few() -> None:
    """The result is complete nevertheless, and a note says that the recording is too short."""
    two = SessionTrace("camera", None, np.array([5, 90_000], np.int64), np.array([5, 90_000], np.int64))
    tuning = tune(recording(two), MODEL, Question(verify=3))
    (session,) = tuning.sessions
    assert session.best is not None
    assert tuning.equal
    assert any("assumed: burst" in note for note in session.advice.notes)
    assert any("too short: it has 1 gap" in note for note in session.advice.notes)
    assert session.checked is None


@pytest.mark.parametrize("count", [10, 100, 1_000])
def test_what_is_drawn_after_the_last_inference_is_no_saving(count: int) -> None:
    """For any number of inferences, two times that keep votes up between all of them cost the same."""
    begins = np.arange(count) * 33_000
    session = SessionTrace("camera", "burst", begins, begins + 8_000)
    (tuned,) = tune(recording(session), MODEL, Question(profiles=("burst",), within=0)).sessions
    offer = tuned.advice.offer(tuned.advice.present)
    assert offer.choice(30_000).energy_j == pytest.approx(tuned.advice.present.energy_j)


def test_all_profiles_of_the_vendor_are_tried_and_those_for_decode_beside_one_of_them() -> None:
    """Profiles with votes are tried, with and without polling if no rule warns; a note names profiles without votes."""
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
    named = tune(recording(periodic(5)), MODEL, Question(profiles=("burst", "system_settings"))).sessions[0].advice
    assert {offer.variant.name for offer in named.offers} == {"burst"}
    assert any(note.startswith("system_settings is left out") for note in named.notes)


def test_a_raise_that_is_later_than_a_timer_keeps_is_tuned_gap_by_gap() -> None:
    """With a raise that is 30 ms late, the result is found and equals the controller's."""
    late = MODEL.with_value("raise_late_us", 30_000)
    tuning = tune(recording(periodic(30)), late, Question((parse_limit("cold <= 50 %"),), verify=2))
    assert tuning.sessions[0].best is not None
    assert tuning.equal
