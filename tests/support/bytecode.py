"""Keeps bytecode for the next process, even if the environment forbids writing it next to the sources.

Without it, each of the hundreds of processes that the tests start compiles all its imports, and each worker rewrites
the assertions of every test file again.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from support.checkout import ROOT

KEPT = ROOT / ".pytest_cache" / "bytecode"


def keep_bytecode() -> None:
    """Let this process and its children keep bytecode in pytest's cache if they can't write it next to the source."""
    if sys.dont_write_bytecode:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(KEPT)
        sys.dont_write_bytecode = False


def forget_bytecode(folder: Path) -> None:
    """Remove the kept bytecode of a folder that will not be imported again."""
    if sys.pycache_prefix == str(KEPT):
        shutil.rmtree(Path(importlib.util.cache_from_source(str(folder / "any.py"))).parent, ignore_errors=True)
