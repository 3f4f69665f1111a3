"""The command as a process: ``htppower``, and ``python -m htppower``."""

import gc


def run() -> None:
    """Run the command without the garbage collector: what start-up allocates stays; looking through it takes 4 %."""
    gc.disable()
    from htppower.cli import main  # noqa: PLC0415 - after the collector is off, since most is allocated here

    main(prog_name="htppower")


if __name__ == "__main__":
    run()
