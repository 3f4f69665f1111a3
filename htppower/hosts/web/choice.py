"""The mode of a request: pure functions of the policy and the request."""

from __future__ import annotations

import fnmatch
import json
import re
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from htppower.hosts.web.policy import ModePolicy

_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json", re.IGNORECASE)
# Requests that ask about a resource, such as those that a browser sends before the real one.
_WITHOUT_VOTES = frozenset({"HEAD", "OPTIONS"})
# The longest part of a wrong mode that an answer repeats.
_LONGEST_SHOWN = 60


@attrs.frozen
class Route:
    """A kind of requests that vote.

    Attributes:
        method: the method; empty for every method but HEAD and OPTIONS.
        path: matches the paths.
        mode: the mode of requests that ask for none; None for the profile of the service.
    """

    method: str
    path: re.Pattern[str]
    mode: str | None

    @classmethod
    def of(cls, pattern: str, mode: str | None) -> Route:
        """Return the route of a pattern in ``ModePolicy.routes``."""
        method, _, path = pattern.rpartition(" ")
        # Only the star has a meaning. The pattern of fnmatch takes linear time, however many stars there are.
        return cls(method, re.compile(fnmatch.translate(path.replace("[", "[[]"))), mode)

    def matches(self, method: str, path: str) -> bool:
        """Return whether the route has these requests."""
        by_method = method == self.method if self.method else method not in _WITHOUT_VOTES
        return by_method and self.path.match(path) is not None


@attrs.frozen
class Choice:
    """The mode of a request.

    Attributes:
        mode: the mode; None for the profile of the service.
        reason: what decides it.
    """

    mode: str | None
    reason: str


@attrs.frozen
class Refusal:
    """The answer to a request for a mode that is not allowed: status 400, and a body in JSON."""

    asked: object
    parameter: str
    allowed: tuple[str, ...]

    @property
    def body(self) -> bytes:
        """The body: an error as in OpenAI's API, with the allowed modes."""
        shown = json.dumps(self.asked)
        shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."
        error = {
            "message": f"{self.parameter} is {shown}: one of {', '.join(self.allowed)}",
            "type": "invalid_request_error",
            "param": self.parameter,
            "code": "power_mode_not_allowed",
            "allowed": self.allowed,
        }
        return json.dumps({"error": error}).encode()


def has_field(policy: ModePolicy, content_type: str, encoding: str, asked: str | None) -> bool:
    """Return whether the body of a request must be searched for the field.

    ``encoding`` is its content encoding, and ``asked`` the value of the header.
    """
    if asked or not policy.allowed or policy.json_field is None or encoding.strip().lower() not in ("", "identity"):
        return False
    return _JSON.fullmatch(content_type.partition(";")[0].strip()) is not None


def field_of(policy: ModePolicy, body: bytes) -> object:
    """Return the value of the field in a body; None if it has none, or is not an object in JSON."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None  # the application answers this
    return found.get(policy.json_field) if isinstance(found, dict) else None


def choose(
    policy: ModePolicy, route: Route, header: str | None, field: object = None, *, unread: bool = False
) -> Choice | Refusal:
    """Return the mode of a request, or the answer that refuses it.

    Args:
        policy: the modes of the service.
        route: the route of the request.
        header: the value of the header; None or empty if there is none.
        field: the value of the field; None if there is none.
        unread: whether the body may have the field, but was not searched for it.
    """
    asked, parameter, reason = field, policy.json_field, "JSON field"
    if header:
        asked, parameter, reason = header.strip(), policy.header, "header"
    if policy.allowed and asked is not None:
        if isinstance(asked, str) and asked in policy.allowed:
            return Choice(asked, reason)
        return Refusal(asked, parameter or "", tuple(policy.allowed))
    reason = "service" if route.mode is None else "route"
    return Choice(route.mode, f"{reason}; the body was not searched" if unread else reason)
