"""A wrong argument is an error at once, with a message of ours, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.slashes import no_such_file

from htppower import VoteController, VoteRejected
from htppower.errors import ProfileError
from htppower.profiles.cache import ProfileCache
from htppower.tools.review.diff.sides import here
from htppower.tools.review.lint.run import lint
from htppower.tools.review.vote_tests.files import load_tests
from htppower.votes.native_codes import SUCCESS, what_to_do, what_to_do_at_start

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.bench import Bench


class Sevens:
    """A whole number of another library: 7."""

    def __index__(self) -> int:
        """Return the number."""
        return 0


@pytest.mark.parametrize("timeout_s", [-1, float("nan"), float("inf")])
def test_a_time_that_no_thread_can_wait_is_refused(bench: Bench, timeout_s: float, tmp_path: Path) -> None:
    """``flush`` refuses a time that is too long to wait, as ``close`` does."""
    with bench.controller.record(tmp_path / "recording") as recording:
        for flush in (bench.controller.flush_events, recording.flush):
            with pytest.raises(ValueError, match="timeout_s is"):
                flush(timeout_s)


@pytest.mark.parametrize("timeout_s", ["1", [1], 1j])
def test_a_time_that_is_no_number_is_named(bench: Bench, timeout_s: Any) -> None:
    """The error names the argument and the kind that it needs; the controller is not closed."""
    session = bench.controller.session("burst")
    for close in (session.close, bench.controller.close):
        with pytest.raises(TypeError, match=r"^timeout_s is .*: seconds from 0 to .*, or None to wait for every call$"):
            close(timeout_s)
    with pytest.raises(TypeError, match=r"^timeout_s is None: seconds from 0 to [^,]*$"):
        bench.controller.flush_events(None)  # type: ignore[arg-type]
    with session.inference():
        assert session.in_flight == 1


def test_what_is_no_path_is_named(bench: Bench) -> None:
    """The path of a status file, a recording or the learnt times is checked; nothing is written."""
    begins: tuple[Callable[[Any], object], ...] = (bench.controller.serve_status, bench.controller.record)
    for begin in begins:
        for path in (5, b"x", ("a",)):
            with pytest.raises(TypeError, match=r"^path is .*: the path of a file$"):
                begin(path)
    with pytest.raises(TypeError, match=r"^learnt is 5: the path of a file$"):
        VoteController("simulated", learnt=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [lambda folders: VoteController("simulated", folders=folders), ProfileCache])
def test_a_folder_that_can_not_be_read_is_refused_at_once(make: Callable[[Any], object], tmp_path: Path) -> None:
    """A folder that can't be read raises the same ProfileError as loading a profile, before any session is opened."""
    with pytest.raises(ProfileError, match=f"nowhere: FILE-1: can't be read: {no_such_file()}"):
        make([tmp_path, tmp_path / "nowhere"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"device_id": "0"}, "device_id is '0': a whole number from 0"),
        ({"device_id": None}, "device_id is None"),
        ({"device_id": 0.0}, "device_id is 0.0"),
        ({"device_id": True}, "device_id is True"),
        ({"core_ids": 0}, r"core_ids is 0: a list of cores, such as \(0,\)"),
        ({"core_ids": "01"}, "core_ids is '01': a list of cores"),
        ({"core_ids": b"01"}, "core_ids is b'01': a list of cores"),
        ({"core_ids": ("0",)}, "core_ids has '0': whole numbers from 0"),
        ({"core_ids": (0, 1.5)}, "core_ids has 1.5"),
        ({"profile": 5}, "the profile is 5: a name, a path, or a Profile"),
        ({"profile": b"burst"}, "the profile is b'burst'"),
    ],
)
def test_a_session_of_a_wrong_device_or_core(bench: Bench, arguments: dict[str, Any], said: str) -> None:
    """No call is made, no session is opened, and the error is not a native code."""
    with pytest.raises(TypeError, match=said):
        bench.controller.session(**{"profile": "burst", **arguments})
    assert not bench.recorder.calls
    assert not bench.controller.status().sessions


@pytest.mark.parametrize("number", [-1, 2**32, 2**40])
def test_a_number_that_the_call_can_not_carry_is_refused(bench: Bench, number: int) -> None:
    """A number over 32 bits is refused: cut to 32 bits, 4294967296 would be device 0."""
    with pytest.raises(ValueError, match=f"device_id is {number}: a whole number from 0 to 4294967295"):
        bench.controller.session("burst", device_id=number)
    with pytest.raises(ValueError, match=f"core_ids has {number}: whole numbers from 0 to 4294967295"):
        bench.controller.session("burst", core_ids=(0, number))
    assert not bench.recorder.calls


