"""The command ``htppower``. Each command has a module, imported only when it is called."""

from __future__ import annotations

import contextlib
import errno
import importlib
from typing import TYPE_CHECKING, Any

import click

from htppower._version import __version__
from htppower.cli.exit_codes import INTERRUPTED, INVALID, REFUSED
from htppower.cli.terminal import echo
from htppower.errors import HtpPowerError, ProfileError, RuleBreach, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMANDS = {
    "diff": "htppower.cli.diff",
    "doctor": "htppower.cli.doctor.command",
    "explain": "htppower.cli.explain",
    "lint": "htppower.cli.lint",
    "list": "htppower.cli.list",
    "profile": "htppower.cli.profile.command",
    "schema": "htppower.cli.schema",
    "show": "htppower.cli.show",
    "status": "htppower.cli.status.command",
    "test": "htppower.cli.test",
}


class _Commands(click.Group):
    """Imports commands by name, and turns every error into a message and an exit code."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_COMMANDS[name]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from htppower.profiles.did_you_mean import did_you_mean  # noqa: PLC0415 - only for a wrong name

            ctx.fail(f"no command {args[0]!r}: {did_you_mean(args[0], _COMMANDS)}")
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _safe_usage_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _safe_usage_errors():
                return super().invoke(ctx)
        except HtpPowerError as error:
            echo(_explain(error), err=True)
            ctx.exit(REFUSED if isinstance(error, RuleBreach) else INVALID)
        except (KeyboardInterrupt, click.Abort):
            echo("htppower: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # the reader has closed the pipe, as head does: click ends quietly
            where = "" if error.filename is None else f" {printable(str(error.filename))}"
            echo(f"htppower: can't write{where}: {error.strerror}", err=True)
            ctx.exit(INVALID)
        except Exception as error:  # noqa: BLE001 - no traceback ever reaches a user
            said = f"{type(error).__name__}: {printable(str(error))}"
            echo(f"htppower: internal error: {said}; please report it", err=True)
            ctx.exit(INVALID)


@contextlib.contextmanager
def _safe_usage_errors() -> Iterator[None]:
    """Make what click prints of arguments safe for a terminal."""
    try:
        yield
    except click.ClickException as error:
        error.message = printable(error.message)  # type: ignore[misc] # final in newer versions only
        raise


def _explain(error: HtpPowerError) -> str:
    if isinstance(error, ProfileError):
        return str(error)  # each line begins with a place to jump to
    from htppower.errors import BackendUnavailable  # noqa: PLC0415 - only for an error

    reason = f" (reason: {error.reason.value})" if isinstance(error, BackendUnavailable) else ""
    return f"htppower: {error}{reason}"


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="htppower")
def main() -> None:
    """Performance profiles and power votes for the Qualcomm QNN HTP (Hexagon NPU)."""
