"""The form of a status as JSON, as data: what each field holds and means. It is checked and documented from here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORMAT = 1
# Beyond it a number is none of a clock, a count or an id.
_GREATEST = 1 << 63


@attrs.frozen
class Leaf:
    """A text, a number or a truth value.

    Attributes:
        kind: which of them.
        says: what it means.
        nullable: whether it may be null.
        many: how many there are: one, a list of them, or an object with texts of its own as keys.
        added: whether it came in later: a file that an earlier version has written lacks it.
    """

    kind: type[Any]
    says: str
    nullable: bool = False
    many: type[Any] | None = None
    added: bool = False


@attrs.frozen
class Group:
    """An object with fields of its own, or a list of them; the attributes are as for ``Leaf``."""

    fields: Mapping[str, Leaf | Group]
    says: str
    nullable: bool = False
    many: type[Any] | None = None
    added: bool = False


def wrong(value: object, form: Leaf | Group, at: str = "") -> str | None:
    """Return what is wrong with a value, and where; None for nothing. Fields that are not known are let pass."""
    if value is None and form.nullable:
        return None
    if form.many is None:
        return _wrong_one(value, form, at)
    if isinstance(value, list) and form.many is list:
        named = [(f"{at}[{place}]", each) for place, each in enumerate(value)]
    elif isinstance(value, dict) and form.many is dict:
        named = [(f"{at}.{name}", each) for name, each in value.items()]
    else:
        return f"{at} is no {'list' if form.many is list else 'object'}"
    return next(filter(None, (_wrong_one(each, form, where) for where, each in named)), None)


def described(form: Group, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield every field with what it means, in order; those of an object after the object."""
    for name, field in form.fields.items():
        where = f"{at}{name}{'[]' if field.many is list else ''}"
        yield where, field.says
        if isinstance(field, Group):
            yield from described(field, f"{where}.")


def _wrong_one(value: object, form: Leaf | Group, at: str) -> str | None:
    if isinstance(form, Leaf):
        right = type(value) is form.kind and (not isinstance(value, int) or abs(value) < _GREATEST)
        return None if right else f"{at} is no {_WORDS[form.kind]}"
    if not isinstance(value, dict):
        return f"{at or 'it'} is no object"
    for name, field in form.fields.items():
        where = f"{at}.{name}" if at else name
        if name not in value:
            if field.added:
                continue
            return f"{where} is missing"
        found = wrong(value[name], field, where)
        if found:
            return found
    return None


_WORDS = {str: "text", int: "number", bool: "truth value"}

