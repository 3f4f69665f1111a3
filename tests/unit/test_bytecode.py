"""The processes of the tests share bytecode, except for files that the tests write."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support import bytecode
from support.bytecode import KEPT, forget_bytecode, keep_bytecode

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
    """In any environment, a process of the tests leaves its bytecode for the next one."""
    assert not sys.dont_write_bytecode


@pytest.mark.usefixtures("_forbidden")
def test_where_it_is_forbidden_none_is_written_beside_the_sources() -> None:
    """Bytecode is written to pytest's cache, by this process and its children."""
    keep_bytecode()
    assert not sys.dont_write_bytecode
    assert KEPT in Path(importlib.util.cache_from_source(bytecode.__file__)).parents
    assert "PYTHONDONTWRITEBYTECODE" not in os.environ
    assert os.environ["PYTHONPYCACHEPREFIX"] == str(KEPT)


@pytest.mark.usefixtures("_forbidden")
def test_of_what_tests_write_none_is_kept(tmp_path: Path) -> None:
    """Bytecode for files in a temporary folder is removed, and no other."""
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
