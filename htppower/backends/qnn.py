"""The vendor's library, ``libQnnHtp.so`` or ``QnnHtp.dll``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from htppower.errors import BackendUnavailable, Unavailable

if TYPE_CHECKING:
    import os


class QnnHtp:
    """Votes through the vendor's library. This version of htppower does not bind it yet.

    Args:
        library: the library's path.
        soc_model: the SoC model to create the device for.

    Raises:
        BackendUnavailable: always, with the reason NOT_BOUND.
    """

    def __new__(cls, library: str | os.PathLike[str] | None = None, soc_model: int | None = None) -> NoReturn:  # noqa: ARG004, D102
        raise BackendUnavailable(
            Unavailable.NOT_BOUND,
            "the vendor's library is not bound yet in this version of htppower, so no vote can reach hardware; "
            "use --dry-run or the simulated backend",
        )