def test_whole_numbers_of_other_libraries_are_taken(bench: Bench) -> None:
    """A number with ``__index__`` is accepted for a device or a core."""
    session = bench.controller.session("burst", device_id=Sevens(), core_ids=[Sevens()])  # type: ignore[arg-type, list-item]
    (opened,) = bench.controller.status().sessions
    assert (opened.device_id, opened.core_ids) == (0, (0,))
    session.close()


@pytest.mark.parametrize("folders", ["dir", b"dir", 5, [5], [b"dir"]])
@pytest.mark.parametrize(
    "make",
    [
        lambda folders: VoteController("simulated", folders=folders),
        ProfileCache,
        here,
        lambda folders: lint(["."], None, profiles=folders),  # type: ignore[arg-type]
        lambda folders: load_tests(["."], folders),
    ],
    ids=["controller", "cache", "diff", "lint", "tests"],
)
def test_one_folder_in_the_place_of_a_list(
    make: Callable[[Any], object], folders: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single string is refused instead of a list: as a list, it would be one folder for each letter."""
    for letter in "dir":
        (tmp_path / letter).mkdir()
    (tmp_path / "mine.yaml").write_text("profile: mine\nextends: burst\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match=r"folders (is|has) "):
        make(folders)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"backend": 5}, "backend is 5, which has no create_power_config_id"),
        ({"time": 5}, "time is 5, which has no call_at"),
        ({"foo": 1}, "unexpected keyword argument 'foo'"),
    ],
)
def test_a_controller_of_wrong_parts(arguments: dict[str, Any], said: str) -> None:
    """A controller with a wrong argument opens nothing."""
    with pytest.raises(TypeError, match=said):
        VoteController(**{"backend": "simulated", **arguments})


def test_what_can_not_be_called_is_no_subscriber(bench: Bench) -> None:
    """``subscribe`` raises TypeError, before any event."""
    with pytest.raises(TypeError, match="the subscriber is 5, which can't be called"):
        bench.controller.subscribe(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="kinds are 5: kinds of events"):
        bench.controller.subscribe(print, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize("code", [1003, 13005, 13006, 4711])
def test_a_session_that_failed_to_open_does_not_promise_votes(bench: Bench, code: int) -> None:
    """If no session was opened, the message does not promise that votes are sent again."""
    bench.simulated.fail_next(code, function="createPowerConfigId")
    with pytest.raises(VoteRejected) as caught:
        bench.controller.session("burst")
    assert "sent again" not in str(caught.value)
    assert "no id was created" in str(caught.value)
    assert not bench.controller.status().sessions


def test_votes_are_promised_where_a_session_sends_them_again() -> None:
    """Only a failed vote of an open session is sent again, so only its message promises this."""
    assert "sent again" in what_to_do(13003)
    assert what_to_do(SUCCESS) == "nothing"
    for function in ("createPowerConfigId", "destroyPowerConfigId"):
        assert "sent again" not in what_to_do(13003, function)
    for function in ("createPowerConfigId", "setPowerConfig", "destroyPowerConfigId"):
        assert "sent again" not in what_to_do_at_start(13006, function)


def test_a_profile_that_is_not_there_is_no_type(bench: Bench) -> None:
    """A string is a name, even if it is empty, so the error is not about its type."""
    with pytest.raises(ProfileError, match="NAME-1"):
        bench.controller.session("")


@pytest.mark.parametrize("wrong", [1.5, True, "5ms", float("nan")])
def test_a_timeout_that_is_no_whole_number(bench: Bench, wrong: Any) -> None:
    """The timeout of a ticket, a stream or a hold is refused at once, and nothing begins."""
    session = bench.controller.session("burst")
    begun: list[Callable[[], object]] = [
        lambda: session.begin(timeout_us=wrong),
        lambda: session.stream([1], idle_timeout_us=wrong),
        lambda: session.hold("balanced", reason="a test", timeout_us=wrong),
    ]
    for begin in begun:
        with pytest.raises(TypeError, match=r"timeout_us is .*: a whole number of us, or None for no timeout"):
            begin()
    assert (session.in_flight, bench.controller.status().sessions[0].holds) == (0, ())
