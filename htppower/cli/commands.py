"""The commands, in the sections in which help shows them: the module of each, and what it does."""

from typing import NamedTuple

# No postponed annotations here: a named tuple would compile each of its types anew, which costs start-up.


class Entry(NamedTuple):
    """A command.

    Attributes:
        module: what is imported when it is called; its ``command`` is the command.
        does: the first sentence of its help, told of all commands where none of them is imported.
    """

    module: str
    does: str


SECTIONS = {
    "See profiles": {
        "list": Entry(
            "htppower.cli.list",
            "List the profiles, from highest performance to lowest.",
        ),
        "show": Entry(
            "htppower.cli.show",
            "Show a profile or power state as it is resolved.",
        ),
        "explain": Entry(
            "htppower.cli.explain",
            "Explain a profile, a power state, a rule, a native code, a corner, a SoC, or what else a message names",
        ),
    },
    "Run under a profile": {
        "profile": Entry(
            "htppower.cli.profile.command",
            "Hold a profile up while a command runs, or until Ctrl-C; with --dry-run, show every vote that it casts.",
        ),
        "status": Entry(
            "htppower.cli.status.command",
            "Show what hosts have voted, since when and why.",
        ),
        "doctor": Entry(
            "htppower.cli.doctor.command",
            "Say whether votes can be cast here, and what to do where they can't.",
        ),
    },
    "Review profiles": {
        "lint": Entry(
            "htppower.cli.lint",
            "Find what is wrong in profiles, power states, device models and the vendor's extension files, and in "
            "folders.",
        ),
        "diff": Entry(
            "htppower.cli.diff",
            "Compare resolved profiles, and tell the effect of each change.",
        ),
        "test": Entry(
            "htppower.cli.test",
            "Run tests of profiles.",
        ),
    },
    "Measure": {
        "advise": Entry(
            "htppower.cli.advise",
            "Give advice on power from what profilers have measured.",
        ),
        "calibrate": Entry(
            "htppower.cli.calibrate",
            "Measure what calls, idling and inferences cost on a device, and write its device model.",
        ),
        "trace": Entry(
            "htppower.cli.trace",
            "Say what is in a trace of inferences.",
        ),
        "tune": Entry(
            "htppower.cli.tune",
            "Find the profile and the sustain time that cost least on a recording.",
        ),
    },
    "Exchange with other tools": {
        "import": Entry(
            "htppower.cli.import_",
            "Make profiles of a backend extension file of the vendor's, or of the settings of an inference runtime.",
        ),
        "export": Entry(
            "htppower.cli.export",
            "Write a profile as a backend extension file, which the vendor's tools and Genie vote by.",
        ),
        "settings": Entry(
            "htppower.cli.settings",
            "Print what to set in an inference runtime for a profile, ready to paste.",
        ),
    },
    "Set up": {
        "schema": Entry(
            "htppower.cli.schema",
            "Write the JSON Schemas of profiles, power states, tests and device models into DIR.",
        ),
        "completion": Entry(
            "htppower.cli.completion.command",
            "Print the script that completes commands, profiles, fields, rules and SoCs in a shell.",
        ),
    },
}
COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}
