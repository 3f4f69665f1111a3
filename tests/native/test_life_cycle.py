"""The life of a backend: its parts are made in order, and freed once in the reverse, whatever fails."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.helpers import hvx
from support.standin import ALWAYS, FIRST_ID, functions

from htppower import VoteController
from htppower.backends import Description, QnnHtp
from htppower.backends.base import Device
from htppower.backends.qnn.library import operating_system
from htppower.errors import BackendUnavailable, Unavailable
from htppower.rules.platforms import platform_of
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from support.standin import Standin

STARTED = [
    "QnnInterface_getProviders",
    "logCreate",
    "backendCreate",
    "backendGetBuildId",
    "deviceGetPlatformInfo",
    "deviceFreePlatformInfo",
    "deviceCreate",
    "deviceGetInfrastructure",
]
FREED = ["deviceFree", "backendFree", "logFree"]
MADE = {"logCreate": "logFree", "backendCreate": "backendFree", "deviceCreate": "deviceFree"}


def test_made_in_order_and_freed_in_reverse_once(standin: Standin) -> None:
    """Log, backend, platform info and device are made in this order, and freed once in the reverse order."""
    backend = QnnHtp(standin.path)
    assert functions(standin.trace) == STARTED
    backend.close()
    backend.close()
    del backend
    gc.collect()
    assert functions(standin.trace) == STARTED + FREED


def test_a_backend_that_is_let_go_is_freed(standin: Standin) -> None:
    """A backend that was not closed is freed when it is collected."""
    backend = QnnHtp(standin.path)
    backend.create_power_config_id(0, 0)
    del backend
    gc.collect()
    assert functions(standin.trace) == [*STARTED, "createPowerConfigId", "destroyPowerConfigId", *FREED]


@pytest.mark.parametrize(
    ("function", "code", "reason"),
    [
        ("QnnInterface_getProviders", 1004, Unavailable.NO_PROVIDER),
        ("backendCreate", 4000, Unavailable.BACKEND_CREATE_FAILED),
        ("backendCreate", 14004, Unavailable.DEVICE_BUSY),
        ("deviceGetPlatformInfo", 1007, Unavailable.DEVICE_CREATE_FAILED),
        ("deviceGetPlatformInfo", 14004, Unavailable.DEVICE_BUSY),
        ("deviceCreate", 14001, Unavailable.DEVICE_CREATE_FAILED),
        ("deviceCreate", 1008, Unavailable.DEVICE_CREATE_FAILED),
        ("deviceCreate", 14004, Unavailable.DEVICE_BUSY),
        ("deviceGetInfrastructure", 4950, Unavailable.NO_POWER_INFRASTRUCTURE),
        ("deviceGetInfrastructure", 1000, Unavailable.NO_POWER_INFRASTRUCTURE),
    ],
)
def test_a_half_built_start_is_freed(standin: Standin, function: str, code: int, reason: Unavailable) -> None:
    """If any step fails, the error has its reason and code, and the earlier parts are freed once in reverse."""
    standin.script(f"{function} 1 {ALWAYS} {code} 0")
    with pytest.raises(BackendUnavailable) as caught:
        QnnHtp(standin.path)
    assert (caught.value.reason, caught.value.code) == (reason, code)
    assert f"{function} of {standin.path} returned {code} " in str(caught.value)
    assert caught.value.hint
    called = functions(standin.trace)
    begun = called[: called.index(function) + 1]
    expected = [MADE[name] for name in reversed(begun) if name in MADE and name != function]
    assert called == begun + expected


@pytest.mark.parametrize(
    ("line", "reason", "words"),
    [
        ("coreApi 2 8", Unavailable.CORE_API_TOO_OLD, "core API 2.8.0, older than 2.9"),
        ("coreApi 1 40", Unavailable.CORE_API_TOO_OLD, "core API 1.40.0"),
        ("coreApi 3 0", Unavailable.CORE_API_UNKNOWN, "core API 3.0.0"),
        ("backendId 3", Unavailable.NO_PROVIDER, "it has 3 STANDIN"),
        ("providers 0", Unavailable.NO_PROVIDER, "it has none"),
        ("infraType 7", Unavailable.NO_POWER_INFRASTRUCTURE, "none for power votes"),
        ("without deviceGetInfrastructure", Unavailable.NO_POWER_INFRASTRUCTURE, "has no deviceGetInfrastructure"),
        ("without deviceCreate", Unavailable.NO_POWER_INFRASTRUCTURE, "has no deviceCreate"),
        ("without backendCreate", Unavailable.SYMBOL_MISSING, "has no backendCreate"),
        ("without setPowerConfig", Unavailable.NO_POWER_INFRASTRUCTURE, "without setPowerConfig"),
        ("without createPowerConfigId", Unavailable.NO_POWER_INFRASTRUCTURE, "without createPowerConfigId"),
        ("without destroyPowerConfigId", Unavailable.NO_POWER_INFRASTRUCTURE, "without destroyPowerConfigId"),
    ],
)
def test_a_library_that_lacks_something(standin: Standin, line: str, reason: Unavailable, words: str) -> None:
    """An old core API, a missing HTP provider, a missing infrastructure and empty functions have different errors."""
    standin.script(line)
    with pytest.raises(BackendUnavailable, match=words) as caught:
        QnnHtp(standin.path)
    assert caught.value.reason is reason
    called = functions(standin.trace)
    assert [called.count(name) for name in MADE] == [called.count(name) for name in MADE.values()]


def test_the_oldest_core_api_is_taken(standin: Standin) -> None:
    """Core API 2.9 is new enough."""
    standin.script("coreApi 2 9")
    backend = QnnHtp(standin.path)
    assert dict(backend.describe().versions)["core_api"] == "2.9.0"
    backend.close()


@pytest.mark.parametrize("function", FREED)
def test_what_can_not_be_freed_does_not_stop_the_rest(
    standin: Standin, caplog: pytest.LogCaptureFixture, function: str
) -> None:
    """A failed free is logged, and the others are still made."""
    backend = QnnHtp(standin.path)
    standin.script(f"{function} 1 1 1100 0")
    backend.close()
    assert functions(standin.trace)[-3:] == FREED
    assert f"{function} returned 1100 QNN_COMMON_ERROR_GENERAL" in caplog.text


@pytest.mark.parametrize("at", [4, 8])
@pytest.mark.parametrize("model", [57, "SM8650"])
def test_the_soc_model_is_read_at_either_place(standin: Standin, at: int, model: int | str) -> None:
    """A library that reads the model at byte 4 gets it, and so does one that reads it at byte 8."""
    standin.script(f"unionAt {at}")
    backend = QnnHtp(standin.path, model)
    backend.close()
    (create,) = standin.calls("deviceCreate")
    assert create.arguments == ("57",)
    assert backend.describe().platform == platform_of(57, os=operating_system())


def test_the_platform_is_read(standin: Standin) -> None:
    """SoC, architecture, devices, cores, VTCM and versions come from the library."""
    standin.script("devices 2", "cores 3", "soc 72 81")
    backend = QnnHtp(standin.path)
    backend.close()
    described = backend.describe()
    assert isinstance(described, Description)
    assert described.platform == platform_of("SA8797", os=operating_system())
    assert described.devices == tuple(Device(each, (0, 1, 2), 72, 81, 8, signed_pd=True) for each in (0, 1))
    assert dict(described.versions) == {"build": "stand-in", "core_api": "2.40.0", "htp_api": "5.51.0"}


def test_an_unknown_soc_keeps_its_architecture(standin: Standin) -> None:
    """A SoC that is not in the tables has the architecture that the library reports."""
    standin.script("soc 4711 79")
    backend = QnnHtp(standin.path)
    backend.close()
    platform = backend.describe().platform
    assert platform is not None
    assert (platform.soc, platform.arch) == (None, 79)


_HOST = """
import os, sys
import htppower
from htppower.backends import QnnHtp
from htppower.votes.vote_set import VoteSet
how = sys.argv[2]
backend = QnnHtp(sys.argv[1])
if how.startswith("alone"):
    made = backend.create_power_config_id(0, 0)
    if "fork" in how:
        child = os.fork()
        if child == 0:
            backend.destroy_power_config_id(made)
            try:
                backend.set_power_config(made, VoteSet())
            except htppower.VoteRejected:
                backend.close()
                sys.exit(0)
            sys.exit(9)
        _, status = os.waitpid(child, 0)
        sys.exit(os.waitstatus_to_exitcode(status))
    sys.exit(0)
