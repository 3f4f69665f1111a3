"""JSON Schemas (draft-07) of the files that people write, made from the classes that read these files.

An editor uses them to complete and check a file. They can't check what only reading finds: YAML's own rules, the files
that a file extends, whether a name exists, the order of corners.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, get_args, get_origin

from htppower.hosts.service.limits import ServiceFields
from htppower.hosts.service.messages import LARGEST_NUMBER, VERBS
from htppower.profiles.field_limits import NAME_PATTERN, ONE_LINE_PATTERN, choices, declared, stated_type
from htppower.profiles.fields import UNSET
from htppower.profiles.file_format import EXTENDING, ProfileFields, StateFields
from htppower.profiles.sustain import SHARE_PATTERN
from htppower.profiles.typed_fields import StatedVotes
from htppower.rules.table import RULES
from htppower.tools.review.explain.meanings import OF_LIMITS
from htppower.tools.review.vote_tests.fields import ExpectFields, VoteTestFields
from htppower.tools.tuning.models.model import LIMITS_OF_VALUES, DeviceModel, Quantity
from htppower.votes.options import BY_CLASS, BY_FIELD
from htppower.votes.vote_set import LIMITS, VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.profiles.field_limits import Wanted
    from htppower.votes.option import Limits

Schema = dict[str, Any]

# The messages to the service are of several classes.
MESSAGE = "message"
# The kinds of files, by the names of their schemas.
FILES: dict[str, type[Any] | None] = {
    "profile": ProfileFields,
    "state": StateFields,
    "test": VoteTestFields,
    "device": DeviceModel,
    "service": ServiceFields,
    MESSAGE: None,
}

_DRAFT = "http://json-schema.org/draft-07/schema#"
_PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean"}


class Mode(enum.Enum):
    """Which fields of a vote set a file must state.

    Attributes:
        WHOLE: every field.
        EXTENDING: none, since the rest is inherited.
        STATED: at least one vote, and at least one field of an HVX vote; for expected votes, which are not sent.
    """

    WHOLE = ""
    EXTENDING = "Extending"
    STATED = "Stated"


def json_schema(name: str) -> Schema:
    """Return the schema of a kind of file, such as profile, or of the messages to the service."""
    kind = FILES[name]
    maker = _Maker()
    if kind is None:
        return {
            "$schema": _DRAFT,
            "title": f"htppower {name}",
            "description": "A message to `htppower serve`: a JSON object in one line.",
            "type": "object",
            "oneOf": [maker.message(verb, of) for verb, of in VERBS.items()],
        }
    whole = maker.reference(kind, Mode.WHOLE)
    top: Schema = whole
    if kind in EXTENDING:
        # The branches below state all of this again. An editor uses this property in a file that has none of them yet.
        top = {
            "properties": {"extends": _extends(name)},
            "if": {"required": ["extends"]},
            "then": maker.reference(kind, Mode.EXTENDING),
            "else": whole,
        }
    return {
        "$schema": _DRAFT,
        "title": f"htppower {name}",
        "description": said_of(kind),
        "type": "object",
        "allOf": [top],
        "definitions": dict(sorted(maker.definitions.items())),
    }


class _Maker:
    """Makes the definitions of one schema."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def reference(self, kind: type[Any], mode: Mode) -> Schema:
        """Return a reference to the definition of a class or enumeration, and make the definition if it is missing."""
        is_word = issubclass(kind, enum.Enum)
        name = kind.__name__.removesuffix("Fields") + ("" if is_word else mode.value)
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = _words(kind.__members__) if is_word else self._fields(kind, mode)
        return {"$ref": f"#/definitions/{name}"}

    def message(self, verb: str, kind: type[Any]) -> Schema:
        """Return the schema of the messages of a verb."""
        made = self._fields(kind, Mode.WHOLE)
        said = "the id of the answer; without it only a refusal is answered."
        number = {"description": said, "type": ["integer", "null"], "minimum": 0, "maximum": LARGEST_NUMBER}
        either = {"do": {"const": verb}, "id": number}
        return {**made, "properties": {**either, **made["properties"]}, "required": ["do", *made.get("required", ())]}

    def _value(self, kind: Any, mode: Mode) -> Schema:
        """Return the schema of a field's type."""
        if kind in _PLAIN:
            return {"type": _PLAIN[kind]}
        if get_origin(kind) is tuple:
            return {"type": "array", "items": self._value(get_args(kind)[0], mode)}
        members = [member for member in choices(kind) if member is not type(None)]
        if len(members) < len(choices(kind)):
            return {"anyOf": [self._value(members[0], mode), {"const": UNSET}]}
        if len(members) > 1:
            # A file may inherit the key that selects its mapping, and need not state it.
            either = "anyOf" if mode is Mode.EXTENDING else "oneOf"
            return {either: [self._value(member, mode) for member in members]}
        return self._class(kind, mode)

    def _class(self, kind: type[Any], mode: Mode) -> Schema:
        """Return the schema of a class, with what a file may write instead of its fields."""
        if kind is StatedVotes:
            return {"anyOf": [self.reference(VoteSet, Mode.STATED), {"const": UNSET}]}
        whole = self.reference(kind, mode)
        if hasattr(kind, "at"):
            return {"anyOf": [self._value(declared(kind)["target"][0], mode), whole]}
        about = BY_CLASS.get(kind)
        return whole if about is None or about.default is None else {"anyOf": [whole, {"const": "default"}]}

    def _fields(self, kind: type[Any], mode: Mode) -> Schema:
        """Return the schema of a class: its fields, which of them are required, and no others."""
        said = said_of_fields(kind)
        properties: dict[str, Schema] = {}
        required = []
        for name, (of, wants) in declared(kind).items():
            if name == "pick_default":
                continue  # it is written as the word default
            value = _limited(self._value(stated_type(of, wants), mode), wants, LIMITS.get((kind, name)))
            if of is Quantity:
                value = _of_quantity(value, *LIMITS_OF_VALUES[name])
            properties[name] = _described(said[name], value)
            if not wants.optional:
                required.append(name)
        is_partial = kind in BY_CLASS and BY_CLASS[kind].partial
        if kind in EXTENDING and mode is Mode.EXTENDING:
            first = required[0]
            properties["extends"] = _extends(first)
            required = [first, "extends"]
        elif mode is Mode.EXTENDING or (mode is Mode.STATED and (kind is VoteSet or is_partial)):
            required = []
        made: Schema = {"description": said_of(kind), "type": "object", "properties": properties}
        if mode is Mode.STATED and not required:
            made["minProperties"] = 1
        if kind is ExpectFields:
            made["minProperties"] = len(required) + 1  # at least one expectation
        conditions = _conditions(kind) if mode is Mode.WHOLE else []
        return {
            **made,
            **({"required": required} if required else {}),
            "additionalProperties": False,
            **({"allOf": conditions} if conditions else {}),
        }


