"""Nodes of a model that hold a compiled context, and who runs them."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import os

_NAME = b"\x0a\x0fep_context_type"
# The attribute ``ep_context_type`` with the text ``dlc``, as protobuf writes an ``AttributeProto`` of ONNX: the name is
# field 1, the text field 4, and the type, field 20, may stand between them.
_DLC = re.compile(re.escape(_NAME) + rb'(?:\xa0\x01\x03)?"\x03(?i:dlc)')
_BLOCK_BYTES = 1 << 20
# More than the attribute has.
_OVERLAP_BYTES = 64


def has_dlc_context(model: str | os.PathLike[str] | bytes) -> bool:
    """Return whether a model has a node whose context is a DLC, which the provider gives to Genie; no if unreadable."""
    try:
        with io.BytesIO(model) if isinstance(model, bytes) else Path(model).open("rb") as file:
            return _has_dlc_context(file)
    except (OSError, ValueError):
        return False  # ONNX Runtime says what is wrong with the path


def _has_dlc_context(file: BinaryIO) -> bool:
    block = b""
    while read := file.read(_BLOCK_BYTES):
        block = block[-_OVERLAP_BYTES:] + read
        # The search for a plain text is four times as fast as that of the pattern (measured).
        if _NAME in block and _DLC.search(block):
            return True
    return False
