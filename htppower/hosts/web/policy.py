"""Which requests vote, and in which mode: a value that the service states, and pure functions of a request."""

from __future__ import annotations

import fnmatch
import json
import re
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.modes.mode_session import named_profiles

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from htppower.profiles.profile import Profile

# The name of a header (RFC 9110, token).
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json", re.IGNORECASE)
# Requests that ask about a resource, such as those that a browser sends before the real one.
_WITHOUT_VOTES = frozenset({"HEAD", "OPTIONS"})
# The longest part of a wrong mode that an answer repeats.
_LONGEST_SHOWN = 60


@attrs.frozen
class Route:
    """A kind of requests that vote.

    Attributes:
        method: the method; None for every method but HEAD and OPTIONS.
        path: matches the paths.
        mode: the mode of requests that ask for none; None for the profile of the service.
    """

    method: str | None
    path: re.Pattern[str]
    mode: str | None

    @classmethod
    def of(cls, pattern: str, mode: str | None) -> Route:
        """Return the route of a pattern: a path in which * is any text, perhaps after a method and a space."""
        method, _, path = pattern.rpartition(" ")
        return cls(method or None, re.compile(fnmatch.translate(path)), mode)

    def matches(self, method: str, path: str) -> bool:
        """Return whether the route has these requests."""
        by_method = method not in _WITHOUT_VOTES if self.method is None else method == self.method
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
        """The body: the error object of OpenAI's API, with the allowed modes."""
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


def _whole(_policy: object, attribute: attrs.Attribute[int], number: Any) -> None:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError(f"{attribute.name} is {number!r}: a whole number of bytes from 0")


def _header(_policy: object, _attribute: attrs.Attribute[str], name: Any) -> None:
    if name is not None and not (isinstance(name, str) and _TOKEN.fullmatch(name)):
        raise ValueError(f"header is {name!r}: the name of a header, or None")


@attrs.frozen
class ModePolicy:
    """The modes of a service: which requests vote, which modes they may ask for, and what limits them.

    A request asks by the header, or by a field at the top of a JSON body; the header counts if both do. A mode that is
    not allowed is answered with status 400. A mode beyond the profile of the service is capped: the request uses that
    profile. Two headers of the response have the profile in use, and the reason.

    Args:
        profile: the profile of the service: requests without a mode use it, and no request goes beyond it.
        allowed: the modes that requests may ask for: names of profiles, or profiles by the name of the mode. If it is
            empty, requests can't choose: header and body are not looked at.
        others: more modes, for routes and for ``use`` in the code of the service.
        routes: the requests that vote. A key is a pattern for the path such as ``/v1/*``, where * is any text, or a
            method, a space and such a pattern; without a method it has every method but HEAD and OPTIONS. A value is
            the mode of requests that ask for none; None for the profile of the service. The first pattern that matches
            counts, and all other requests pass without votes. By default all requests vote.
        header: the request header with the mode, and the response header with the profile; None for neither.
        json_field: the field of a JSON body with the mode; None for none.
        most_json_bytes: longer bodies are passed on without a look at the field.
        owner, device_id, core_ids: of the session.

    Raises:
        TypeError: the allowed or other modes are one text, or the name of a mode is not a text.
        ValueError: a route has an unknown mode, the header is not a name, or the size is not a whole number from 0.
    """

    profile: str | os.PathLike[str] | Profile = "burst"
    allowed: Mapping[str, str | os.PathLike[str] | Profile] = attrs.field(
        default=(), converter=named_profiles, kw_only=True
    )
    others: Mapping[str, str | os.PathLike[str] | Profile] = attrs.field(
        default=(), converter=named_profiles, kw_only=True
    )
    routes: Mapping[str, str | None] = attrs.field(factory=lambda: {"*": None}, kw_only=True)
    header: str | None = attrs.field(default="x-power-mode", validator=_header, kw_only=True)
    json_field: str | None = attrs.field(default="power_mode", kw_only=True)
    most_json_bytes: int = attrs.field(default=1 << 20, validator=_whole, kw_only=True)
    owner: str = attrs.field(default="requests", kw_only=True)
    device_id: int = attrs.field(default=0, kw_only=True)
    core_ids: Iterable[int] = attrs.field(default=(0,), kw_only=True)
    _routes: tuple[Route, ...] = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        for pattern, mode in self.routes.items():
            if mode is not None and mode not in self.modes:
                raise ValueError(f"routes: {pattern!r} has the mode {mode!r}: name it in allowed or in others")
        routes = tuple(Route.of(pattern, mode) for pattern, mode in self.routes.items())
        object.__setattr__(self, "_routes", routes)

    @property
    def modes(self) -> dict[str, str | os.PathLike[str] | Profile]:
        """Every mode, and its profile."""
        return {**self.others, **self.allowed}

    def route(self, method: str, path: str) -> Route | None:
        """Return the first route of a request; None if the request passes without votes."""
        return next((route for route in self._routes if route.matches(method, path)), None)

    def reads_body(self, content_type: str, encoding: str, asked: str | None) -> bool:
        """Return whether the body of a request must be searched for the field."""
        if asked or not self.allowed or self.json_field is None or encoding.strip().lower() not in ("", "identity"):
            return False
        return _JSON.fullmatch(content_type.partition(";")[0].strip()) is not None

    def field(self, body: bytes) -> object:
        """Return the value of the field in a body; None if it has none, or is not an object in JSON."""
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            return None  # the application answers this
        return found.get(self.json_field) if isinstance(found, dict) else None

    def choose(
        self, route: Route, header: str | None, field: object = None, *, unread: bool = False
    ) -> Choice | Refusal:
        """Return the mode of a request, or the answer that refuses it.

        Args:
            route: the route of the request.
            header: the value of the header; None or empty if there is none.
            field: the value of the field; None if there is none.
            unread: whether the body is too long to be searched for the field.
        """
        asked, parameter, reason = field, self.json_field, "JSON field"
        if header:
            asked, parameter, reason = header.strip(), self.header, "header"
        if self.allowed and asked is not None:
            if isinstance(asked, str) and asked in self.allowed:
                return Choice(asked, reason)
            return Refusal(asked, parameter or "", tuple(self.allowed))
        reason = "service" if route.mode is None else "route"
        return Choice(route.mode, f"{reason}; the body is too long for the JSON field" if unread else reason)
