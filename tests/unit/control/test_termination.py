"""The handler of SIGTERM: when it is set, which handlers it replaces, and the warning if it can't be set."""

from __future__ import annotations

import functools
import os
import signal
import threading
import warnings
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.control.termination import TERMINATION
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows kills where POSIX sends SIGTERM")

_SIGNAL = signal.signal


@pytest.fixture(autouse=True)
def default_action() -> Iterator[None]:
    """Begin with the default action, and restore the process's handlers."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    assert signal.signal is _SIGNAL
    for number, handler in before.items():
        signal.signal(number, handler)


def _controller(**settings: Any) -> VoteController:
    return VoteController(SimulatedHtp(75), time=VirtualTime(), **settings)


def _handlers() -> set[object]:
    return {signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}


def _hosts_own(_number: int, _frame: object) -> None:
    """Handle a signal, as a host does."""


def _elsewhere(action: Callable[[], object]) -> list[warnings.WarningMessage]:
    """Run an action on a thread; return its warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        thread = threading.Thread(target=action)
        thread.start()
        thread.join()
    return said


def test_the_default_action_is_replaced_while_a_controller_is_open() -> None:
    """Both signals have the handler while a controller is open; after the last one they are as before."""
    with _controller(), _controller():
        assert _handlers() == {TERMINATION}
    assert _handlers() == {signal.SIG_DFL}


def test_nothing_is_replaced_where_that_is_not_asked_for() -> None:
    """With ``handle_sigterm=False`` the handlers stay as they are."""
    with _controller(handle_sigterm=False):
        assert _handlers() == {signal.SIG_DFL}
        assert signal.signal is _SIGNAL


def test_a_handler_of_the_hosts_own_gives_way_to_this_one_and_to_no_other() -> None:
    """A host's handler stays; if a server restores the default action, htppower's handler is set instead."""
    servers = {number: signal.signal(number, _hosts_own) for number in (signal.SIGTERM, signal.SIGHUP)}
    with _controller():
        assert _handlers() == {_hosts_own}
        for number, handler in servers.items():
            signal.signal(number, handler)
        assert _handlers() == {TERMINATION}
        assert signal.signal(signal.SIGTERM, _hosts_own) is TERMINATION
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        usual = signal.signal(signal.SIGUSR1, signal.SIG_DFL)
        assert signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL
        signal.signal(signal.SIGUSR1, usual)


def test_who_has_kept_the_function_sets_the_default_action_after_the_last_controller() -> None:
    """After the last controller, a stored replacement of ``signal.signal`` only calls the original."""
    with _controller():
        kept = signal.signal
    kept(signal.SIGTERM, signal.SIG_DFL)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_thread_is_told_that_it_can_take_no_signal() -> None:
    """A controller that is made on a thread warns at once, but only if SIGTERM would kill the process."""
    (said,) = _elsewhere(lambda: _controller().close())
    assert said.category is RuntimeWarning
    assert "SIGTERM will kill this process with its votes up" in str(said.message)
    assert said.filename == __file__
    assert not _elsewhere(lambda: _controller(handle_sigterm=False).close())
    with _controller():
        assert not _elsewhere(lambda: _controller().close())
    signal.signal(signal.SIGTERM, _hosts_own)
    assert not _elsewhere(lambda: _controller().close())


def test_a_controller_made_on_a_thread_is_closed_by_a_handler_that_is_set_later() -> None:
    """If the main thread restores the default action later, the handler also serves a controller made on a thread."""
    before = signal.signal(signal.SIGTERM, _hosts_own)
    made: list[VoteController] = []
    _elsewhere(lambda: made.append(_controller()))
    signal.signal(signal.SIGTERM, before)
    assert signal.getsignal(signal.SIGTERM) is TERMINATION
    made[0].close()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_replacement_that_somebody_undoes_is_made_again() -> None:
    """If another library restores ``signal.signal``, the next controller replaces it again."""
    with _controller():
        signal.signal = _SIGNAL
        with _controller():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            assert signal.getsignal(signal.SIGTERM) is TERMINATION


def test_the_handler_is_taken_also_where_the_function_is_a_mock() -> None:
    """A host's test may have replaced ``signal.signal`` by a mock: the handler is set all the same."""
    with mock.patch("signal.signal"), _controller():
        assert _handlers() == {TERMINATION}
    with mock.patch("signal.signal"):
        first = _controller()
    with _controller():
        assert _handlers() == {TERMINATION}
    first.close()
    assert _handlers() == {signal.SIG_DFL}


def test_replacements_do_not_pile_up() -> None:
    """If a host wraps ``signal.signal`` during each controller, no chain of wrappers grows."""
    depths = []
    for _ in range(3):
        with _controller():
            found: Any = signal.signal
            signal.signal = functools.partial(found)
        signal.signal = found
        depths.append(_depth(found))
    assert len(set(depths)) == 1
    signal.signal = _SIGNAL


def _depth(function: Any) -> int:
    depth = 0
    while hasattr(function, "__wrapped__"):
        function, depth = function.__wrapped__, depth + 1
    return depth


def test_a_warning_made_an_error_leaves_nothing_behind() -> None:
    """If the warning is raised as an error, the controller is closed, and ``signal.signal`` is restored."""
    raised: list[BaseException] = []

    def make() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                _controller()
            except RuntimeWarning as error:
                raised.append(error)

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    assert len(raised) == 1
    assert signal.signal is _SIGNAL