controller = htppower.VoteController(backend)
session = controller.session("burst")
running = session.inference()
running.__enter__()
if how == "fork":
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
elif how == "exception":
    raise RuntimeError("of the host")
"""


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("exit", 0),
        ("exception", 1),
        pytest.param("fork", 0, marks=pytest.mark.needs("fork")),
        ("alone", 0),
        pytest.param("alone, fork", 0, marks=pytest.mark.needs("fork")),
    ],
)
def test_at_exit_everything_is_lowered_destroyed_and_freed(standin: Standin, how: str, code: int) -> None:
    """An exit, an exception and an exit next to a forked child destroy every id and free everything once."""
    command = [sys.executable, "-c", _HOST, str(standin.path), how]
    done = subprocess.run(
        command, env={**os.environ, **standin.environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert functions(standin.trace)[-3:] == FREED
    assert [functions(standin.trace).count(name) for name in FREED] == [1, 1, 1]
    standin.assert_nothing_left()


def test_a_controller_closes_the_library_that_it_opened(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller with "qnn" opens the library, votes on it, and frees it."""
    monkeypatch.setenv("HTPPOWER_QNN_LIBRARY", str(standin.path))
    with VoteController("qnn", handle_sigterm=False) as controller:
        session = controller.session("balanced")
        with session.inference():
            pass
    clocks = [line for line in standin.sets if line.core_target is not None]
    assert [(line.core_target, line.power_config_id) for line in clocks[:2]] == [(112, FIRST_ID), (64, FIRST_ID)]
    assert functions(standin.trace)[-4:] == ["destroyPowerConfigId", *FREED]


def test_closing_destroys_the_ids_that_are_left(standin: Standin, caplog: pytest.LogCaptureFixture) -> None:
    """Each id is destroyed before the device is freed, even if one destroy fails; afterwards no id accepts a vote."""
    backend = QnnHtp(standin.path)
    made = [backend.create_power_config_id(0, 0) for _ in range(3)]
    standin.script("destroyPowerConfigId 2 2 1011 0")
    backend.close()
    destroys = standin.calls("destroyPowerConfigId")
    assert sorted(line.power_config_id for line in destroys) == made
    assert functions(standin.trace)[-3:] == FREED
    assert "destroyPowerConfigId" in caplog.text
    with pytest.raises(Exception, match="13001"):
        backend.set_power_config(made[0], VoteSet(hvx()))
    with pytest.raises(Exception, match="createPowerConfigId for device 0, core 0 returned 14000"):
        backend.create_power_config_id(0, 0)
    assert standin.sets == []
