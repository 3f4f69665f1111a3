"""Bytecode is kept between the processes of the tests, but not of what they write."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import bytecode
import pytest
from bytecode import KEPT, forget_bytecode, keep_bytecode

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def _forbidden(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forbid bytecode, as PYTHONDONTWRITEBYTECODE does."""
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        patch.delenv("PYTHONPYCACHEPREFIX", raising=False)
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setattr(sys, "pycache_prefix", None)
        yield


def test_this_process_keeps_bytecode() -> None:
    """Whatever the environment says, what one process of the tests compiles the next one reads."""
    assert not sys.dont_write_bytecode


@pytest.mark.usefixtures("_forbidden")
def test_where_it_is_forbidden_none_is_written_beside_the_sources() -> None:
    """It is written to pytest's cache, by this process and its children."""
    keep_bytecode()
    assert not sys.dont_write_bytecode
    assert KEPT in Path(importlib.util.cache_from_source(bytecode.__file__)).parents
    assert "PYTHONDONTWRITEBYTECODE" not in os.environ
    assert os.environ["PYTHONPYCACHEPREFIX"] == str(KEPT)


@pytest.mark.usefixtures("_forbidden")
def test_of_what_tests_write_none_is_kept(tmp_path: Path) -> None:
    """All that was compiled from a temporary folder is removed, and nothing else."""
    keep_bytecode()
    written, other = (
        Path(importlib.util.cache_from_source(str(tmp_path / name / "module.py"))) for name in ("mine/deep", "other")
    )
    for path in (written, other):
        path.parent.mkdir(parents=True)
        path.touch()
    forget_bytecode(tmp_path / "mine")
    assert (written.exists(), other.exists()) == (False, True)
    forget_bytecode(tmp_path)
    assert not other.exists()
