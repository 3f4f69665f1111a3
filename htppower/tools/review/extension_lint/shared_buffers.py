"""The allocation and copying of inputs and outputs, depending on how a context was prepared and how it is run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from htppower.tools.extensions.extension_file import Wrong
from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.keys import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.extension_file import ExtensionFile
    from htppower.tools.extensions.json_parser import Node

RAW, MEMHANDLE = "raw", "memhandle"
_KEYS = ("memType", "mem_type", "input_output_tensor_mem_type", "io_mem_type")
_SAID = re.compile(r"(MEMHANDLE|SHARED_BUFFER)|(RAW)", re.IGNORECASE)


class Row(NamedTuple):
    """What happens for one way to prepare a context and one way to run it.

    Attributes:
        prepared, run: raw or memhandle.
        allocates: whether and when the backend allocates inputs and outputs.
        copies: what is copied in each inference.
    """

    prepared: str
    run: str
    allocates: str
    copies: str


# Vendor, "QNN HTP Qmem Graph".
TABLE = (
    Row(RAW, RAW, "when the context is made", "inputs and outputs"),
    Row(RAW, MEMHANDLE, "when the context is made, though it is not used", "nothing"),
    Row(MEMHANDLE, RAW, "in the first inference, which is slower", "inputs and outputs"),
    Row(MEMHANDLE, MEMHANDLE, "never", "nothing"),
)


def prepared_with(root: Node) -> str | None:
    """Return how a context was prepared, from the tensors in its JSON; None if they do not show it."""
    waiting = [root]
    found: set[str] = set()
    while waiting:
        node = waiting.pop()
        for member in node.members:
            if member.key in _KEYS and member.node.kind is Kind.TEXT:
                said = _SAID.search(member.node.value)
                if said is not None:
                    found.add(MEMHANDLE if said[1] else RAW)
            waiting.append(member.node)
        waiting += node.items
    return None if not found else MEMHANDLE if MEMHANDLE in found else RAW


def mismatched(file: ExtensionFile, prepared: str | None) -> Iterator[Wrong]:
    """Yield a file that runs a context in another way than it was prepared."""
    if prepared is None:
        return
    for block in file.of(Section.TOP):
        memory = file.of(Section.MEMORY)
        said = memory[0].get("mem_type") if memory else None
        run = MEMHANDLE if said is not None and said.value == "shared_buffer" else RAW
        if run != prepared:
            row = next(row for row in TABLE if (row.prepared, row.run) == (prepared, run))
            what = f"the context was prepared with {prepared}, and is run with {run}"
            hint = 'add "memory": {"mem_type": "shared_buffer"}'
            if run == MEMHANDLE:
                hint = "prepare it with --input_output_tensor_mem_type memhandle"
            message = f"{what}: the backend allocates {row.allocates}; copied in each inference: {row.copies}"
            yield Wrong("EXT-39", said or block.node, message, hint)
