"""An extra of the package that a command needs."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from htppower.errors import HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """If an import in the body fails, raise an error that names the extra to install.

    Raises:
        HtpPowerError: a module of another package can't be imported.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "htppower").partition(".")[0] == "htppower":
            raise
        raise HtpPowerError(f'{error.name} can\'t be imported: pip install "htppower[{extra}]"') from error
