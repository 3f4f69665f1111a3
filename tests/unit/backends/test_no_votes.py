"""Going on without votes, and the environment variable that names a backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from htppower import BackendUnavailable, VoteController, profile_names
from htppower.backends import NoVotes
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name a library that is not there, and no backend."""
    monkeypatch.setenv("HTPPOWER_QNN_LIBRARY", "/nowhere/libQnnHtp.so")
    monkeypatch.delenv("HTPPOWER_BACKEND", raising=False)


def controllers(backend: str | None) -> Iterator[VoteController]:
    """Yield a controller on a named backend, and close it."""
    with VoteController(backend, time=VirtualTime(), handle_sigterm=False) as controller:
        yield controller


@pytest.mark.parametrize("name", ["none", "qnn_or_none"])
def test_a_host_goes_on_without_votes(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """Every shipped profile opens and infers; one WARNING and the status say that no votes are sent."""
    for controller in controllers(name):
        for profile in profile_names():
            with controller.session(profile) as session:
                with session.init(), session.inference():
                    pass
                session.use("balanced")
        described = controller.status().backend
        assert (described.name, described.hardware) == ("none", False)
        assert described.library.startswith("nothing is voted: ")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "nothing is voted" in caplog.text


def test_the_warning_says_why_the_library_is_not_used(caplog: pytest.LogCaptureFixture) -> None:
    """The reason is the same as in the error of a controller that must use the library."""
    with pytest.raises(BackendUnavailable) as refused:
        VoteController("qnn", handle_sigterm=False)
    for _ in controllers("qnn_or_none"):
        assert refused.value.message in caplog.text


@pytest.mark.parametrize(("name", "backend"), [("simulated", "simulated"), ("none", "none"), ("qnn_or_none", "none")])
def test_the_environment_names_the_backend(monkeypatch: pytest.MonkeyPatch, name: str, backend: str) -> None:
    """The variable counts if the host names no backend."""
    monkeypatch.setenv("HTPPOWER_BACKEND", name)
    for controller in controllers(None):
        assert controller.status().backend.name == backend


def test_a_backend_that_the_host_names_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A named backend that can't be used stays an error."""
    monkeypatch.setenv("HTPPOWER_BACKEND", "none")
    for controller in controllers("simulated"):
        assert controller.status().backend.name == "simulated"
    with pytest.raises(BackendUnavailable):
        VoteController("qnn", handle_sigterm=False)


@pytest.mark.parametrize("name", ["", None])
def test_without_a_name_the_vendors_library_is_used(monkeypatch: pytest.MonkeyPatch, name: str | None) -> None:
    """Nothing falls back to another backend; an empty variable counts as not set."""
    if name is not None:
        monkeypatch.setenv("HTPPOWER_BACKEND", name)
    with pytest.raises(BackendUnavailable, match="nowhere"):
        VoteController(handle_sigterm=False)


def test_a_wrong_name_in_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the variable and the backends."""
    monkeypatch.setenv("HTPPOWER_BACKEND", "gpu")
    with pytest.raises(BackendUnavailable, match=r"HTPPOWER_BACKEND: no backend 'gpu'; one of qnn, simulated, none"):
        VoteController(handle_sigterm=False)


def test_no_votes_gives_each_id_once() -> None:
    """IDs are distinct numbers, as from any backend, and every call on them succeeds."""
    backend = NoVotes()
    assert len({backend.create_power_config_id(0, 0) for _ in range(9)}) == 9
