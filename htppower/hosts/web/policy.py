"""The modes of a web service: which requests vote, which modes they may ask for, and what limits them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.modes.mode_session import named_profiles

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from htppower.profiles.profile import Profile

# A route: a path without a query, alone or after a method.
_ROUTE = re.compile(r"(?:[A-Z]+ )?[/*][^?# ]*")
# The name of a header (RFC 9110, token).
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _whole(_policy: object, attribute: attrs.Attribute[int], number: Any) -> None:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError(f"{attribute.name} is {number!r}: a whole number of bytes from 0")


def _header(_policy: object, _attribute: attrs.Attribute[str], name: Any) -> None:
    if name is not None and not (isinstance(name, str) and _TOKEN.fullmatch(name)):
        raise ValueError(f"header is {name!r}: the name of a header, or None")


@attrs.frozen
class ModePolicy:
    """The modes of a service.

    A request asks by the header, or by a field at the top of a JSON body; the header counts if both do. A mode that is
    not allowed is answered with status 400. A mode beyond the profile of the service is capped: the request uses that
    profile. Two headers of the response have the profile of the request's mode, and the reason.

    Attributes:
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
        owner, device_id, core_ids: those of the session.

    Raises:
        TypeError: the allowed or other modes are one text, or the name of a mode is not a text.
        ValueError: the name of a mode is not printable ASCII, a route has an unknown mode or can match no request, the
            header is not a name, or the size is not a whole number from 0.
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

    def __attrs_post_init__(self) -> None:
        for name in (*self.allowed, *self.others):
            if not (name.isascii() and name.isprintable()):
                raise ValueError(f"the name of a mode is {name!r}: printable ASCII, since headers of responses have it")
        for pattern, mode in self.routes.items():
            if not _ROUTE.fullmatch(pattern):
                hint = "a path that begins with / or *, alone or after a method in capitals and a space"
                raise ValueError(f"routes: {pattern!r} matches no request: write {hint}, such as 'POST /v1/*'")
            if mode is not None and mode not in self.allowed and mode not in self.others:
                raise ValueError(f"routes: {pattern!r} has the mode {mode!r}: name it in allowed or in others")
