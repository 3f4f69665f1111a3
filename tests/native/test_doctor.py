"""``htppower doctor``, as a process on the stand-in library."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.live import command, finish
from support.standin import ALWAYS

from htppower.backends.qnn.library import operating_system

if TYPE_CHECKING:
    from support.standin import Standin


def _doctor(standin: Standin, *arguments: str) -> tuple[int, dict[str, Any]]:
    code, output, _ = finish(command(standin, "doctor", "--format", "json", *arguments))
    document: dict[str, Any] = json.loads(output)
    return code, document


def test_doctor_where_everything_is_there(standin: Standin) -> None:
    """The JSON has library, versions, platform, cores, votes and profiles; no vote is left, and the exit code is 0."""
    standin.script("cores 2", "soc 87 81")
    code, document = _doctor(standin)
    assert (code, document["usable"], document["problem"]) == (0, True, None)
    assert document["platform"] == {"soc_model": 87, "soc": "SM8850", "arch": "V81", "os": operating_system()}
    assert document["devices"] == [
        {"device_id": 0, "core_ids": [0, 1], "soc_model": 87, "arch": "V81", "vtcm_mb": 8, "signed_pd": True}
    ]
    assert document["versions"] == {"build": "stand-in", "core_api": "2.40.0", "htp_api": "5.51.0"}
    chosen = {"origin": "HTPPOWER_QNN_LIBRARY", "path": str(standin.path), "outcome": "loaded"}
    assert (document["library"], document["tried"]) == (str(standin.path), [chosen])
    assert {vote["option"]: vote["code"] for vote in document["votes"]} == dict.fromkeys(
        ["DCVS_V3", "HMX_V2", "RPC_CONTROL_LATENCY", "RPC_POLLING_TIME", "ADAPTIVE_POLLING_TIME",
         "HMX_TIMEOUT_INTERVAL_US", "DDR_PERF_MODE", "DCVS_V3_EXP", "CENG", "CENG_EXP"], 0
    )  # fmt: skip
    assert {profile["name"] for profile in document["profiles"]} >= {"burst", "system_settings"}
    assert all(profile["degradations"] == [] for profile in document["profiles"])
    standin.assert_nothing_left()
    # It votes for nothing: every corner is DISABLE.
    assert {line.core_target for line in standin.sets} <= {16, None}


def test_doctor_where_votes_are_missing(standin: Standin) -> None:
    """A refused vote is listed with its code, and the profiles that degrade with the rule."""
    standin.script("option 3 13004", "option 5 13002")
    code, document = _doctor(standin)
    assert code == 0
    assert {vote["option"]: vote["code"] for vote in document["votes"] if vote["code"]} == {
        "HMX_V2": 13002, "RPC_POLLING_TIME": 13004,
    }  # fmt: skip
    burst = next(profile for profile in document["profiles"] if profile["name"] == "burst")
    # A missing default HMX vote is not a loss.
    assert [lost["rule"] for lost in burst["degradations"]] == ["RPC-4"]


@pytest.mark.parametrize(
    ("line", "reason", "native"),
    [
        (f"deviceCreate 1 {ALWAYS} 14001 0", "DEVICE_CREATE_FAILED", 14001),
        (f"deviceCreate 1 {ALWAYS} 14004 0", "DEVICE_BUSY", 14004),
        ("coreApi 2 8", "CORE_API_TOO_OLD", None),
        (f"setPowerConfig 1 {ALWAYS} 1011 0", None, 1011),
        (f"createPowerConfigId 1 {ALWAYS} 13001 0", None, 13001),
        ("option 1 13004", None, 13004),
        (f"destroyPowerConfigId 1 {ALWAYS} 13003 0", None, 13003),
    ],
)
def test_doctor_where_nothing_can_be_voted(standin: Standin, line: str, reason: str | None, native: int | None) -> None:
    """The problem has its reason and code, and the next step; the exit code is 1."""
    standin.script(line)
    code, document = _doctor(standin)
    assert (code, document["usable"]) == (1, False)
    assert (document["problem"]["reason"], document["problem"]["code"]) == (reason, native)
    assert document["next"]
    code, output, _ = finish(command(standin, "doctor"))
    assert (code, output.splitlines()[0]) == (1, "usable      no")
    assert "to do" in output


def test_doctor_without_a_library(standin: Standin) -> None:
    """Without a library, the JSON lists the searched places; the exit code is 1."""
    standin.path.unlink()
    code, document = _doctor(standin)
    assert code == 1
    assert document["problem"]["reason"] == "NOT_FOUND"
    step = {"origin": "HTPPOWER_QNN_LIBRARY", "path": str(standin.path), "outcome": "no such file"}
    assert document["tried"] == [step]
    assert document["environment"]["HTPPOWER_QNN_LIBRARY"] == str(standin.path)
