"""The command line: `steward run`, and what helps to set it up.

Commands import what they need when they are called, so that `steward version` answers at once. Errors an operator can
mend are one line on standard error and exit code 2; a traceback here means a fault of ours.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version as installed_version
from typing import Annotated

import typer

from bot.settings import Settings, SettingsError, load_settings

app = typer.Typer(name="steward", help=__doc__.splitlines()[0], no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _configured() -> Settings:
    # The console script does not look into the folder it is called from, where an operator keeps the modules of STEWARD_TOOLS.
    if "" not in sys.path:
        sys.path.insert(0, "")
    from bot.log import configure_logging

    settings = load_settings()
    configure_logging(level=settings.log_level, fmt=settings.log_format, secrets=settings.secrets())
    return settings


@app.command()
def run() -> None:
    """Run Steward: on Slack when its tokens are set, else with the playground and, without a model key, the demo model."""
    settings = _configured()  # first: a wrong setting is told at once
    from bot.__main__ import run as start

    raise typer.Exit(start(settings))


@app.command()
def playground() -> None:
    """Run only the playground, a local Slack, for a bot that is started elsewhere."""
    settings = _configured()  # first: a wrong setting is told at once
    from bot.__main__ import playground_only

    raise typer.Exit(playground_only(settings))


@app.command()
def demo() -> None:
    """Play a short conversation through the whole program in this terminal. Needs no configuration."""
    settings = _configured()  # first: a wrong setting is told at once
    from bot.demo import main as play

    raise typer.Exit(play(settings))


mcp = typer.Typer(name="mcp", help="The MCP servers of STEWARD_CONFIG.", no_args_is_help=True)
app.add_typer(mcp)


@mcp.command("list")
def mcp_list() -> None:
    """Show the servers, their tools, what each may do, and what changed since it was first seen."""
    settings = _configured()
    from bot.mcp_commands import list_command

    raise typer.Exit(list_command(settings))


@mcp.command("confirm")
def mcp_confirm(
    server: Annotated[str, typer.Argument(help="The server, as STEWARD_CONFIG names it")],
    tool: Annotated[str | None, typer.Argument(help="One of its tools; all of them when left out")] = None,
) -> None:
    """Accept changed definitions of a server's tools as they are now."""
    settings = _configured()
    from bot.mcp_commands import confirm_command

    raise typer.Exit(confirm_command(settings, server, tool))


jobs = typer.Typer(name="jobs", help="What is done by the clock.", no_args_is_help=True)
app.add_typer(jobs)


@jobs.command("list")
def jobs_list() -> None:
    """Show the jobs: when each is due, when it was done last, and what it did."""
    settings = _configured()
    from bot.jobs_commands import list_command

    raise typer.Exit(list_command(settings))


@jobs.command("run")
def jobs_run(
    name: Annotated[str, typer.Argument(help="The job, as `steward jobs list` names it")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing, only count what would be done")] = False,  # noqa: FBT002 - typer's way
) -> None:
    """Run one job now, outside its schedule; never while a replica is at it."""
    settings = _configured()
    from bot.jobs_commands import run_command

    raise typer.Exit(run_command(settings, name, dry=dry_run))


memory = typer.Typer(name="memory", help="The store of what people told about themselves.", no_args_is_help=True)
app.add_typer(memory)


@memory.command("reembed")
def memory_reembed() -> None:
    """Make the vectors of all memories anew with the model of STEWARD_EMBEDDER; stop the bot first. Broken off, it goes on where it stopped."""
    settings = _configured()
    from bot.memory_cli import reembed_command

    raise typer.Exit(reembed_command(settings))


@memory.command("stats")
def memory_stats() -> None:
    """Show how many memories there are and how much room they take, without contents."""
    settings = _configured()
    from bot.memory_cli import stats_command

    raise typer.Exit(stats_command(settings))


@memory.command("history")
def memory_history(person: str, limit: Annotated[int, typer.Option(min=1, help="Changes to show.")] = 50) -> None:
    """Show what changed in the memory of PERSON (U123, or T1:U123), newest first, without what it says. The person sees it with /memory history."""
    settings = _configured()
    from bot.memory_cli import history_command

    raise typer.Exit(history_command(settings, person, limit=limit))


@memory.command("undo")
def memory_undo(person: str, change: str) -> None:
    """Take back one CHANGE (an id that `history` shows) in the memory of PERSON; stop the bot first. The person can do it with /memory undo."""
    settings = _configured()
    from bot.memory_cli import undo_command

    raise typer.Exit(undo_command(settings, person, change))


@app.command()
def doctor() -> None:
    """Check the settings and everything they point at; one line each, with the remedy. Exit code 1 if something is wrong."""
    settings = _configured()  # first: a wrong setting is told at once
    from bot.doctor import main as examine

    raise typer.Exit(examine(settings))


@app.command()
def manifest(http: Annotated[str | None, typer.Option(help="The public https address, for HTTP mode. Without it: Socket Mode.", metavar="URL")] = None) -> None:
    """Print the Slack app manifest."""
    from bot.manifest import render

    print(render(http), end="")


@app.command()
def version() -> None:
    """Print the version."""
    print(installed_version("steward-bot"))


def main(arguments: Sequence[str] | None = None) -> None:
    """The console script. Ends the process with 0, 1 (something is wrong, told by the command) or 2 (a setting to mend)."""
    from bot.manifest import ManifestError
    from memory.embedded import StoreError

    try:
        app(arguments)
    except (SettingsError, StoreError, ManifestError) as error:
        print(f"steward: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