_CLAIM = {
    "profile": Leaf(str, "the name of its profile."),
    "reason": Leaf(str, "what it was asked for."),
    "since_us": Leaf(int, "since when."),
    "until_us": Leaf(int, "when it ends by itself, or null.", nullable=True),
}
_ERROR = {
    "function": Leaf(str, "the native function."),
    "code": Leaf(int, "the native code."),
    "name": Leaf(str, "the vendor's name of the code."),
    "message": Leaf(str, "what failed, and what to do."),
}
_CORNERS = {
    "min": Leaf(str, "its lower limit, by the vendor's name."),
    "target": Leaf(str, "its target."),
    "max": Leaf(str, "its upper limit."),
}
_SESSION: dict[str, Leaf | Group] = {
    "number": Leaf(int, "which session."),
    "owner": Leaf(str, "what it is for, or null.", nullable=True),
    "profile": Leaf(str, "the name of the profile that it uses."),
    "own_profile": Leaf(str, "the name of the profile that it was opened with, or that `use` gave it."),
    "holds": Group(_CLAIM, "the holds on it.", many=list),
    "decided_by": Group(
        {"kind": Leaf(str, "`hold` or `cap`."), **_CLAIM},
        "the hold or the cap that decides which profile it uses, null where its own does.",
        nullable=True,
    ),
    "state": Leaf(str, "what is known of its votes."),
    "since_us": Leaf(int, "when it came into that state."),
    "cause": Leaf(str, "why it made its last transition, null where it has made none.", nullable=True),
    "in_flight": Leaf(int, "how many inferences are running."),
    "tickets": Group(
        {
            "since_us": Leaf(int, "when it began."),
            "until_us": Leaf(int, "when it ends by itself, or null.", nullable=True),
        },
        "those of them that `Session.begin` has begun and nobody has ended.",
        many=list,
    ),
    "sustained_until_us": Leaf(
        int, "when its votes come down unless an inference begins before; null where no timer runs.", nullable=True
    ),
    "device_id": Leaf(int, "the device on which it votes."),
    "core_ids": Leaf(int, "the cores on which it votes.", many=list),
    "power_config_ids": Leaf(int, "its power config ids.", many=list),
    "votes": Group(
        {
            "power_config_id": Leaf(int, "on which id."),
            "configs": Group(
                {
                    "option": Leaf(str, "the option."),
                    "fields": Leaf(int, "its native fields, with their numbers.", many=dict),
                    "symbols": Leaf(str, "the vendor's names of those numbers that have one.", many=dict),
                },
                "the votes on it.",
                many=list,
            ),
        },
        "the votes known to be in force; without the process-wide settings.",
        many=list,
    ),
    "degradations": Group(
        {
            "rule": Leaf(str, "the id of the rule."),
            "option": Leaf(str, "the option that is left out."),
            "message": Leaf(str, "what is missing."),
            "hint": Leaf(str, "what to vote, or to run it on, instead."),
        },
        "the votes of its profile that this platform does not have.",
        many=list,
    ),
    "error": Group(_ERROR, "the call that failed last, null once one has succeeded since.", nullable=True),
    "last_error": Group(
        {"time_us": Leaf(int, "when."), **_ERROR},
        "the call that failed last, also where others have succeeded since.",
        nullable=True,
    ),
    "last_call": Group(
        {
            "time_us": Leaf(int, "when it returned."),
            "function": Leaf(str, "the native function."),
            "power_config_id": Leaf(int, "the id; null for a create that failed.", nullable=True),
            "code": Leaf(int, "the native code; 0 is success."),
            "name": Leaf(str, "the vendor's name of the code."),
            "duration_us": Leaf(int, "how long it took."),
        },
        "its last native call.",
        nullable=True,
    ),
    "inferences": Leaf(int, "how many inferences have begun, with those that run or wait for their votes.", added=True),
    "cold_starts": Group(
        {
            "count": Leaf(int, "how many."),
            "wait_us": Leaf(int, "how long they waited, all together."),
            "by_bound": Leaf(
                int,
                "how many waited up to each of `wait_bounds_us`, and longer than the bound before it; at the end, how "
                "many waited longer than the last bound.",
                many=list,
            ),
        },
        "the inferences that waited for a native call before they could begin.",
        added=True,
    ),
    "calls_sent": Leaf(int, "how many native calls were made for it."),
    "calls_saved": Leaf(int, "how many setPowerConfig calls its inferences did without."),
    "time_in_state_us": Leaf(int, "for how long it has been in each state, all stays together.", many=dict),
    "learnt": Group(
        {
            "time_out_us": Leaf(int, "the time from the next end of an inference on."),
            "gaps": Leaf(int, "how many gaps between inferences it has learnt from."),
            "raised_us": Leaf(int, "how long votes were up in them, but for raises ahead."),
            "cold_starts": Leaf(int, "after how many of them an inference waited for a raise."),
            "fixed_raised_us": Leaf(int, "how long votes would have been up with a sustain time of 300 ms."),
            "fixed_cold_starts": Leaf(int, "how many inferences would have waited with that."),
        },
        "what it has learnt of its sustain time, null where its profile states that.",
        nullable=True,
        added=True,
    ),
    "learnt_further": Group(
        {
            "time_out_us": Leaf(int, "the time from the next lowering on."),
            "gaps": Leaf(int, "how many stays in a power state it has learnt from, each up to a raise."),
            "raised_us": Leaf(int, "how long votes stayed in the first power state in them."),
            "cold_starts": Leaf(int, "after how many of them an inference waited for a raise from the second."),
            "fixed_raised_us": Leaf(int, "how long votes would have stayed in the first with a time of 300 ms."),
            "fixed_cold_starts": Leaf(int, "how many inferences would have waited with that."),
        },
        "what it has learnt of the time until it relaxes further, null where its profile states that, or does not.",
        nullable=True,
        added=True,
    ),
    "closing": Leaf(bool, "whether it is being closed, and a call that has not returned yet keeps it.", added=True),
}
_CORE: dict[str, Leaf | Group] = {
    "device_id": Leaf(int, "the device."),
    "core_id": Leaf(int, "the core."),
    "core": Group(_CORNERS, "the core clock in force."),
    "bus": Group(_CORNERS, "the bus clock in force."),
    "hmx": Group(_CORNERS, "the HMX clock in force."),
    "sleep_latency_us": Leaf(int, "the smallest wish of any session; 65535 is none."),
    "sleep_disable": Leaf(bool, "whether any session keeps the DSP from sleeping."),
    "dcvs_enable": Leaf(bool, "whether DCVS may move the clocks."),
    "decided_by": Group(
        {
            name: Leaf(int, f"the numbers of the sessions whose {what} it is; empty where none is voted.", many=list)
            for name, what in (
                ("core", "core target"),
                ("bus", "bus target"),
                ("hmx", "HMX target"),
                ("sleep_latency_us", "sleep latency"),
            )
        },
        "which sessions' votes decide it.",
    ),
    "unknown": Leaf(int, "the numbers of the sessions whose votes on it are not known.", many=list),
}
STATUS = Group(
    {
        "format": Leaf(int, f"{FORMAT}; a greater number is a form that this page does not describe."),
        "kind": Leaf(str, "`htppower status`."),
        "htppower": Leaf(str, "the version that wrote it."),
        "written": Leaf(str, "when, by the wall clock, in UTC."),
        "closed": Leaf(bool, "whether it is the last: nothing is written after it."),
        "pid": Leaf(int, "the process."),
        "started_ticks": Leaf(
            int, "when the process was started, in the kernel's ticks since boot; null off Linux.", nullable=True
        ),
        "place": Leaf(str, "the boot and the pid namespace that the pid is of; null off Linux.", nullable=True),
        "time_us": Leaf(int, "when, by the controller's clock, by which all other times are."),
        "backend": Group(
            {
                "name": Leaf(str, "which backend."),
                "library": Leaf(str, "which library answers, and where it was found."),
                "platform": Leaf(str, "what the votes act on, null where that is not known.", nullable=True),
                "hardware": Leaf(bool, "whether votes reach hardware."),
                "versions": Leaf(str, "of what answers.", many=dict),
            },
            "what receives the calls.",
        ),
        "number": Leaf(int, "which controller on that backend it is, from 1."),
        "sharing": Leaf(int, "how many other controllers are on it, with which it shares the process-wide settings."),
        "caps": Group(_CLAIM, "the caps that are set.", many=list),
        "sessions": Group(_SESSION, "the open ones, in the order in which they were opened.", many=list),
        "cores": Group(_CORE, "each core on which a session has a power config id.", many=list),
        "settings": Group(
            {
                "name": Leaf(str, "as in a profile."),
                "value": Leaf(int, "what is in force; null where that is not known or was never voted.", nullable=True),
                "holders": Leaf(int, "the numbers of the sessions that keep it in force.", many=list),
            },
            "the process-wide settings.",
            many=list,
        ),
        "orphans": Leaf(int, "ids that no session has any more, and that could not be destroyed.", many=list),
        "events_lost": Leaf(int, "how many events subscribers were too slow for."),
        "recording": Group(
            {
                "path": Leaf(str, "the newest file."),
                "written": Leaf(int, "how many inferences are written, over all files."),
                "pending": Leaf(int, "how many wait for that."),
                "lost": Leaf(int, "how many are lost, as the files say."),
                "error": Leaf(str, "why the file can't be written, or null.", nullable=True),
            },
            "how the recording of its inferences goes, null where there is none.",
            nullable=True,
        ),
        "calls_under_way": Group(
            {
                "session": Leaf(int, "the number of the session that it is made for; 0 for the controller itself."),
                "function": Leaf(str, "the native function."),
                "power_config_id": Leaf(int, "the id; null for a create.", nullable=True),
                "since_us": Leaf(int, "when it began."),
            },
            "the native calls that have not returned yet, in the order in which they began.",
            many=list,
            added=True,
        ),
        "inferences": Leaf(int, "how many inferences have begun, on all sessions that were ever open.", added=True),
        "link": Leaf(str, "what is known of the link to the DSP; WELL if calls work.", added=True),
        "wait_bounds_us": Leaf(int, "the bounds of `sessions[].cold_starts.by_bound[]`.", many=list, added=True),
    },
    "a controller.",
)
