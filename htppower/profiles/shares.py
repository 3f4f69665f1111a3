"""Shares in the spelling of a file, such as ``5 %``, and as millionths."""

from __future__ import annotations

import re

# More than 0 and less than 100 %, with at most four decimals: exact in millionths.
SHARE_PATTERN = r"(?!0(\.0+)? ?%)[1-9]?[0-9](\.[0-9]{1,4})? ?%"
SHARE_LIMITS_PPM = (1, 999_999)
_PPM_OF_A_PER_CENT = 10_000


def is_share(text: str) -> bool:
    """Return whether a text is a share in per cent."""
    return re.fullmatch(SHARE_PATTERN, text) is not None


def share_ppm(text: str) -> int:
    """Return a share in millionths."""
    whole, _, rest = text.rstrip(" %").partition(".")
    return int(whole) * _PPM_OF_A_PER_CENT + int(rest.ljust(4, "0"))


def share_text(ppm: int) -> str:
    """Return millionths in the spelling of a file."""
    whole, rest = divmod(ppm, _PPM_OF_A_PER_CENT)
    return f"{f'{whole}.{rest:04}'.rstrip('0').rstrip('.')} %"
