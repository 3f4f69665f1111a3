"""Items of custom that say whether votes stay up after an inference: the last counts (measured on QAIRT 2.51)."""

from __future__ import annotations

from typing import Any

from support.imported import DONE, START, item

# The values of the items for starts and for dones, None if missing, and whether the votes stay up.
CASES = (
    (None, None, False),
    (True, None, True),
    (None, True, True),
    (False, True, True),
    (True, False, False),
    (False, None, False),
)


def custom_of(*said: bool | None) -> dict[str, Any]:
    """Return a core with these values of the items."""
    items = [item(START, "NOM"), item(DONE, "SVS")]
    for each, sustains in zip(items, said, strict=True):
        if sustains is not None:
            each["sustainInferencePerfState"] = sustains
    return {"perf_profile": "custom", "custom": items}
