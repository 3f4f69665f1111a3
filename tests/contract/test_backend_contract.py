"""What the Backend protocol requires, tested on every backend."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import attrs
import pytest
from support.helpers import hvx
from support.vendorlib import library_path

from htppower import load_profile, profile_names
from htppower.backends import Backend, Description, QnnHtp, RecordingBackend, SimulatedHtp
from htppower.errors import VoteRejected
from htppower.rules.platforms import ARCHITECTURES
from htppower.votes.native_codes import code_name
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

UNKNOWN_ID = 0
VOTES = VoteSet(hvx())
PROFILES = profile_names()


def recorded() -> Backend:
    """Return a recorder over the simulated HTP."""
    return RecordingBackend(SimulatedHtp(arch=75))


def recorded_twice() -> Backend:
    """Return a recorder over a recorder."""
    return RecordingBackend(recorded())


def vendors(soc_model: int) -> Backend:
    """Return the vendor's library; skip if it is missing."""
    return QnnHtp(library_path(), soc_model)


MAKERS: dict[str, Callable[[], Backend]] = {
    "simulated-v68": lambda: SimulatedHtp(arch=68),
    "simulated-v75": lambda: SimulatedHtp(arch=75),
    "simulated-v81": lambda: SimulatedHtp(arch=81),
    "simulated-device-v68": lambda: SimulatedHtp(arch=68, link="device"),
    "simulated-device-v75": lambda: SimulatedHtp(arch=75, link="device"),
    "simulated-device-v81": lambda: SimulatedHtp(arch=81, link="device"),
    "simulated-qnx": lambda: SimulatedHtp(arch=75, platform="qnx"),
    "recording": recorded,
    "recording-recording": recorded_twice,
    "qnn-v68": lambda: vendors(30),
    "qnn-v75": lambda: vendors(57),
    "qnn-v81": lambda: vendors(87),
}


@pytest.fixture(params=list(MAKERS))
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Yield each backend in turn, and close it; skip the vendor's library with a reason if it is missing."""
    made = MAKERS[request.param]()
    yield made
    made.close()


def supported(backend: Backend, votes: VoteSet) -> VoteSet:
    """Return the votes that the backend's platform supports."""
    platform = backend.describe().platform
    if platform is None:
        return votes
    return votes.without(*(option for option, _ in votes.items() if not platform.has(option)))


def test_ids_are_distinct(backend: Backend) -> None:
    """Every create gives a new id while the earlier ids are alive."""
    made = [backend.create_power_config_id(0, 0) for _ in range(20)]
    assert len(set(made)) == 20
    assert all(isinstance(power_config_id, int) for power_config_id in made)


@pytest.mark.parametrize("name", PROFILES)
def test_shipped_votes_are_taken(backend: Backend, name: str) -> None:
    """The supported votes of a shipped profile and its power state are accepted, also when they are repeated."""
    profile = load_profile(name)
    # Refused on every architecture on x86-64, without a device (measured).
    votes = attrs.evolve(profile.votes, ddr_perf_mode=None)
    made = backend.create_power_config_id(0, 0)
    for _ in range(2):
        backend.set_power_config(made, supported(backend, votes))
        if profile.relax is not None:
            backend.set_power_config(made, supported(backend, profile.relax.to.votes))
    backend.destroy_power_config_id(made)


def test_an_empty_vote_set_is_taken(backend: Backend) -> None:
    """A set without votes is not an error on an id that is alive."""
    backend.set_power_config(backend.create_power_config_id(0, 0), VoteSet())


@pytest.mark.parametrize("name", ["destroyed", "unknown"])
def test_an_id_that_is_not_alive_is_refused(backend: Backend, name: str) -> None:
    """Voting on a destroyed or unknown id raises VoteRejected with code, name, votes, function and id."""
    refused = UNKNOWN_ID
    if name == "destroyed":
        refused = backend.create_power_config_id(0, 0)
        backend.destroy_power_config_id(refused)
    with pytest.raises(VoteRejected) as caught:
        backend.set_power_config(refused, VOTES)
    error = caught.value
    assert (error.code, error.name, error.votes) == (13001, code_name(13001), VOTES)
    assert (error.function, error.power_config_id) == ("setPowerConfig", refused)
    assert str(error).startswith(f"setPowerConfig on power config id {refused} returned 13001 ")


def test_destroying_one_id_leaves_the_others(backend: Backend) -> None:
    """After one id is destroyed, another id still accepts votes."""
    kept, gone = backend.create_power_config_id(0, 0), backend.create_power_config_id(0, 0)
    backend.set_power_config(gone, VOTES)
    backend.destroy_power_config_id(gone)
    backend.set_power_config(kept, VOTES)


def test_destroying_twice_is_fine(backend: Backend) -> None:
    """A destroyed or unknown id can be destroyed without an error."""
    made = backend.create_power_config_id(0, 0)
    for gone in (made, made, UNKNOWN_ID):
        backend.destroy_power_config_id(gone)


@pytest.mark.parametrize(("device_id", "core_id"), [(0, 999), (999, 0), (2**32, 0), (0, 2**32), (-1, 0)])
def test_an_unknown_device_or_core_is_refused(backend: Backend, device_id: int, core_id: int) -> None:
    """Creating an id on a core that does not exist raises VoteRejected with the function and no votes."""
    with pytest.raises(VoteRejected) as caught:
        backend.create_power_config_id(device_id, core_id)
    error = caught.value
    assert (error.code, error.name, error.function) == (13001, code_name(13001), "createPowerConfigId")
    assert (error.votes, error.power_config_id) == (None, None)
    backend.create_power_config_id(0, 0)


def test_a_backend_describes_itself(backend: Backend) -> None:
    """A backend has its name, library and platform, and says whether votes reach hardware."""
    described = backend.describe()
    assert isinstance(described, Description)
    assert described.name
    assert described.library
    assert isinstance(described.hardware, bool)
    assert described.platform is None or described.platform.arch in ARCHITECTURES
    assert described == backend.describe()


def test_closing_twice_is_fine(backend: Backend) -> None:
    """A backend with ids can be closed, and closed again."""
    backend.set_power_config(backend.create_power_config_id(0, 0), VOTES)
    backend.close()
    backend.close()


def test_a_renewal_takes_every_id(backend: Backend) -> None:
    """After a renewal old ids accept no vote and new ids have other numbers; a second renewal works, too."""
    old = [backend.create_power_config_id(0, 0) for _ in range(3)]
    backend.set_power_config(old[0], VOTES)
    for _ in range(2):
        backend.renew()
        with pytest.raises(VoteRejected, match="13001"):
            backend.set_power_config(old[0], VOTES)
        backend.destroy_power_config_id(old[1])
        made = backend.create_power_config_id(0, 0)
        assert made not in old
        backend.set_power_config(made, VOTES)
        old.append(made)


def test_4_threads_in_turn(backend: Backend) -> None:
    """Four threads create, vote and destroy, one call at a time, without an error, and never share an id."""
    turn = threading.Lock()

    def rounds(_: int) -> list[int]:
        seen = []
        for _ in range(50):
            with turn:
                made = backend.create_power_config_id(0, 0)
            with turn:
                backend.set_power_config(made, VOTES)
            with turn:
                backend.destroy_power_config_id(made)
            seen.append(made)
        return seen

    with ThreadPoolExecutor(4) as pool:
        seen = [made for ids in pool.map(rounds, range(4)) for made in ids]
    assert len(set(seen)) == 4 * 50
