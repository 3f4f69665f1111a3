"""The command as a process: ``htppower``, and ``python -m htppower``. May import the command line."""

import io
import os
import sys

# The same as in cli/help.py, whose import may be interrupted, too.
_INTERRUPTED = 130


def run() -> None:
    """Run the command.

    A letter that the encoding of the terminal lacks is written as an escape. Ctrl-C ends the command with one line and
    no traceback, also during the imports.
    """
    try:
        _run()
    except KeyboardInterrupt:
        # The command itself can't catch a Ctrl-C before it is imported.
        if sys.stderr is not None:
            sys.stderr.write("htppower: interrupted\n")
        sys.exit(_INTERRUPTED)


def _run() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Windows would write a file in an encoding that htppower does not read.
            is_file = os.name == "nt" and not stream.isatty()
            stream.reconfigure(errors="backslashreplace", encoding="utf-8" if is_file else None)
    from htppower.tools.cli.main import main  # noqa: PLC0415 - Ctrl-C may come here

    try:
        # On Windows click would replace *, ~ and variables in all arguments, also in a command after --.
        main(prog_name="htppower", windows_expand_args=False)
    finally:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                _give_up_unwritten(stream)


def _give_up_unwritten(stream: io.TextIOWrapper) -> None:
    """Drop text that can't be written: at the end of the process Python would try again, and change the exit code."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    run()
