"""The commands, in the sections of the help: the module of each, and its description."""

from __future__ import annotations

import attrs


@attrs.frozen
class Entry:
    """A command.

    Attributes:
        module: the module that is imported when it is called; its ``command`` is the command.
        does: the first sentence of its help, for lists of all commands that import none of them.
    """

    module: str
    does: str


SECTIONS = {
    "See profiles": {
        "list": Entry("htppower.tools.cli.list", "List the profiles, from highest performance to lowest."),
        "show": Entry("htppower.tools.cli.show", "Show a resolved profile or power state."),
        "explain": Entry(
            "htppower.tools.cli.explain",
            "Explain a profile, a power state, a rule, a native code, a corner, a SoC, or another name from a message",
        ),
    },
    "Run under a profile": {
        "profile": Entry(
            "htppower.tools.cli.profile.command",
            "Hold a profile up while a command runs, or until Ctrl-C; with --dry-run, show every vote that it sends.",
        ),
        "serve": Entry("htppower.tools.cli.serve", "Vote for the processes that connect to a socket, in any language."),
        "status": Entry("htppower.tools.cli.status.command", "Show the votes of hosts, since when and why."),
        "doctor": Entry("htppower.tools.cli.doctor", "Check whether votes can be sent here, and what to do if not."),
    },
    "Review profiles": {
        "lint": Entry(
            "htppower.tools.cli.lint",
            "Find faults in profiles, power states, device models and the vendor's extension files, and in folders.",
        ),
        "diff": Entry("htppower.tools.cli.diff", "Compare resolved profiles, and show the effect of each change."),
        "test": Entry("htppower.tools.cli.test", "Run tests of profiles."),
    },
    "Measure": {
        "advise": Entry("htppower.tools.cli.advise", "Give advice on power from what profilers have measured."),
        "calibrate": Entry(
            "htppower.tools.cli.calibrate",
            "Measure what calls, idling and inferences cost on a device, and write its device model.",
        ),
        "compare": Entry("htppower.tools.cli.compare", "Compare two measurements, and find where they differ."),
        "trace": Entry("htppower.tools.cli.trace", "Describe a trace of inferences."),
        "tune": Entry(
            "htppower.tools.cli.tune", "Find the profile and the sustain time that cost least on a recording."
        ),
    },
    "Exchange with other tools": {
        "import": Entry(
            "htppower.tools.cli.import_",
            "Make profiles from the vendor's backend extension file, or from the settings of an inference runtime.",
        ),
        "export": Entry(
            "htppower.tools.cli.export", "Write a profile as a backend extension file for the vendor's tools and Genie."
        ),
        "settings": Entry(
            "htppower.tools.cli.settings", "Print the settings of an inference runtime for a profile, ready to paste."
        ),
    },
    "Set up": {
        "env": Entry(
            "htppower.tools.cli.env",
            "Print the lines that set a host's variables for the library, the loader and the skels.",
        ),
        "schema": Entry(
            "htppower.tools.cli.schema",
            "Write the JSON Schemas of profiles and all other files that people write into DIR.",
        ),
        "completion": Entry(
            "htppower.tools.cli.completion",
            "Print the script that completes commands, profiles, fields, rules and SoCs in a shell.",
        ),
    },
}
COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}