def _conditions(kind: type[Any]) -> list[Schema]:
    """Return the rules between the fields of a class that JSON Schema can express."""
    return [
        {
            "$comment": rule.id,
            "if": {"properties": {**form.given, **form.or_left_out}, "required": list(form.given)},
            "then": {"properties": form.then},
        }
        for rule in RULES.values()
        for form in rule.schema
        if kind is (ProfileFields if form.of_profile else VoteSet)
    ]


def _described(text: str, value: Schema) -> Schema:
    """Return a schema with a description. In draft-07 all keys next to a reference are ignored."""
    return {"description": text, **({"allOf": [value]} if "$ref" in value else value)}


def _of_quantity(reference: Schema, least: int, most: int) -> Schema:
    """Return the schema of a quantity whose numbers are in a range."""
    number = {"minimum": least, "maximum": most}
    limited = {"value": number, "spread": number, "range": {"items": number}}
    return {"allOf": [reference, {"properties": limited}]}


def _extends(name: str) -> Schema:
    return {"description": f"a {name} to inherit from, by name or by path.", "type": "string"}


def _limited(value: Schema, wants: Wanted, of_vote: Limits | None) -> Schema:
    """Return the schema of a value with the further limits of its field."""
    either = next((word for word in ("anyOf", "oneOf") if word in value), None)
    if either is not None:
        inner, *others = value[either]
        return {either: [_limited(inner, wants, of_vote), *others]}
    limited = dict(value)
    limits = wants.limits or ((of_vote.low, of_vote.high) if of_vote else None)
    if limits and "items" in limited:
        limited["items"] = {**limited["items"], "minimum": limits[0], "maximum": limits[1]}
    elif limits:
        limited["minimum"], limited["maximum"] = limits
    if wants.words and "items" in limited:
        limited["items"] = _words(wants.words)
    elif wants.words:
        limited = _words(wants.words)
    if wants.each_once:
        limited["uniqueItems"] = True
    if wants.only is not None:
        limited["const"] = wants.only
    patterns = {NAME_PATTERN: wants.is_name, SHARE_PATTERN: wants.is_share, ONE_LINE_PATTERN: wants.one_line}
    pattern = next((each for each, is_wanted in patterns.items() if is_wanted), "")
    if pattern:
        limited["pattern"] = f"^{pattern}$"
    return {**limited, **_counts(wants, is_list="items" in limited)}


def _counts(wants: Wanted, *, is_list: bool) -> Schema:
    if wants.exactly:
        return {"minItems": wants.exactly, "maxItems": wants.exactly}
    least, most = ("minItems", "maxItems") if is_list else ("minLength", "maxLength")
    made = {least: wants.fewest} if wants.fewest else {}
    return {**made, most: wants.most} if wants.most else made


def _words(words: Iterable[str]) -> Schema:
    return {"enum": list(words)}


def said_of(kind: type[Any]) -> str:
    """Return the description of a class, in a sentence."""
    if kind is VoteSet:
        return f"The votes of one setPowerConfig call. {UNSET}: no vote on that option."
    if kind in BY_CLASS:
        return BY_CLASS[kind].does
    said: str = getattr(kind, "SAYS", "The corners of one clock, core or bus.")
    return said


def said_of_fields(kind: type[Any]) -> dict[str, str]:
    """Return the descriptions of a class's fields, by name."""
    if kind is VoteSet:
        return {name: about.does for name, about in BY_FIELD.items()}
    of_struct = {field.name: field.does for field in BY_CLASS[kind].fields} if kind in BY_CLASS else {}
    return {
        name: of_struct.get(name) or OF_LIMITS.get(name) or wants.says for name, (_, wants) in declared(kind).items()
    }
