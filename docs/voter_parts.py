"""The source of each value of the shipped profiles: the vendor's documentation, its own voter, or both.

``tests/vendor/test_voter.py`` compares every row with the votes of the voter.
"""

from __future__ import annotations

import attrs

DOCUMENTATION = "documentation"
VOTER = "voter"
BOTH = "both"

TIMED = ("burst", "sustained_high_performance")
POLLING = (*TIMED, "high_performance")
BALANCED = ("balanced", "low_balanced")
SAVERS = ("high_power_saver", "power_saver", "low_power_saver")
EXTREME = ("extreme_power_saver",)
VOTING = (*POLLING, *BALANCED, *SAVERS, *EXTREME)
ALL = (*VOTING, "system_settings")

RAISED = ("INIT", "INFERENCE")
BETWEEN = ("after INIT", "after INFERENCE")
LAST = ("after DE-INIT",)
MOMENTS = (*RAISED, "DE-INIT", *BETWEEN, *LAST)
CLOCKS = tuple(f"{clock}VoltageCorner{limit}" for clock in ("bus", "core") for limit in ("Min", "Target", "Max"))
CLOCKS_AND_SLEEP = ("dcvsEnable", "sleepLatency", *CLOCKS)
LATENCY, RPC_POLLING = ("rpc_control_latency",), ("rpc_polling_time",)
FIELDS = (*CLOCKS_AND_SLEEP, "powerMode", "sleepDisable", *LATENCY, *RPC_POLLING)


@attrs.frozen
class Source:
    """The source of some cells.

    Attributes:
        what: their description on the page.
        source: ``documentation``, ``voter`` or ``both``. If it is the documentation, the voter differs.
        why: the gap or the difference in the other source.
        profiles, moments, fields: the cells. If only one side has a moment, all fields of it.
    """

    what: str
    source: str
    why: str
    profiles: tuple[str, ...]
    moments: tuple[str, ...]
    fields: tuple[str, ...]


SOURCES = (
    Source(
        "corners, sleep latency and DCVS in the phases",
        BOTH,
        "",
        VOTING,
        RAISED,
        CLOCKS_AND_SLEEP,
    ),
    Source(
        "the same between the phases, for `high_performance` and the three power savers",
        BOTH,
        "",
        ("high_performance", *SAVERS),
        BETWEEN,
        CLOCKS_AND_SLEEP,
    ),
    Source(
        "the same between the phases, for the other profiles",
        VOTER,
        "the documentation does not say which of the two states they relax to, nor that `extreme_power_saver` has one "
        "of its own",
        (*TIMED, *BALANCED, *EXTREME),
        BETWEEN,
        CLOCKS_AND_SLEEP,
    ),
    Source(
        "the same after DE-INIT",
        VOTER,
        "the documentation only says that lower votes are applied",
        VOTING,
        LAST,
        CLOCKS_AND_SLEEP,
    ),
    Source(
        "power mode, and that `sleep_disable` is unset",
        VOTER,
        "the documentation leaves them open",
        VOTING,
        (*RAISED, *BETWEEN, *LAST),
        ("powerMode", "sleepDisable"),
    ),
    Source(
        "RPC polling in the phases",
        BOTH,
        "",
        VOTING,
        RAISED,
        RPC_POLLING,
    ),
    Source(
        "RPC polling between the phases and after DE-INIT, from `balanced` down",
        BOTH,
        "",
        (*BALANCED, *SAVERS, *EXTREME),
        (*BETWEEN, *LAST),
        RPC_POLLING,
    ),
    Source(
        "RPC polling between the phases and after DE-INIT, for `burst`, `sustained_high_performance` and "
        "`high_performance`",
        DOCUMENTATION,
        "the table has it off in both power states; the voter never takes it back",
        POLLING,
        (*BETWEEN, *LAST),
        RPC_POLLING,
    ),
    Source(
        "RPC control latency 100 us",
        BOTH,
        "",
        VOTING,
        (*RAISED, *BETWEEN, *LAST),
        LATENCY,
    ),
    Source(
        "no vote at all for `system_settings`",
        DOCUMENTATION,
        "the voter casts an RPC control latency of 100 us",
        ("system_settings",),
        MOMENTS,
        FIELDS,
    ),
    Source(
        "raised for DE-INIT: `burst`, `sustained_high_performance` and `high_performance`",
        BOTH,
        "",
        POLLING,
        ("DE-INIT",),
        FIELDS,
    ),
    Source(
        "raised for DE-INIT: the other profiles",
        DOCUMENTATION,
        "the modes are applied before each stage; the voter does not raise these again for DE-INIT",
        (*BALANCED, *SAVERS, *EXTREME),
        ("DE-INIT",),
        FIELDS,
    ),
)


def sources() -> str:
    """Return the table of the page."""
    rows = [(each.what, each.source, each.why) for each in SOURCES]
    rows.append(
        (
            "lowered 300 ms after the last inference of `burst` and `sustained_high_performance`, else at once",
            BOTH,
            "the documentation has the timer, the voter its length",
        )
    )
    from docs.tables import made_table  # noqa: PLC0415 - the tests read the data while the folder is not a package

    return made_table(("Values", "From", "The other source"), rows)


PARTS = {"voter-sources": sources}
