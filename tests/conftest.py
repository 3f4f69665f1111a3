"""Shared by all tests: tiers, options, hypothesis settings, a bench that is closed afterwards, and the command."""

# ruff: noqa: E402 - bytecode is kept of what is imported after that

from __future__ import annotations

import functools
import gc
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.bytecode import forget_bytecode, keep_bytecode

# Before the package is imported: pytest rewrites the assertions of its modules, too.
keep_bytecode()

from support.bench import Bench
from support.checkout import TESTS
from support.command import Command
from support.examples import register
from support.gate_locks import GateLocks, checked_gates
from support.gates import Gate
from support.needs import skip_what_lacks, write_like_posix
from support.two_folders import write_sides

from htppower.backends.qnn import loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

register()
# At the end: the programs of the pages can be imported, and the package is still the installed one.
sys.path.append(str(TESTS.parent))


# Golden output has no colours, even if the user's environment asks for them. Processes buffer their output, as for most
# users. pytest-xdist sets COLUMNS.
for name in ("NO_COLOR", "FORCE_COLOR", "PYTHONUNBUFFERED", "COLUMNS"):
    os.environ.pop(name, None)


@pytest.fixture(scope="session", autouse=True)
def _runtime_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the status files of commands separate from the user's own."""
    folder = tmp_path_factory.mktemp("run")
    folder.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        patch.setenv("LOCALAPPDATA", str(folder))
        yield


@pytest.fixture(scope="session", autouse=True)
def _files_like_posix() -> Iterator[None]:
    """Let tests make the same files on all systems."""
    with pytest.MonkeyPatch.context() as patch:
        write_like_posix(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_copy_seems_loaded() -> Iterator[None]:
    """Hide the copies of the vendor's library that earlier tests have loaded: a process never unloads them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loaded, "copies", lambda _name: ())
        yield


@pytest.fixture(scope="session", autouse=True)
def _temporary_bytecode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Do not keep bytecode of files that tests write."""
    yield
    forget_bytecode(tmp_path_factory.getbasetemp())


# A shell without job control starts background processes with these signals ignored, and every child inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("SIGQUIT", "SIGHUP"):
    if hasattr(signal, name):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


# The tiers whose tests wait for processes of their own.
_WAITING = ("process", "native", "vendor", "checks")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --update-golden and --sequences."""
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files; review the difference")
    parser.addoption("--sequences", type=int, help="random sequences of the differential on each architecture")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run folders of tests on all cores, a file at a time on each; ``-n 0`` and named files stay in one process."""
    option = config.option
    undecided = getattr(option, "numprocesses", 0) is None and not hasattr(config, "workerinput")
    watched = option.usepdb or option.capture == "no" or option.collectonly
    if undecided and not watched and all(Path(arg).is_dir() for arg in config.args):
        # By file, so that the module fixtures and the order of a file stay in one process. With 1.5 workers for each
        # core, since some tests wait for their own processes.
        cores = os.cpu_count() or 1
        option.numprocesses, option.dist, option.loadscopereorder = cores + (cores + 1) // 2, "loadfile", False
        # If pytest-xdist runs by file and replaces a dead worker, it waits for the new one for ever.
        option.maxworkerrestart = "0"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test with its tier: the folder of ``tests`` that it is in. Begin with the files that wait longest."""
    skip_what_lacks(items)
    for item in items:
        item.add_marker(_tier(item.path))
    items.sort(key=lambda item: _tier(item.path) not in _WAITING)


@functools.cache
def _tier(path: Path) -> str:
    return path.relative_to(TESTS).parts[0]


def pytest_collection_finish() -> None:
    """Exclude the imported modules from later garbage collections."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _leaves_nothing_open() -> Iterator[None]:
    """Collect garbage after every file of tests, so that an object left open fails in that file.

    Objects that survive are excluded from later collections, which would otherwise take longer with each file.
    """
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _checked_gates() -> Iterator[GateLocks]:
    """Give all sessions of this process gates that note what is done under them."""
    with checked_gates() as made:
        yield made


@pytest.fixture(autouse=True)
def _keeps_the_gates(_checked_gates: GateLocks) -> Iterator[None]:
    """Assert that nothing forbidden was done under a gate, and that this thread holds no gate at the end."""
    yield
    _checked_gates.check()


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Yield a bench on V75; close its controller, and assert that nothing is left."""
    made = Bench.make()
    yield made
    made.controller.close()
    assert made.simulated.power_config_ids == ()
    assert made.simulated.effective().rpc_polling_time_us == 0


@pytest.fixture
def gate() -> Iterator[Gate]:
    """Yield a gate; close it, and assert that nothing is left."""
    made = Gate()
    yield made
    made.close()


@pytest.fixture
def command(request: pytest.FixtureRequest) -> Command:
    """Return the command."""
    return Command(update=request.config.getoption("--update-golden"))


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, made the current one, with two folders in it that differ."""
    write_sides(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
