"""Two folders of profiles that differ, for the tests of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

BASE = """\
profile: base
extends: balanced
votes:
  dcvs_v3:
    core: {min: SVS, target: NOM, max: NOM_PLUS}
    sleep_latency_us: 500
  rpc_polling_time_us: 0
relax:
  after_inference_us: 100000
"""
CHANGED = (
    BASE.replace("min: SVS", "min: NOM")
    .replace("max: NOM_PLUS", "max: NOM")
    .replace("500", "400")
    .replace("100000", "2000000")
)
MINE = "profile: mine\nextends: base\nsummary: Mine | yours, `quoted`.\n"


def write_sides(folder: Path) -> None:
    """Write the folders ``old`` and ``new``: a changed base, a profile that extends it, a new and a removed profile."""
    for side, base, summary in (("old", BASE, MINE), ("new", CHANGED, MINE.replace("Mine |", "Our |"))):
        (folder / side).mkdir()
        (folder / side / "base.yaml").write_text(base, encoding="utf-8")
        (folder / side / "mine.yaml").write_text(summary, encoding="utf-8")
    (folder / "new" / "more.yaml").write_text("profile: more\nextends: high_performance\n", encoding="utf-8")
    (folder / "old" / "less.yaml").write_text("profile: less\nextends: burst\n", encoding="utf-8")
