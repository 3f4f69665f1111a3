"""``htppower env``: the lines that lead a shell, a container or a service to the library and its skels."""

from __future__ import annotations

import os

import click

from htppower.errors import printable
from htppower.tools.cli.help import WHAT, Command, option
from htppower.tools.cli.options import library_option, soc_option
from htppower.tools.cli.terminal import echo, kept_off_stdout
from htppower.tools.environment.lines import FORMS, lines_of
from htppower.tools.environment.skel_folders import architecture
from htppower.tools.environment.variables import needed_variables

_HERE = "powershell" if os.name == "nt" else "sh"


@click.command(name="env", cls=Command, example="htppower env --for systemd")
@option(
    "--for",
    "chosen",
    type=click.Choice(tuple(FORMS)),
    metavar="FORM",
    group=WHAT,
    help=f"Print lines of this form: {', '.join(FORMS)}. The default is sh, and on Windows powershell.",
)
@library_option()
@soc_option("Name only the skel for this SoC; leave it out on a device.")
def command(chosen: str | None, library: str | None, soc: str | None) -> None:
    """Print the lines that set a host's variables for the library, the loader and the skels.

    In a shell, type: eval "$(htppower env)". In PowerShell: htppower env | Out-String | Invoke-Expression. For a
    service, write the output to /etc/systemd/system/NAME.service.d/htppower.conf. The form env-file is for docker run
    --env-file, env_file: of Compose and EnvironmentFile= of systemd.

    The skels are searched near the library, in the variables that are set, and in folders of the system. If the SoC is
    not known, the folders of all skels are named. The lines for a shell keep the folders that the variables have.

    Exit code 0: printed; 2: there is no library or no skel, with the places that were searched.
    """
    form = FORMS[chosen or _HERE]
    with kept_off_stdout():
        made = needed_variables(library, architecture(soc), os.environ, keep=not form.starts_anew)
    for line in lines_of(made.values, form):
        echo(line)
    for note in made.notes:
        echo(printable(note), err=True)
