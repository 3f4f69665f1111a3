"""``python -m htppower``."""

from htppower.cli import main

main(prog_name="htppower")
