"""What sessions learn of their sustain times is kept over a restart: whole or not at all, and for the same profile."""

from __future__ import annotations

import json
import logging
import threading
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from bench import Bench

from htppower import load_profile
from htppower.control.learning.learnt import MOST_ENTRIES, PERIOD_US, Learnt
from htppower.control.learning.learnt_file import Entry, read, write
from htppower.control.time.scheduler import SystemTime
from htppower.profiles.profile import Then
from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from pathlib import Path

    from htppower import Profile, Session

BREAK_EVEN = Adaptive(break_even_us=100_000)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where it is kept."""
    return tmp_path / "learnt.json"


def learning(sustain: Adaptive = BREAK_EVEN, name: str = "burst") -> Profile:
    """Return a profile of which the sustain time is learnt."""
    profile = load_profile(name)
    assert profile.relax is not None
    return attrs.evolve(profile, relax=attrs.evolve(profile.relax, after_inference_us=sustain))


def learn(bench: Bench, session: Session, gaps: int) -> None:
    """Run inferences with long gaps before them, and one before these."""
    for _ in range(gaps + 1):
        bench.infer(session)
        bench.time.advance_us(1_000_000)


def learnt(bench: Bench) -> list[tuple[int, int]]:
    """Return how many gaps each open session has learnt from, and its time-out."""
    found = [session.learnt for session in bench.controller.status().sessions]
    return [(each.gaps, each.time_out_us) for each in found if each is not None]


def entries(path: Path) -> list[dict[str, Any]]:
    """Return what is kept."""
    made: list[dict[str, Any]] = json.loads(path.read_text(encoding="ascii"))["entries"]
    return made


def kept_by_one(path: Path, gaps: int = 40) -> tuple[int, int]:
    """Have a session learn, close its controller, and return what it has learnt."""
    bench = Bench.make(learnt=path)
    learn(bench, bench.controller.session(learning(), owner="camera"), gaps)
    (known,) = learnt(bench)
    bench.controller.close()
    return known


def test_a_session_goes_on_where_it_was(path: Path) -> None:
    """After a restart it has the time-out and the gaps that the one of its owner and profile had learnt."""
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
    """Sessions of another owner, and of none, know nothing; and nothing is kept of those without an owner."""
    kept_by_one(path)
    bench = Bench.make(learnt=path)
    learn(bench, bench.controller.session(learning()), 1)
    bench.controller.session(learning(), owner="door")
    assert [gaps for gaps, _ in learnt(bench)] == [1, 0]
    bench.controller.close()
    assert [each["owner"] for each in entries(path)] == ["camera"]


def test_of_a_profile_that_was_changed_counts_the_form_in_use(path: Path) -> None:
    """What was learnt with the form before does not come back, also where nothing more is learnt, until that does."""
    bench = Bench.make(learnt=path)
    session = bench.controller.session(learning(), owner="camera")
    learn(bench, session, 5)
    session.use(learning(Adaptive(break_even_us=50_000)))
    learn(bench, session, 40)
    for _ in range(2):
        bench.controller._registry.learnt.flush()  # type: ignore[union-attr]
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
    """Another profile, and other values of the same, begin anew; the log says so once, and what was learnt."""
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
    # What was learnt with another profile stays; with other values it is of no use any more.
    assert len(entries(path)) == 1 + (profile.name != "burst")


def test_use_and_holds_go_on_with_what_was_learnt(path: Path) -> None:
    """Not only the profile that a session is opened with."""
    known = kept_by_one(path)
    bench = Bench.make(learnt=path)
    session = bench.controller.session("balanced", owner="camera")
    session.use(learning())
    assert learnt(bench) == [known]
    bench.controller.close()


def test_two_profiles_whose_time_is_learnt_in_one_way_are_kept_apart(path: Path) -> None:
    """What a session learns under a hold is the other profile's, and what it had learnt before stays its own."""
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
    """Beside the sustain time, also where that is fixed."""
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


def test_it_is_written_in_the_background(path: Path) -> None:
    """Every ten minutes where something has changed; once nothing learns, no timer runs."""
    bench = Bench.make(learnt=path)
    session = bench.controller.session(learning(), owner="camera")
    learn(bench, session, 3)
    bench.time.advance_us(PERIOD_US)
    assert [each["state"]["savings"][0] for each in entries(path)] == [3]
    changed_ns = path.stat().st_mtime_ns
    bench.time.advance_us(3 * PERIOD_US)
    assert path.stat().st_mtime_ns == changed_ns
    session.close()
    bench.time.advance_us(PERIOD_US)
    assert bench.time.alarms == 0
    bench.controller.close()


