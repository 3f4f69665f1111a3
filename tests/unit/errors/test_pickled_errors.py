"""Errors pass through a pool of processes: an error that can't be unpickled would break the pool or block it."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import pytest

import htppower
from htppower import BackendUnavailable, CloseTimedOut, HtpPowerError, ProfileError, SessionClosed, VoteRejected
from htppower.hosts.onnxruntime import ProviderVotes

if TYPE_CHECKING:
    from collections.abc import Callable


def _raised(kind: type[HtpPowerError], action: Callable[[], object]) -> HtpPowerError:
    with pytest.raises(kind) as caught:
        action()
    return caught.value


ERRORS: dict[str, Callable[[], HtpPowerError]] = {
    "profile": lambda: _raised(ProfileError, lambda: htppower.load_profile("nope")),
    "backend": lambda: _raised(BackendUnavailable, lambda: htppower.backends.QnnHtp(library="/nonexistent.so")),
    "vote": lambda: VoteRejected(13006, htppower.load_profile("burst").votes, function="setPowerConfig"),
    "close": lambda: CloseTimedOut(2.0, (1,), ()),
    "provider": lambda: ProviderVotes({"qnn.htp_perf_mode": "burst"}),
    "session": lambda: SessionClosed("the controller is closed: make a new one"),
}


def _pickled(error: HtpPowerError) -> HtpPowerError:
    made: HtpPowerError = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    return made


@pytest.mark.parametrize("again", [_pickled, copy.copy])
@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_the_same_after_it(name: str, again: Callable[[HtpPowerError], HtpPowerError]) -> None:
    """Its type, its text and its attributes are the same."""
    error = ERRORS[name]()
    made = again(error)
    assert type(made) is type(error)
    assert (str(made), made.args, vars(made)) == (str(error), error.args, vars(error))
