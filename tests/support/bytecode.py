"""Bytecode that is kept for the next process, also where the environment forbids to write it beside the sources.

Without it, each of the some hundred processes that the tests start compiles all that it imports, and each worker
rewrites the assertions of every file of tests anew.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from checkout import ROOT

KEPT = ROOT / ".pytest_cache" / "bytecode"


def keep_bytecode() -> None:
    """Let this process and its children keep bytecode in pytest's own cache, where they may not beside the sources."""
    if sys.dont_write_bytecode:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(KEPT)
        sys.dont_write_bytecode = False


def forget_bytecode(folder: Path) -> None:
    """Remove what was kept there of the sources in a folder that nobody imports from again."""
    if sys.pycache_prefix == str(KEPT):
        shutil.rmtree(Path(importlib.util.cache_from_source(str(folder / "any.py"))).parent, ignore_errors=True)