def test_what_a_closed_session_has_learnt_is_kept(path: Path) -> None:
    """Of several with one owner and profile, what was learnt from most gaps."""
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


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"format":1', '"format":2'),
        lambda text: text.replace('"break_even_us":100000', '"break_even_us":"100000"'),
        lambda text: text.replace('"break_even_us":100000', '"break_even_us":0.5'),
        lambda text: text.replace('"cold_starts_ppm":null', '"cold_starts_ppm":5'),
        lambda text: text.replace('"counts":[', '"counts":[7,'),
        lambda text: text.replace('"counts":[', '"counts":[-1'),
        lambda text: text.replace('"bank_us":', '"bank_us":9'),
        lambda text: text.replace('"owner":"camera"', '"owner":7'),
        lambda text: text.replace('"further":false', '"further":0'),
        lambda text: text.replace('"entries":[', '"entries":[7,'),
        lambda text: text.replace('"entries":[', '"entries":{}, "others": ['),
        lambda _text: "",
    ],
)
def test_a_damaged_file_is_put_aside(path: Path, change: Any, caplog: pytest.LogCaptureFixture) -> None:
    """None of it is used, not even its good entries; it is kept beside, and a WARNING says where."""
    kept_by_one(path)
    text = path.read_text(encoding="ascii")
    damaged = change(text)
    assert damaged != text
    path.write_text(damaged, encoding="ascii")
    with caplog.at_level(logging.WARNING, "htppower"):
        bench = Bench.make(learnt=path)
    aside = path.with_name("learnt.json.bad")
    assert (aside.read_text(encoding="ascii"), path.exists()) == (damaged, False)
    assert str(aside) in caplog.text
    bench.controller.session(learning(), owner="camera")
    assert learnt(bench)[0][0] == 0
    bench.controller.close()


def test_what_is_no_such_file_is_refused(path: Path) -> None:
    """A missing folder, a folder, a device and a file of something else are refused by name, and left alone."""
    with pytest.raises(FileNotFoundError, match=f"folder is missing.*{path.parent / 'none' / 'l'}"):
        Bench.make(learnt=path.parent / "none" / "l")
    with pytest.raises(IsADirectoryError, match=str(path.parent)):
        Bench.make(learnt=path.parent)
    with pytest.raises(ValueError, match="/dev/null is no file"):
        Bench.make(learnt="/dev/null")
    path.write_text('{"mine": 1}', encoding="ascii")
    with pytest.raises(ValueError, match="something else"):
        Bench.make(learnt=path)
    assert path.read_text(encoding="ascii") == '{"mine": 1}'


def test_a_full_disk_is_told_once(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What was there stays as it was, and it is tried again."""
    known = kept_by_one(path)
    before = path.read_text(encoding="ascii")
    bench = Bench.make(learnt=path)
    session = bench.controller.session(learning(), owner="camera")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING, "htppower"):
        patch.setattr("htppower.control.learning.learnt.write", full)
        learn(bench, session, 1)
        bench.time.advance_us(2 * PERIOD_US)
    assert (len(caplog.records), path.read_text(encoding="ascii")) == (1, before)
    bench.controller.close()
    assert [each["state"]["savings"][0] for each in entries(path)] == [known[0] + 1]


def test_there_are_so_many_entries_at_most(path: Path) -> None:
    """Owners that are made up for each request do not fill the file: the latest are kept."""
    learner = make_learner(BREAK_EVEN)
    learner.learn(1_000_000)
    write(str(path), (Entry(f"request {n}", "burst", False, BREAK_EVEN, learner.state()) for n in range(MOST_ENTRIES)))
    kept_by_one(path, 1)
    made = [each.owner for each in read(str(path))]
    assert (len(made), made[0], made[-1]) == (MOST_ENTRIES, "request 1", "camera")


def test_without_a_file_nothing_is_kept(tmp_path: Path, bench: Bench) -> None:
    """Nobody who does not ask for it has one."""
    learn(bench, bench.controller.session(learning(), owner="camera"), 1)
    bench.controller.close()
    assert list(tmp_path.iterdir()) == []


def test_what_comes_while_the_disk_is_slow_is_written_after_the_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing waits no longer than it says for a writing that hangs; the last one still follows that."""
    monkeypatch.setattr("htppower.control.learning.learnt.LONGEST_WRITE_S", 0.01)
    begun, goes_on = threading.Event(), threading.Event()

    def slow(*given: Any) -> None:
        begun.set()
        assert goes_on.wait(20)
        write(*given)

    monkeypatch.setattr("htppower.control.learning.learnt.write", slow)
    time = SystemTime()
    kept = Learnt(path, time, tuple)
    learner = make_learner(BREAK_EVEN)
    learner.learn(1_000_000, waited=True)
    early, late = (Entry(owner, "burst", False, BREAK_EVEN, learner.state()) for owner in "ab")
    kept._add([early])
    kept.flush(0)
    assert begun.wait(20)
    kept._add([late])
    kept.close()
    worker = kept._background._worker
    goes_on.set()
    assert worker.flush(20)
    time.close()
    assert [each.owner for each in read(str(path))] == ["a", "b"]
