"""The command ``htppower``. Each command has a module, imported only when it is called."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from htppower._version import __version__
from htppower.errors import HtpPowerError, ProfileError, RuleBreach, printable
from htppower.tools.cli.commands import COMMANDS, SECTIONS
from htppower.tools.cli.help import INTERRUPTED, INVALID, REFUSED, WIDEST, Context, write_commands, write_example
from htppower.tools.cli.terminal import echo, fitted
from htppower.tools.report.layout import terminal_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.tools.cli.commands import Entry

# Click prints this before the message of an error.
_ERROR = "Error: "
EXAMPLE = "htppower profile burst --dry-run"
_LOOKED = "where: in the shipped folder and those of --profiles; name its folder by --profiles, or give its path"


class _Commands(click.Group):
    """Imports commands by name, and turns every error into a message and an exit code."""

    context_class = Context

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[name].module).command
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_commands(((title, _told(entries)) for title, entries in SECTIONS.items()), formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(name, help=does) for name, does in _told(COMMANDS) if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_example(EXAMPLE, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            from htppower.profiles.did_you_mean import did_you_mean  # noqa: PLC0415 - only for a wrong name

            ctx.fail(f"no command {args[0]!r}: {did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            # Click's versions print different texts to different streams.
            echo(ctx.get_help(), err=True)
            ctx.exit(INVALID)
        return super().parse_args(ctx, args)

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().main(*args, **extra)
        except OSError as error:
            # This includes what click itself prints: the help, the version and usage errors.
            where = "" if error.filename is None else f" {printable(str(error.filename))}"
            _report(f"htppower: can't write{where}: {error.strerror}")
            sys.exit(INVALID)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            extra.setdefault("terminal_width", min(terminal_width(), WIDEST))
            with _safe_usage_errors():
                return super().make_context(*args, **extra)
        except KeyboardInterrupt:
            # Click would print "Aborted!" and exit with 1.
            _report("htppower: interrupted")
            raise click.exceptions.Exit(INTERRUPTED) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            from htppower.profiles.regular_file import noting_opened_files  # noqa: PLC0415 - not needed for help

            with _safe_usage_errors(), noting_opened_files():
                return super().invoke(ctx)
        except HtpPowerError as error:
            _report(_explain(error, where=_LOOKED if self._looks_in_folders(ctx) else ""))
            ctx.exit(REFUSED if isinstance(error, RuleBreach) else INVALID)
        except (KeyboardInterrupt, click.Abort):
            _report("htppower: interrupted")
            ctx.exit(INTERRUPTED)
        except (click.ClickException, click.exceptions.Exit, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - a user never sees a traceback
            said = f"{type(error).__name__}: {printable(str(error))}"
            _report(f"htppower: internal error: {said}; please report it")
            ctx.exit(INVALID)

    def _looks_in_folders(self, ctx: click.Context) -> bool:
        """Return whether the command that was called has ``--profiles``."""
        called = self.get_command(ctx, ctx.invoked_subcommand or "")
        return called is not None and any(parameter.name == "folders" for parameter in called.params)


def _report(said: str) -> None:
    """Print an error. If that fails, only the exit code shows it."""
    with contextlib.suppress(OSError):
        echo(said, err=True)


def _told(entries: Mapping[str, Entry]) -> list[tuple[str, str]]:
    return [(name, entry.does) for name, entry in entries.items()]


@contextlib.contextmanager
def _safe_usage_errors() -> Iterator[None]:
    """Make click's messages about arguments safe for a terminal, and fit its width."""
    try:
        yield
    except click.ClickException as error:
        error.message = printable(error.message)  # type: ignore[misc] # final in newer versions only
        said = fitted(f"{_ERROR}{error.format_message()}", "  ", err=True).removeprefix(_ERROR)
        error.format_message = lambda: said  # type: ignore[method-assign]
        raise


def _explain(error: HtpPowerError, where: str) -> str:
    """Return an error, with the commands that explain it.

    ``where`` is added if no file has a name.
    """
    from htppower.errors import BackendUnavailable, VoteRejected  # noqa: PLC0415 - only for an error
    from htppower.tools.review.explain.subjects import is_subject  # noqa: PLC0415 - as above

    more: dict[object, None] = {}
    unknown = False
    if isinstance(error, ProfileError):
        said = str(error)  # each line begins with a place to jump to
        more = dict.fromkeys(problem.rule for problem in error.problems)
        of_names = [each for each in error.problems if each.rule == "NAME-1" and not each.line]
        # If the path is a file, the finding is about a name in the file.
        unknown = not all(os.path.isfile(each.path) for each in of_names)
    else:
        reason = f" (reason: {error.reason.value})" if isinstance(error, BackendUnavailable) else ""
        said = f"htppower: {error}{reason}"
        if isinstance(error, VoteRejected) and is_subject(str(error.code)):
            more = {error.code: None}
    lines = [
        *said.split("\n"),
        *([where] if where and unknown else ()),
        *(f"why: htppower explain {subject}" for subject in more),
    ]
    return "\n".join(lines)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Performance profiles and power votes for the Qualcomm QNN HTP (Hexagon NPU)."""
    from htppower.tools.cli.configuration import default_map  # noqa: PLC0415 - not needed for help and completion

    with contextlib.suppress(FileNotFoundError):  # the current folder may be gone
        click.get_current_context().default_map = default_map(os.getcwd())
