"""Two backends on one library share its device: it is made once, freed with the last, and renewed for both."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from support.helpers import hvx
from support.inside import device_of
from support.standin import DEVICE, Standin, functions

from htppower.backends import QnnHtp
from htppower.errors import BackendUnavailable, VoteRejected
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VOTES = VoteSet(hvx())
FREED = ["deviceFree", "backendFree", "logFree"]


@pytest.fixture
def two(standin: Standin) -> Iterator[tuple[QnnHtp, QnnHtp]]:
    """Yield two backends on one library, as on a device; close them."""
    standin.script(DEVICE)
    made = QnnHtp(standin.path), QnnHtp(standin.path)
    yield made
    for backend in made:
        backend.close()


def test_one_device_is_made_and_freed_with_its_last_user(standin: Standin, two: tuple[QnnHtp, QnnHtp]) -> None:
    """A second opening makes no device, and closing the first backend frees none."""
    first, second = two
    made = second.create_power_config_id(0, 0)
    first.close()
    first.close()
    assert functions(standin.trace)[-2:] == ["deviceGetInfrastructure", "createPowerConfigId"]
    second.set_power_config(made, VOTES)
    second.close()
    assert functions(standin.trace)[-3:] == FREED
    assert [len(standin.calls(name)) for name in ("logCreate", "backendCreate", "deviceCreate")] == [1, 1, 1]
    third = QnnHtp(standin.path)
    assert [len(standin.calls(name)) for name in ("logCreate", "backendCreate", "deviceCreate")] == [2, 2, 2]
    third.close()


def test_ids_of_both_are_in_one_set(standin: Standin, two: tuple[QnnHtp, QnnHtp]) -> None:
    """Each backend may vote on and destroy the ids of the other."""
    first, second = two
    made = first.create_power_config_id(0, 0)
    second.set_power_config(made, VOTES)
    second.destroy_power_config_id(made)
    with pytest.raises(VoteRejected, match="13001"):
        first.set_power_config(made, VOTES)
    standin.assert_nothing_left()


@pytest.mark.parametrize("dropped", [False, True])
def test_a_backend_that_leaves_destroys_its_own_ids(
    standin: Standin, two: tuple[QnnHtp, QnnHtp], dropped: bool
) -> None:
    """A backend that is closed or collected leaves no votes up; the other's ids stay."""
    kept = two[0].create_power_config_id(0, 0)
    third = QnnHtp(standin.path)
    own = [third.create_power_config_id(0, 0) for _ in range(3)]
    third.destroy_power_config_id(own[0])
    two[1].destroy_power_config_id(own[1])
    if not dropped:
        third.close()
    del third
    gc.collect()
    assert sorted(line.power_config_id for line in standin.calls("destroyPowerConfigId")) == own
    two[1].set_power_config(kept, VOTES)


def test_a_closed_backend_makes_no_call_beside_another(standin: Standin, two: tuple[QnnHtp, QnnHtp]) -> None:
    """A closed backend can't vote, create or destroy, although the device still exists."""
    first, second = two
    made = second.create_power_config_id(0, 0)
    first.close()
    before = len(standin.trace)
    with pytest.raises(VoteRejected, match="13001"):
        first.set_power_config(made, VOTES)
    with pytest.raises(VoteRejected, match="14000"):
        first.create_power_config_id(0, 0)
    first.destroy_power_config_id(made)
    assert len(standin.trace) == before


def test_a_renewal_of_one_renews_the_device_of_both(standin: Standin, two: tuple[QnnHtp, QnnHtp]) -> None:
    """One backend can mend a dead link of two: all ids are gone, and both can vote again."""
    first, second = two
    old = [backend.create_power_config_id(0, 0) for backend in two]
    standin.restart("spoilt 1")
    with pytest.raises(VoteRejected, match="1011"):
        first.set_power_config(old[0], VOTES)
    standin.script(DEVICE)
    second.renew()
    for backend, made in zip(two, old, strict=True):
        with pytest.raises(VoteRejected, match="13001"):
            backend.set_power_config(made, VOTES)
        backend.set_power_config(backend.create_power_config_id(0, 0), VOTES)


def test_a_backend_opened_after_a_failed_renewal_makes_the_device(standin: Standin, two: tuple[QnnHtp, QnnHtp]) -> None:
    """While the DSP is down it can't be opened; later the first opening brings the device back for all."""
    standin.restart("down 1")
    with pytest.raises(BackendUnavailable):
        two[0].renew()
    with pytest.raises(BackendUnavailable, match=r"deviceCreate of .* returned 14001"):
        QnnHtp(standin.path)
    standin.script(DEVICE)
    third = QnnHtp(standin.path)
    for backend in (*two, third):
        backend.set_power_config(backend.create_power_config_id(0, 0), VOTES)
    third.close()
    assert len(standin.calls("backendCreate")) == 1


