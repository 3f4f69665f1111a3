"""A dead link through ctypes: the codes of the calls, and a device that is freed and made again."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest
from support.helpers import hmx, hvx
from support.inside import device_of
from support.standin import (
    ALWAYS,
    CRASHED,
    DEVICE,
    FIRST_ID,
    GONE,
    REFUSED,
    RESET,
    RPC_CONTROL_LATENCY,
    RPC_POLLING_TIME,
    functions,
)

from htppower.backends import QnnHtp
from htppower.errors import BackendUnavailable, Unavailable, VoteRejected
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.standin import Standin

VOTES, SETTING = VoteSet(hvx()), VoteSet(rpc_polling_time_us=50)
MADE_ANEW = ["deviceFree", "deviceCreate", "deviceGetInfrastructure"]


@pytest.fixture
def backend(standin: Standin) -> Iterator[QnnHtp]:
    """Yield the backend on a stand-in that behaves like the device library."""
    standin.script(DEVICE)
    made = QnnHtp(standin.path)
    yield made
    made.close()


def code_of(call: Callable[[], object]) -> int:
    """Return the code of a failed call, or 0."""
    try:
        call()
    except VoteRejected as error:
        return error.code
    return 0


def codes(backend: QnnHtp, made: int, names: str) -> list[int]:
    """Return the codes of calls in turn: v is a vote, s a setting, d a destroy of a new id."""
    calls: dict[str, Callable[[], object]] = {
        "v": lambda: backend.set_power_config(made, VOTES),
        "s": lambda: backend.set_power_config(made, SETTING),
        "d": lambda: backend.destroy_power_config_id(backend.create_power_config_id(0, 0)),
    }
    return [code_of(calls[name]) for name in names]


@pytest.mark.parametrize(
    ("answer", "names", "expected"),
    [
        (RESET, "vvs", [1007, 0, 0]),
        (RESET, "svs", [1007, 0, 0]),
        (RESET, "dvs", [1007, 0, 0]),
        (GONE, "svs", [13006, 1007, 0]),
        (REFUSED, "svs", [13006, 1007, 0]),
        (CRASHED, "vsvd", [13003, 13006, 13003, 13003]),
    ],
)
def test_what_a_restart_answers(
    standin: Standin, backend: QnnHtp, answer: int, names: str, expected: list[int]
) -> None:
    """The stand-in answers a restart as measured on the device library, for each answer of FastRPC."""
    made = backend.create_power_config_id(0, 0)
    assert codes(backend, made, "vs") == [0, 0]
    standin.restart(answer=answer)
    assert codes(backend, made, names) == expected


@pytest.mark.parametrize("line", ["down 1", "spoilt 1"])
def test_a_rebuild_that_fails_leaves_the_link_dead(standin: Standin, backend: QnnHtp, line: str) -> None:
    """The call answers 1011, and later calls 13003 and 13006, even when the DSP is back; a create answers 0."""
    made = backend.create_power_config_id(0, 0)
    standin.restart(line)
    assert codes(backend, made, "vvs") == [1011, 13003, 13006]
    standin.script(DEVICE)
    assert codes(backend, made, "vsd") == [13003, 13006, 13003]


def test_refused_polling_keeps_the_clocks_from_being_sent(standin: Standin, backend: QnnHtp) -> None:
    """The call answers 13006; the latency before the polling is sent, but not the invoke with DCVS_V3 and HMX_V2."""
    made = backend.create_power_config_id(0, 0)
    standin.script(DEVICE, f"option {RPC_POLLING_TIME} 13006")
    before = len(standin.trace)
    votes = VoteSet(hvx(), hmx(), rpc_control_latency_us=100, rpc_polling_time_us=9999)
    assert code_of(lambda: backend.set_power_config(made, votes)) == 13006
    sent = standin.trace[before:-1]
    assert [(line.function, line.arguments) for line in sent] == [("control", (f"{RPC_CONTROL_LATENCY}", "100"))]
    backend.set_power_config(made, votes.without(votes.options[-1]))
    assert functions(standin.trace)[-3:] == ["control", "invoke", "setPowerConfig"]


def test_a_failed_destroy_has_removed_the_id(standin: Standin, backend: QnnHtp) -> None:
    """The id accepts no vote any more, and a second destroy makes no call."""
    made = backend.create_power_config_id(0, 0)
    standin.restart(answer=CRASHED)
    assert code_of(lambda: backend.destroy_power_config_id(made)) == 13003
    before = len(standin.trace)
    assert codes(backend, made, "v") == [13001]
    backend.destroy_power_config_id(made)
    assert len(standin.trace) == before
    assert device_of(backend).destroy_id(made) == 0


@pytest.mark.parametrize("answer", [RESET, CRASHED])
def test_a_renewal_mends_a_dead_link(
    standin: Standin, backend: QnnHtp, caplog: pytest.LogCaptureFixture, answer: int
) -> None:
    """Only the device is made again: log and backend stay, new ids have other numbers, old ids are refused."""
    old = [backend.create_power_config_id(0, 0) for _ in range(3)]
    standin.restart("spoilt 1", answer=answer)
    codes(backend, old[0], "v")
    standin.script(DEVICE)
    before = len(standin.trace)
    backend.renew()
    # The first of the three ids can't be destroyed, so no other is tried.
    assert functions(standin.trace)[before:] == ["invoke", "destroyPowerConfigId", *MADE_ANEW]
    assert "deviceFree returned" not in caplog.text
    before = len(standin.trace)
    assert [codes(backend, made, "v") for made in old] == [[13001]] * 3
    assert len(standin.trace) == before
    made = backend.create_power_config_id(0, 0)
    assert made not in old
    assert codes(backend, made, "vd") == [0, 0]
    backend.close()
    standin.assert_nothing_left()


@pytest.mark.parametrize("code", [1007, 1011, 13003])
def test_a_renewal_destroys_ids_up_to_the_first_that_shows_a_dead_link(
    standin: Standin, backend: QnnHtp, code: int
) -> None:
    """On a healthy link every id is destroyed before the device is freed, also after another kind of failure."""
    for _ in range(4):
        backend.create_power_config_id(0, 0)
    standin.script(DEVICE, "destroyPowerConfigId 1 1 1100 0", f"destroyPowerConfigId 3 3 {code} 0")
    backend.renew()
    assert [line.code for line in standin.calls("destroyPowerConfigId")] == [1100, 0, code]
    for _ in range(4):
        backend.create_power_config_id(0, 0)
    standin.script(DEVICE)
    backend.renew()
    assert len(standin.calls("destroyPowerConfigId")) == 3 + 4
    assert functions(standin.trace)[-3:] == MADE_ANEW


def test_a_renewal_that_fails_may_be_tried_again(standin: Standin, backend: QnnHtp) -> None:
    """While the DSP is down it raises the code of deviceCreate, and each call 14000 without a native call."""
    made = backend.create_power_config_id(0, 0)
    standin.restart("down 1")
    for _ in range(2):
        with pytest.raises(BackendUnavailable, match=r"deviceCreate of .* returned 14001") as caught:
            backend.renew()
        assert (caught.value.reason, caught.value.code) == (Unavailable.DEVICE_CREATE_FAILED, 14001)
        before = len(standin.trace)
        assert codes(backend, made, "vsd") == [14000] * 3
        assert code_of(lambda: backend.destroy_power_config_id(made)) == 14000
        assert len(standin.trace) == before
    standin.script(DEVICE)
    backend.renew()
    assert functions(standin.trace)[-2:] == ["deviceCreate", "deviceGetInfrastructure"]
    assert len(standin.calls("deviceFree")) == 1
    assert codes(backend, backend.create_power_config_id(0, 0), "vs") == [0, 0]


@pytest.mark.parametrize("dropped", [False, True])
def test_a_backend_without_a_device_can_be_closed(standin: Standin, dropped: bool) -> None:
    """After a failed renewal, backend and log are freed once, at close or when the backend is collected."""
    standin.script(DEVICE)
    backend = QnnHtp(standin.path)
    backend.create_power_config_id(0, 0)
    standin.restart("down 1")
    with contextlib.suppress(BackendUnavailable):
        backend.renew()
    before = len(standin.trace)
    if not dropped:
        backend.close()
        backend.close()
    del backend
    assert functions(standin.trace)[before:] == ["backendFree", "logFree"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"deviceGetInfrastructure 1 {ALWAYS} 4950 0", "deviceGetInfrastructure of .* returned 4950"),
        ("without setPowerConfig", "without setPowerConfig"),
    ],
)
def test_a_device_without_its_functions_is_freed_again(
    standin: Standin, backend: QnnHtp, line: str, words: str
) -> None:
    """If the new device lacks its infrastructure or a function, the renewal fails, and no device is left."""
    standin.script(DEVICE, line)
    with pytest.raises(BackendUnavailable, match=words) as caught:
        backend.renew()
    assert caught.value.reason is Unavailable.NO_POWER_INFRASTRUCTURE
    assert functions(standin.trace)[-4:] == [*MADE_ANEW, "deviceFree"]
    standin.script(DEVICE)
    backend.renew()
    assert backend.create_power_config_id(0, 0) == FIRST_ID


def test_a_closed_backend_can_not_be_renewed(standin: Standin, backend: QnnHtp) -> None:
    """A renewal raises without a call, with the code of an invalid device."""
    backend.close()
    before = len(standin.trace)
    with pytest.raises(BackendUnavailable, match="can't be renewed: this backend is closed") as caught:
        backend.renew()
    assert caught.value.code == 14000
    assert len(standin.trace) == before


def test_the_soc_model_is_given_again(standin: Standin) -> None:
    """The new device is made for the same SoC as the old one."""
    backend = QnnHtp(standin.path, 57)
    backend.renew()
    backend.close()
    assert [line.arguments for line in standin.calls("deviceCreate")] == [("57",), ("57",)]


def test_another_device_handle_keeps_the_link_dead(standin: Standin, backend: QnnHtp) -> None:
    """While a device for another SoC has a handle, a renewal raises no error, but the link stays dead."""
    other = QnnHtp(standin.path, 57)
    standin.restart("spoilt 1")
    codes(backend, backend.create_power_config_id(0, 0), "v")
    standin.script(DEVICE)
    backend.renew()
    assert codes(backend, backend.create_power_config_id(0, 0), "vsd") == [13003, 13006, 13003]
    other.close()
    backend.renew()
    assert codes(backend, backend.create_power_config_id(0, 0), "vsd") == [0, 0, 0]
