"""The dashboard for Grafana, ``monitoring/dashboard.json``."""

from __future__ import annotations

import json
from typing import Any

import attrs

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
# The processes, selected above the panels.
_WHERE = 'job=~"$job", instance=~"$instance"'
_WIDTH, _HEIGHT = 12, 8


@attrs.frozen
class Query:
    """A line, or one line for each set of labels.

    Attributes:
        expression: in PromQL; ``%`` stands for the selection of processes.
        legend: the name of a line.
    """

    expression: str
    legend: str

    def target(self, number: int) -> dict[str, Any]:
        """Return the query in the form of Grafana."""
        expression = self.expression.replace("%", _WHERE)
        return {"refId": chr(ord("A") + number), "datasource": _SOURCE, "expr": expression, "legendFormat": self.legend}


@attrs.frozen
class Panel:
    """A panel.

    Attributes:
        title: what it shows.
        help: what to look for.
        unit: as Grafana names it.
        queries: its lines.
        stacked: whether the lines add up.
    """

    title: str
    help: str
    unit: str
    queries: tuple[Query, ...]
    stacked: bool = False

    def as_grafana(self, number: int) -> dict[str, Any]:
        """Return the panel in the form of Grafana, in two columns."""
        custom = {"fillOpacity": 20 if self.stacked else 0, "stacking": {"mode": "normal" if self.stacked else "none"}}
        return {
            "id": number + 1,
            "type": "timeseries",
            "title": self.title,
            "description": self.help,
            "datasource": _SOURCE,
            "gridPos": {"h": _HEIGHT, "w": _WIDTH, "x": number % 2 * _WIDTH, "y": number // 2 * _HEIGHT},
            "fieldConfig": {"defaults": {"unit": self.unit, "min": 0, "custom": custom}, "overrides": []},
            "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
            "targets": [query.target(each) for each, query in enumerate(self.queries)],
        }


def _quantile(share: float, metric: str, by: str = "") -> str:
    labels = ", ".join(filter(None, (by, "le")))
    return f"histogram_quantile({share}, sum by ({labels}) (rate({metric}_bucket{{%}}[$__rate_interval])))"


PANELS = (
    Panel(
        "Sessions by state",
        "UNKNOWN: votes were lost, and are not in force again. UNVOTED: open, and not voted yet.",
        "short",
        (Query("sum by (state) (htppower_sessions{%})", "{{state}}"),),
        stacked=True,
    ),
    Panel(
        "Sessions that are up, on average",
        "If nothing runs, it should fall to 0 within the sustain time.",
        "short",
        (
            Query(
                'sum by (instance) (rate(htppower_state_seconds_total{state="RAISED", %}[$__rate_interval]))',
                "{{instance}}",
            ),
        ),
    ),
    Panel(
        "Inferences a second",
        "Inferences that begin, over all sessions.",
        "ops",
        (Query("sum by (instance) (rate(htppower_inferences_total{%}[$__rate_interval]))", "{{instance}}"),),
    ),
    Panel(
        "Share of inferences that wait for a native call",
        "Near 100 %: the sustain time is too short for the gaps between inferences.",
        "percentunit",
        (
            Query(
                "sum by (instance) (rate(htppower_cold_starts_total{%}[$__rate_interval]))"
                " / sum by (instance) (rate(htppower_inferences_total{%}[$__rate_interval]))",
                "{{instance}}",
            ),
        ),
    ),
    Panel(
        "How long they wait",
        "From the begin of an inference until its votes are in force.",
        "s",
        (
            Query(_quantile(0.5, "htppower_cold_start_wait_seconds"), "50 %"),
            Query(_quantile(0.99, "htppower_cold_start_wait_seconds"), "99 %"),
        ),
    ),
    Panel(
        "Inferences that run",
        "At the time of a scrape: short inferences fall between two scrapes.",
        "short",
        (Query("sum by (instance) (htppower_inferences_in_flight{%})", "{{instance}}"),),
    ),
    Panel(
        "Native calls that were sent, and saved",
        "Many sent and few saved: the sustain time is too short for the gaps between inferences.",
        "ops",
        (
            Query("sum(rate(htppower_calls_total{%}[$__rate_interval]))", "sent"),
            Query("sum(rate(htppower_calls_saved_total{%}[$__rate_interval]))", "saved"),
        ),
    ),
    Panel(
        "Native calls by result",
        "Any other result than SUCCESS is a refused vote, or a lost link.",
        "ops",
        (
            Query(
                "sum by (function, result) (rate(htppower_calls_total{%}[$__rate_interval]))", "{{function}} {{result}}"
            ),
        ),
    ),
    Panel(
        "Time of a native call, 99 %",
        "An inference that raises waits for createPowerConfigId and setPowerConfig.",
        "s",
        (Query(_quantile(0.99, "htppower_call_duration_seconds", "function"), "{{function}}"),),
    ),
    Panel(
        "Lateness of lowerings, 99 %",
        "How long after its deadline a timer lowered. More than 10 ms: the process gets no processor in time.",
        "s",
        (Query(_quantile(0.99, "htppower_lowering_lateness_seconds"), "99 %"),),
    ),
    Panel(
        "Failures by kind",
        "lowering, release: votes may have stayed up. raise: votes were missing. link: the DSP restarted.",
        "short",
        (Query("sum by (kind) (increase(htppower_failures_total{%}[$__rate_interval]))", "{{kind}}"),),
        stacked=True,
    ),
    Panel(
        "Time until lost votes were known again, 99 %",
        "From the loss to the first call that succeeded.",
        "s",
        (Query(_quantile(0.99, "htppower_unknown_duration_seconds"), "99 %"),),
    ),
    Panel(
        "Raises by cause",
        "The reason for the votes.",
        "ops",
        (
            Query(
                'sum by (cause) (rate(htppower_transitions_total{trigger="raise", %}[$__rate_interval]))', "{{cause}}"
            ),
        ),
    ),
    Panel(
        "Holds, caps, and changes of profile",
        "A hold or a cap that stays too long keeps sessions from their own profile.",
        "short",
        (
            Query("sum(htppower_holds{%})", "holds"),
            Query("sum(htppower_caps{%})", "caps"),
            Query("sum(increase(htppower_profile_changes_total{%}[$__rate_interval]))", "changes"),
        ),
    ),
    Panel(
        "Ids that could not be destroyed, and events that were lost",
        "Both should be 0.",
        "short",
        (
            Query("sum by (instance) (htppower_orphaned_power_config_ids{%})", "ids on {{instance}}"),
            Query(
                "sum by (instance) (increase(htppower_events_lost_total{%}[$__rate_interval]))",
                "events on {{instance}}",
            ),
        ),
    ),
    Panel(
        "Share of time that a session is up",
        "By session, with the profile that it uses. Empty where the metrics have no series of sessions.",
        "percentunit",
        (
            Query(
                'rate(htppower_session_state_seconds_total{state="RAISED", %}[$__rate_interval])'
                " * on (job, instance, session) group_left (profile) htppower_session_info{%}",
                "{{instance}} {{session}} {{owner}}: {{profile}}",
            ),
        ),
    ),
    Panel(
        "Inferences of a session a second, and those that wait",
        "By session. Those that wait for a native call are lines of their own.",
        "ops",
        (
            Query("rate(htppower_session_inferences_total{%}[$__rate_interval])", "{{instance}} {{session}} {{owner}}"),
            Query(
                "rate(htppower_session_cold_starts_total{%}[$__rate_interval])",
                "{{instance}} {{session}} {{owner}} waits",
            ),
        ),
    ),
    Panel(
        "Calls that the inferences of a session did without",
        "By session. Each is a call that the sustain time has saved.",
        "ops",
        (Query("rate(htppower_session_calls_saved_total{%}[$__rate_interval])", "{{instance}} {{session}} {{owner}}"),),
    ),
)


def _variable(name: str, metric: str) -> dict[str, Any]:
    query = f"label_values({metric}, {name})"
    return {
        "name": name,
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": query, "refId": "A"},
        "definition": query,
        "includeAll": True,
        "multi": True,
        "current": {"text": "All", "value": "$__all"},
        "refresh": 2,
    }


def dashboard() -> dict[str, Any]:
    """Return the dashboard in the form that Grafana imports."""
    return {
        "title": "htppower",
        "uid": "htppower",
        "description": "Votes on Hexagon NPUs: what is up, what it saves, and what fails.",
        "tags": ["htppower"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "time": {"from": "now-1h", "to": "now"},
        "refresh": "10s",
        "templating": {
            "list": [
                {"name": "datasource", "type": "datasource", "query": "prometheus"},
                _variable("job", "htppower_sessions"),
                _variable("instance", 'htppower_sessions{job=~"$job"}'),
            ]
        },
        "panels": [panel.as_grafana(number) for number, panel in enumerate(PANELS)],
    }


def text() -> str:
    """Return the file."""
    return json.dumps(dashboard(), indent=2) + "\n"
