"""The command as a process: ``htppower``, and ``python -m htppower``. May import the command line."""

import gc
import io
import os
import sys

# As in cli/exit_codes.py: to import that may be interrupted, too.
_INTERRUPTED = 130


def run() -> None:
    """Run the command without the garbage collector: what start-up allocates stays; looking through it takes time.

    The end of the process does without it, too: there the collector would look at everything that is left, though the
    process gives it all back. Neither changes what ``atexit`` and ``weakref.finalize`` call.

    What a terminal's encoding lacks is written as an escape: names and summaries may hold any letter.

    Ctrl-C ends it with a line and no traceback, also while it is still being imported.
    """
    try:
        _run()
    except KeyboardInterrupt:
        # Importing the command takes most of its time, and it can't catch what comes before it is there.
        if sys.stderr is not None:
            sys.stderr.write("htppower: interrupted\n")
        sys.exit(_INTERRUPTED)


def _run() -> None:
    gc.disable()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    from htppower.cli.main import main  # noqa: PLC0415 - after the collector is off, since most is allocated here

    try:
        main(prog_name="htppower")
    finally:
        gc.freeze()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                _give_up_unwritten(stream)


def _give_up_unwritten(stream: io.TextIOWrapper) -> None:
    """Let go of what can't be written: as the process ends, Python would try once more, and change its exit code."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    run()
