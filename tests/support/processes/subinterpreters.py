"""A process with a subinterpreter that uses a controller: ``subinterpreters.py shared|isolated close|end FILE``.

``shared`` is one with the main interpreter's lock; ``isolated`` is the default, which has no daemon threads. Its one
inference is recorded in the file.
"""

from __future__ import annotations

import importlib
import sys

GUEST = """
import sys, threading
sys.path[:0] = {path}
from htppower import VoteController

controller = VoteController("simulated", handle_sigterm=False)
session = controller.session("burst")
controller.record({file!r})
with session.init():
    pass
with session.inference():
    print(session.state, flush=True)
print(session.state, flush=True)
if {close}:
    controller.close()
    print(session.state, flush=True)
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(60)
"""


def main() -> None:
    """Make the subinterpreter, run the guest in it, destroy it."""
    kind, end, file = sys.argv[1:]
    if sys.version_info >= (3, 13):
        interpreters = importlib.import_module("_interpreters")
        made = interpreters.create("legacy" if kind == "shared" else "isolated")
    else:
        interpreters = importlib.import_module("_xxsubinterpreters")
        made = interpreters.create(isolated=kind == "isolated")
    # Before Python 3.13, an exception of the subinterpreter is raised here; since then, it is returned.
    failed = interpreters.run_string(made, GUEST.format(path=sys.path, close=end == "close", file=file))
    interpreters.destroy(made)
    if failed is not None:
        sys.exit(failed.errdisplay)


if __name__ == "__main__":
    main()
