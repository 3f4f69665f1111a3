"""Extension files whose cores differ or stand elsewhere, and what the vendor's voter casts (measured on QAIRT 2.51)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs
from support.imported import clocks

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile
    from htppower.votes.vote_set import VoteSet

_START, _DONE = ["init_start", "inference_start"], ["init_done", "inference_done"]
_CUSTOM = "custom"


def _item(states: list[str], corner: str, **more: Any) -> dict[str, Any]:
    return {"graphState": states, "dcvsControl": clocks(corner, **more)}


def _custom(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"perf_profile": _CUSTOM, "custom": list(items), **more}


@attrs.frozen(repr=False)
class SeveralCores:
    """A file, and the votes that are cast for it.

    Attributes:
        name: the case that the file shows.
        cores: its cores, which do not state an id.
        expected: the target of the core clock and its sleep latency in us, raised and then relaxed; RPC polling and
            control latency in us.
        whole: the whole file, if its cores stand in unusual places.
    """

    name: str
    cores: tuple[dict[str, Any], ...]
    expected: tuple[int, ...]
    whole: dict[str, Any] | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def text(self) -> str:
        """The file."""
        return json.dumps(self.whole or {"devices": [{"cores": list(self.cores)}]})

    @staticmethod
    def of_profile(profile: Profile) -> tuple[int, ...]:
        """Return what a profile votes, in the form of ``expected``."""
        assert profile.relax is not None
        votes = profile.votes
        return (
            *_clock(votes),
            *_clock(profile.relax.to.votes),
            votes.rpc_polling_time_us or 0,
            votes.rpc_control_latency_us or 0,
        )


def _clock(votes: VoteSet) -> tuple[int, int]:
    dcvs = votes.dcvs_v3
    assert dcvs is not None
    assert dcvs.core is not None
    assert dcvs.sleep_latency_us is not None
    return int(dcvs.core.target), dcvs.sleep_latency_us


def _in(name: str, whole: dict[str, Any], expected: tuple[int, ...]) -> SeveralCores:
    return SeveralCores(name, (), expected, whole)


def _devices(*cores: dict[str, Any]) -> dict[str, Any]:
    return {"devices": [{"cores": list(cores)}]}


_BURST, _BALANCED = {"perf_profile": "burst"}, {"perf_profile": "balanced"}
_AS_BURST, _AS_BALANCED = (160, 40, 64, 2000, 9999, 100), (112, 1000, 64, 2000, 0, 100)
_AS_HIGH = (128, 100, 64, 2000, 9999, 100)
CASES = (
    SeveralCores("the last profile", (_BURST, _BALANCED), (112, 1000, 64, 2000, 0, 100)),
    SeveralCores("the last profile, turned", (_BALANCED, _BURST), (160, 40, 64, 2000, 9999, 100)),
    SeveralCores(
        "keys of both",
        ({**_BURST, "rpc_polling_time": 77}, {**_BALANCED, "rpc_control_latency": 55}),
        (112, 1000, 64, 2000, 77, 55),
    ),
    SeveralCores("a core that says nothing", (_BURST, {}), (160, 40, 64, 2000, 9999, 100)),
    SeveralCores(
        "custom in the first",
        (_custom(_item(_START, "NOM"), _item(_DONE, "SVS")), {"rpc_control_latency": 55}),
        (96, 1000, 64, 1000, 0, 55),
    ),
    SeveralCores(
        "custom without its profile",
        ({"custom": [_item(_START, "NOM"), _item(_DONE, "SVS")]}, {"perf_profile": _CUSTOM}),
        (96, 1000, 64, 1000, 0, 100),
    ),
    SeveralCores(
        "items of both",
        (_custom(_item(_START, "TURBO", sleep_latency_us=77), _item(_DONE, "SVS")), _custom(_item(_START, "SVS2"))),
        (48, 1000, 64, 1000, 0, 100),
    ),
    SeveralCores(
        "an item alone in its core goes on in the next",
        (_custom(_item(_START, "TURBO", sleep_latency_us=77)), _custom(_item(_DONE, "SVS2"))),
        (48, 77, 48, 77, 0, 100),
    ),
    SeveralCores(
        "an item alone in its core, and two in the next",
        (_custom(_item(_START, "TURBO")), _custom(_item(_DONE, "SVS2"), _item(_START, "NOM"))),
        (96, 1000, 48, 1000, 0, 100),
    ),
    _in("within an unknown key", {"x": {"y": _devices(_BALANCED)}}, _AS_BALANCED),
    _in("within a list", {"x": [_devices(_BURST), _devices(_BALANCED)]}, _AS_BALANCED),
    _in("an unknown key behind", {**_devices(_BURST), "x": _devices(_BALANCED)}, _AS_BALANCED),
    _in("an unknown key before", {"x": _devices(_BALANCED), **_devices(_BURST)}, _AS_BURST),
    _in("xdevices", {"xdevices": [{"cores": [_BALANCED]}]}, _AS_BALANCED),
    _in("devices that are no list", {"xdevices": {"cores": _BALANCED}}, _AS_BALANCED),
    _in("the words the other way round", {"cores": {"devices": _BALANCED}}, _AS_BALANCED),
    _in("all words in one key", {"my_devices_cores_perf_profile": "balanced"}, _AS_BALANCED),
    _in("xcores behind cores", {"devices": [{"cores": [_BURST], "xcores": [_BALANCED]}]}, _AS_BALANCED),
    _in("xcores before cores", {"devices": [{"xcores": [_BALANCED], "cores": [_BURST]}]}, _AS_BURST),
    _in("in a context", {"context": _devices(_BALANCED)}, _AS_BALANCED),
    _in("in a list of graphs by its key", {"graphs_x": _devices(_BALANCED)}, _AS_BALANCED),
    _in(
        "of each list of devices the first",
        {"x": {"devices": [{"cores": [_BALANCED]}, {"cores": [_BURST]}]}},
        _AS_BALANCED,
    ),
    _in(
        "a later one of xdevices",
        {**_devices(_BALANCED), "xdevices": [{"device_id": 0}, {"cores": [_BURST]}]},
        _AS_BALANCED,
    ),
    _in(
        "custom in two places",
        {
            "x": _devices({"perf_profile": _CUSTOM}),
            "y": {"devices": {"xcores": {"custom": [_item(_START, "NOM"), _item(_DONE, "SVS")]}}},
        },
        (96, 1000, 64, 1000, 0, 100),
    ),
    _in("an outer file", {"backend_extensions": {"config_file_path": "inner.json"}}, _AS_HIGH),
    _in("cores without devices", {"cores": [_BALANCED]}, _AS_HIGH),
    _in("cores in the second device", {"devices": [{"device_id": 0}, {"cores": [_BALANCED]}]}, _AS_HIGH),
    _in("an outer file's keys around it", {"zz": {"config_file_path": "a.json", **_devices(_BALANCED)}}, _AS_BALANCED),
)
