"""The mode of a request: from the header, the JSON field, the route or the service."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from htppower import VoteController
from htppower.hosts.web import ModePolicy
from htppower.hosts.web.choice import Choice, Refusal, Route, choose, field_of, has_field
from htppower.hosts.web.service import Service

ALLOWED = ("burst", "balanced", "power_saver")
POLICY = ModePolicy(allowed=ALLOWED, routes={"/v1/*": "balanced", "*": None})
ROUTED, PLAIN = Route.of("/v1/*", "balanced"), Route.of("*", None)


@pytest.mark.parametrize(
    ("route", "header", "field", "choice"),
    [
        (PLAIN, None, None, Choice(None, "service")),
        (PLAIN, "", None, Choice(None, "service")),
        (ROUTED, None, None, Choice("balanced", "route")),
        (ROUTED, None, "power_saver", Choice("power_saver", "JSON field")),
        (ROUTED, " burst ", "power_saver", Choice("burst", "header")),
        (ROUTED, "burst", 7, Choice("burst", "header")),
    ],
)
def test_the_header_counts_before_the_field_before_the_route(
    route: Route, header: str | None, field: object, choice: Choice
) -> None:
    """A request that asks for nothing has the mode of its route, or the profile of the service."""
    assert choose(POLICY, route, header, field) == choice


@pytest.mark.parametrize("asked", ["Burst", "zoom", "x" * 1000, 5, True, ["burst"], {}, "", "\ud800"])
def test_other_modes_are_refused(asked: object) -> None:
    """The answer names what was asked, shortened, the allowed modes, and where the request asked."""
    refusal = choose(POLICY, ROUTED, None, asked)
    assert isinstance(refusal, Refusal)
    error = json.loads(refusal.body)["error"]
    assert (error["code"], error["param"], error["allowed"]) == ("power_mode_not_allowed", "power_mode", list(ALLOWED))
    assert error["message"].endswith("one of burst, balanced, power_saver")
    assert len(error["message"]) < 150
    assert json.dumps(asked)[:50] in error["message"]


def test_a_mode_in_the_header_is_refused_by_its_name() -> None:
    """Two headers with a mode are one with a comma, which no mode has."""
    refusal = choose(POLICY, PLAIN, "burst, balanced")
    assert isinstance(refusal, Refusal)
    assert (refusal.parameter, refusal.asked) == ("x-power-mode", "burst, balanced")


def test_without_allowed_modes_a_request_can_not_choose() -> None:
    """The header is not looked at, and no body is read."""
    policy = ModePolicy(others=("balanced",), routes={"*": "balanced"})
    route = Route.of("*", "balanced")
    assert choose(policy, route, "zoom", "zoom") == Choice("balanced", "route")
    assert not has_field(policy, "application/json", "", None)


def test_a_mode_of_a_route_is_not_allowed_to_requests() -> None:
    """``others`` has modes that only routes and code may use."""
    policy = ModePolicy(allowed=("burst",), others={"decode": "balanced"}, routes={"*": "decode"})
    route = Route.of("*", "decode")
    assert choose(policy, route, None) == Choice("decode", "route")
    assert isinstance(choose(policy, route, "decode"), Refusal)


def test_a_body_that_is_too_long_is_reported() -> None:
    """The reason says that the field was not searched for."""
    assert choose(POLICY, PLAIN, None, unread=True) == Choice(None, "service; the body was not searched")


@pytest.mark.parametrize(
    ("content_type", "encoding", "asked", "reads"),
    [
        ("application/json", "", None, True),
        ("Application/JSON; charset=utf-8", "identity", "", True),
        ("application/vnd.api+json", "", None, True),
        ("application/json", "gzip", None, False),
        ("application/json", "", "burst", False),
        ("multipart/form-data; boundary=json", "", None, False),
        ("application/jsonlines", "", None, False),
        ("", "", None, False),
    ],
)
def test_the_body_is_read_only_if_it_may_have_the_field(
    content_type: str, encoding: str, asked: str | None, reads: bool
) -> None:
    """It is JSON without an encoding, and the header has no mode."""
    assert has_field(POLICY, content_type, encoding, asked) is reads
    assert not has_field(ModePolicy(allowed=ALLOWED, json_field=None), content_type, encoding, asked)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"power_mode": "burst", "messages": []}', "burst"),
        ('{"power_mode": "burst"}'.encode("utf-16"), "burst"),
        (b'{"power_mode": null}', None),
        (b'{"deep": {"power_mode": "burst"}}', None),
        (b'["power_mode"]', None),
        (b"", None),
        (b'{"power_mode": "burst"', None),
        (b"\xff\xfe\xfa", None),
        (b"[" * 100_000, None),
        (b'{"n": ' + b"9" * 10_000 + b"}", None),
    ],
)
def test_the_field_of_a_body(body: bytes, value: object) -> None:
    """A body that can't be read has no mode: the application answers it."""
    assert field_of(POLICY, body) == value


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(), lambda inner: st.dictionaries(st.text(), inner) | st.lists(inner)
    )
)
def test_any_json_is_a_mode_or_is_refused_or_passes(value: object) -> None:
    """Nothing raises, whatever the body is."""
    field = field_of(POLICY, json.dumps({"power_mode": value}).encode())
    chosen = choose(POLICY, PLAIN, None, field)
    assert isinstance(chosen, Choice) is (value is None or value in ALLOWED)


@pytest.mark.parametrize(
    ("pattern", "method", "path", "matches"),
    [
        ("/v1/*", "POST", "/v1/chat/completions", True),
        ("/v1/*", "GET", "/v1/", True),
        ("/v1/*", "GET", "/v1", False),
        ("/v1/*", "OPTIONS", "/v1/chat", False),
        ("/v1/*", "HEAD", "/v1/chat", False),
        ("OPTIONS /v1/*", "OPTIONS", "/v1/chat", True),
        ("POST /v1/*", "GET", "/v1/chat", False),
        ("POST /v1/*", "POST", "/v1/chat", True),
        ("/models/*/infer", "POST", "/models/a/b/infer", True),
        ("/models/*/infer", "POST", "/models/a/other", False),
        ("/detect", "POST", "/detect/", False),
        ("*", "POST", "/any\nthing", True),
        ("/v1/[x]", "POST", "/v1/[x]", True),
        ("/v1/[x]", "POST", "/v1/x", False),
        ("/a.b", "POST", "/a-b", False),
    ],
)
def test_routes(pattern: str, method: str, path: str, matches: bool) -> None:
    """A star is any text; without a method, requests that infer nothing do not match."""
    assert Route.of(pattern, None).matches(method, path) is matches


def test_the_first_route_that_matches_counts() -> None:
    """In the order of the mapping."""
    policy = ModePolicy(others=("balanced", "power_saver"), routes={"/a/b": "balanced", "/a/*": "power_saver"})
    service = Service(VoteController, policy)
    modes = [route.mode for path in ("/a/b", "/a/c") if (route := service.route("GET", path)) is not None]
    assert modes == ["balanced", "power_saver"]
    assert service.route("GET", "/b") is None
