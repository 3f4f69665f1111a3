"""Learnt sustain times are kept over a restart, by owner and profile."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import attrs
import pytest
from support.bench import Bench
from support.inside import flush_learnt
from support.learnt_files import BREAK_EVEN, entries, kept_by_one, learn, learning, learnt

from htppower import load_profile
from htppower.control.learning.learnt import PERIOD_US
from htppower.profiles.profile import Then
from htppower.profiles.sustain import Adaptive

if TYPE_CHECKING:
    from pathlib import Path

    from htppower import Profile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of the file."""
    return tmp_path / "learnt.json"


def test_a_session_goes_on_where_it_was(path: Path) -> None:
    """After a restart, a session continues with the timeout and the gaps of the last one with its owner and profile."""
    known = kept_by_one(path)
    assert known[0] == 40
    bench = Bench.make(learnt=path)
    session = bench.controller.session(learning(), owner="camera")
    assert learnt(bench) == [known]
    assert known[1] != learning().relax.after_inference_us.first_us  # type: ignore[union-attr]
    learn(bench, session, 2)
    bench.controller.close()
    assert [each["state"]["savings"][0] for each in entries(path)] == [42]


def test_others_begin_anew(path: Path) -> None:
    """Sessions of another owner, or without an owner, begin without learnt times; nothing is kept without an owner."""
    kept_by_one(path)
    bench = Bench.make(learnt=path)
    learn(bench, bench.controller.session(learning()), 1)
    bench.controller.session(learning(), owner="door")
    assert [gaps for gaps, _ in learnt(bench)] == [1, 0]
    bench.controller.close()
    assert [each["owner"] for each in entries(path)] == ["camera"]


def test_of_a_profile_that_was_changed_counts_the_form_in_use(path: Path) -> None:
    """Only times learnt with the present values of a profile are kept; those of its old values do not come back."""
    bench = Bench.make(learnt=path)
    session = bench.controller.session(learning(), owner="camera")
    learn(bench, session, 5)
    session.use(learning(Adaptive(break_even_us=50_000)))
    learn(bench, session, 40)
    for _ in range(2):
        flush_learnt(bench.controller)
        assert [each["state"]["savings"][0] for each in entries(path)] == [40]
    session.use(learning())
    bench.controller.close()
    assert [each["sustain"]["break_even_us"] for each in entries(path)] == [100_000]


@pytest.mark.parametrize(
    ("profile", "reason"),
    [
        (learning(Adaptive(break_even_us=30_000)), "break_even_us=100000"),
        (learning(Adaptive(cold_starts_ppm=50_000)), "break_even_us=100000"),
        (learning(attrs.evolve(BREAK_EVEN, most_us=90_000)), "most_us=200000"),
        (learning(name="sustained_high_performance"), "the profile burst"),
    ],
)
def test_what_was_learnt_otherwise_is_refused(
    path: Path, profile: Profile, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Entries of another profile, or of other values, are not used; one warning says why."""
    kept_by_one(path)
    bench = Bench.make(learnt=path)
    with caplog.at_level(logging.WARNING, "htppower"):
        for _ in range(2):
            bench.controller.session(profile, owner="camera").close()
        session = bench.controller.session(profile, owner="camera")
        bench.time.advance_us(0)
    assert learnt(bench) == [(0, session.profile.relax.after_inference_us.first_us)]  # type: ignore[union-attr]
    assert [reason in record.getMessage() for record in caplog.records] == [True]
    learn(bench, session, 1)
    bench.controller.close()
    # The entry of another profile stays; an entry with other values is replaced.
    assert len(entries(path)) == 1 + (profile.name != "burst")


def test_use_and_holds_go_on_with_what_was_learnt(path: Path) -> None:
    """A session that changes to a profile by ``use`` or a hold also begins with the time learnt for it."""
    known = kept_by_one(path)
    bench = Bench.make(learnt=path)
    session = bench.controller.session("balanced", owner="camera")
    session.use(learning())
    assert learnt(bench) == [known]
    bench.controller.close()


def test_two_profiles_whose_time_is_learnt_in_one_way_are_kept_apart(path: Path) -> None:
    """Two profiles with the same learning options have an entry each, even if one is used only in a hold."""
    bench = Bench.make(learnt=path)
    session = bench.controller.session(learning(), owner="camera")
    learn(bench, session, 4)
    with session.hold(learning(name="sustained_high_performance"), reason="a call"):
        learn(bench, session, 2)
    assert learnt(bench)[0][0] == 4
    bench.controller.close()
    assert {each["profile"]: each["state"]["savings"][0] for each in entries(path)} == {
        "burst": 4,
        "sustained_high_performance": 2,
    }


def test_the_time_of_the_second_power_state_is_kept(path: Path) -> None:
    """The time until the second power state is kept, too, even if the sustain time is fixed."""
    further = Adaptive(break_even_us=200_000)
    profile = load_profile("burst")
    assert profile.relax is not None
    then = Then(profile.relax.after_deinit_to, further)
    profile = attrs.evolve(profile, relax=attrs.evolve(profile.relax, after_inference_us=20_000, then=then))
    bench = Bench.make(learnt=path)
    session = bench.controller.session(profile, owner="camera")
    learn(bench, session, 30)
    known = bench.controller.status().sessions[0].learnt_further
    assert known is not None
    assert (known.gaps, known.time_out_us) == (30, 0)
    bench.time.advance_us(PERIOD_US)
    assert [(each["further"], each["state"]["savings"][0]) for each in entries(path)] == [(True, 30)]
    bench.infer(session)
    bench.time.advance_us(PERIOD_US)
    assert [each["state"]["savings"][0] for each in entries(path)] == [31]
    known = bench.controller.status().sessions[0].learnt_further
    bench.controller.close()
    bench = Bench.make(learnt=path)
    bench.controller.session(profile, owner="camera")
    status = bench.controller.status().sessions[0]
    assert (status.learnt, status.learnt_further) == (None, known)
    bench.controller.close()


def test_what_a_closed_session_has_learnt_is_kept(path: Path) -> None:
    """If several closed sessions have one owner and profile, the entry with the most gaps is kept."""
    bench = Bench.make(learnt=path)
    first, second = (bench.controller.session(learning(), owner="camera") for _ in range(2))
    learn(bench, first, 7)
    learn(bench, second, 3)
    first.close()
    second.close()
    assert not path.exists()
    third = bench.controller.session(learning(), owner="camera")
    assert learnt(bench)[0][0] == 7
    third.close()
    bench.controller.close()
    assert [each["state"]["savings"][0] for each in entries(path)] == [7]


def test_without_a_file_nothing_is_kept(tmp_path: Path, bench: Bench) -> None:
    """Without a path, nothing is written."""
    learn(bench, bench.controller.session(learning(), owner="camera"), 1)
    bench.controller.close()
    assert list(tmp_path.iterdir()) == []
