"""A tree of thermal zones, and a cap on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower import ThermalCap

if TYPE_CHECKING:
    from pathlib import Path

    from support.bench import Bench


@attrs.frozen
class Tree:
    """A folder of thermal zones, as below ``/sys/class/thermal``."""

    root: Path

    def zone(self, number: int, name: str, text: str) -> Path:
        """Make or change a zone; return its temperature's file."""
        folder = self.root / f"thermal_zone{number}"
        folder.mkdir(exist_ok=True)
        (folder / "type").write_text(f"{name}\n", encoding="ascii")
        file = folder / "temp"
        file.write_text(f"{text}\n", encoding="ascii")
        return file

    def cap(self, bench: Bench, **options: Any) -> ThermalCap:
        """Return a thermal cap between 60 and 70 C on the tree."""
        return ThermalCap(bench.controller, **{"above_c": 70, "below_c": 60, "root": self.root, **options})
