"""Ask the vendor's Genie which configurations it accepts: prints its code for each line of JSON on the standard input.

genie_configs.py FOLDER_OF_LIBRARIES    each line: {"dialog": ...}, {"performance": ...} or the configuration of a node
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path


def main() -> None:
    """Answer every line."""
    # The unwinder of GCC first: the package's own ends the process at the next exception.
    ctypes.CDLL("libgcc_s.so.1", ctypes.RTLD_GLOBAL)
    genie = ctypes.CDLL(str(Path(sys.argv[1]) / "libGenie.so"))
    for line in sys.stdin:
        config = json.loads(line)
        name = {"performance": "Performance", "dialog": "Dialog"}.get(next(iter(config)), "Node")
        made = ctypes.c_void_p()
        code = genie[f"Genie{name}Config_createFromJson"](line.encode(), ctypes.byref(made))
        if name == "Node":
            code = genie.GenieNode_create(made, ctypes.byref(ctypes.c_void_p()))
        print(f"## {code}", flush=True)


if __name__ == "__main__":
    main()

# ruff: noqa: T201 - what it prints is read