def test_what_shares_a_device(standin: Standin, two: tuple[QnnHtp, QnnHtp], tmp_path: Path) -> None:
    """The same file under another path shares the device; a copy of the file, or another SoC model, does not."""
    link, copy = tmp_path / "link.so", tmp_path / "copy.so"
    link.symlink_to(standin.path)
    shutil.copy(standin.path, copy)
    assert device_of(two[0]) is device_of(two[1])
    opened = [QnnHtp(link), QnnHtp(copy), QnnHtp(standin.path, 57), QnnHtp(standin.path, "SM8650")]
    assert len(standin.calls("deviceCreate")) == 3
    for backend in opened:
        backend.close()
    assert len(standin.calls("deviceFree")) == 2


def test_backends_opened_on_many_threads_share_one_device(standin: Standin) -> None:
    """With any number of threads, at most one device exists at a time, and it is freed at the end."""
    standin.script("deviceCreate 1 1000 0 2000")

    def open_and_close(_: int) -> None:
        backend = QnnHtp(standin.path)
        backend.create_power_config_id(0, 0)
        backend.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(open_and_close, range(40)))
    order = [line.function for line in standin.trace if line.function in ("deviceCreate", "deviceFree")]
    assert order == ["deviceCreate", "deviceFree"] * (len(order) // 2)
    standin.assert_nothing_left()


_HOST = """
import os, sys
from htppower.backends import QnnHtp
from htppower.errors import BackendUnavailable, VoteRejected
from htppower.votes.vote_set import VoteSet

first, second = QnnHtp(sys.argv[1]), QnnHtp(sys.argv[1])
made = [backend.create_power_config_id(0, 0) for backend in (first, second)]
if sys.argv[2] == "fork":
    child = os.fork()
    if child == 0:
        for backend in (first, second):
            try:
                backend.renew()
                os._exit(8)
            except BackendUnavailable:
                backend.close()
        own = QnnHtp(sys.argv[1])
        own.set_power_config(own.create_power_config_id(0, 0), VoteSet())
        own.close()
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        sys.exit(os.waitstatus_to_exitcode(status))
for power_config_id in made:
    second.set_power_config(power_config_id, VoteSet())
"""


@pytest.mark.parametrize("how", ["exit", pytest.param("fork", marks=pytest.mark.needs("fork"))])
def test_what_two_backends_share_is_freed_once_at_exit(standin: Standin, how: str) -> None:
    """At exit every id is destroyed and everything freed once; a forked child frees nothing, and can open its own."""
    done = subprocess.run(
        [sys.executable, "-c", _HOST, str(standin.path), how],
        env={**os.environ, **standin.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    opened = 2 if how == "fork" else 1
    assert [len(standin.calls(name)) for name in ("deviceCreate", *FREED)] == [opened] * 4
    assert functions(standin.trace)[-3:] == FREED
    standin.assert_nothing_left()


_FORKS_WHILE_OPENING = """
import os, pathlib, signal, sys, threading, time
from htppower.backends import QnnHtp

opening = threading.Thread(target=lambda: QnnHtp(sys.argv[1]).close())
opening.start()
while "deviceFreePlatformInfo" not in pathlib.Path(os.environ["STANDIN_TRACE"]).read_text():
    time.sleep(0.001)
child = os.fork()
if child == 0:
    signal.alarm(10)
    QnnHtp(sys.argv[1]).close()
    os._exit(0)
_, status = os.waitpid(child, 0)
opening.join()
sys.exit(status)
"""


@pytest.mark.needs("fork")
def test_a_child_that_is_forked_while_a_thread_opens_the_library(standin: Standin) -> None:
    """The child opens the library for itself, and does not wait for the lock of a thread that it lacks."""
    standin.script("deviceCreate 1 1 0 300000")
    done = subprocess.run(
        [sys.executable, "-c", _FORKS_WHILE_OPENING, str(standin.path)],
        env={**os.environ, **standin.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [len(standin.calls(name)) for name in ("deviceCreate", *FREED)] == [2] * 4


def test_a_backend_that_can_not_be_opened_is_not_counted(standin: Standin) -> None:
    """A failed opening leaves nothing open, and a later backend is still freed."""
    standin.script("deviceCreate 1 1 14001 0")
    with contextlib.suppress(BackendUnavailable):
        QnnHtp(standin.path)
    backend = QnnHtp(standin.path)
    backend.close()
    assert functions(standin.trace)[-3:] == FREED
    assert len(standin.calls("backendFree")) == 2
