"""``--device``: a device model, by name or by path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.cli import completion
from htppower.tools.cli.help import WHAT, option

if TYPE_CHECKING:
    from htppower.tools.cli.help import Decorator

# The same as in tuning/models/file.py, which takes long to import.
DEFAULT_DEVICE = "hexagon_assumed"


def device_option(meaning: str) -> Decorator:
    """Return ``--device`` as the parameter ``device``, which ``load_device_model`` loads."""
    return option(
        "--device",
        metavar="NAME|FILE",
        default=DEFAULT_DEVICE,
        show_default=True,
        group=WHAT,
        shell_complete=completion.devices,
        help=meaning,
    )
