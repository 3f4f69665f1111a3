"""Settings in source code: pairs of key and value, arguments, calls, enumerators, and parallel lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from htppower.tools.runtimes.brackets import Group, Value, is_mark, is_name, literal, only_text, path, path_before
from htppower.tools.runtimes.command_lines import FLAGS, LISTS
from htppower.tools.runtimes.enumerators import enumerator
from htppower.tools.runtimes.json_settings import OF_THE_DELEGATE, PREFIXES
from htppower.tools.runtimes.litert import RUN_TIME_OPTION
from htppower.tools.runtimes.tokens import Kind, Token
from htppower.tools.runtimes.voting_settings import OPTION_PREFIXES, OTHER_OPTIONS, Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.runtimes.brackets import Node
    from htppower.tools.runtimes.tokens import Language

_KEYS = (*PREFIXES, "htp_", "rpc_")
_ARGUMENTS = ("htp_performance_mode", "rpc_control_latency")
_BESIDE = ("backend_type", *OF_THE_DELEGATE)
_EXECUTORCH = (RUN_TIME_OPTION, "QNN_RUNTIME_HTP_PERFORMANCE_MODE")
_KEY_OF_FIELD, _VALUE_OF_FIELD = ("id", "key", "name"), ("value", "string_value")
_DEFINES = frozenset(("def", "fun", "func", "function", "fn", "class"))
# Calls that only read, compare, print or declare; matched by the first or the last word of the name.
_NO_SETTERS = re.compile(
    r"(?:get|find|has|contains|count|remove|pop|erase|print|println|printf|fprintf|log|logger|warn|warning|info|debug|"
    r"error|assert|expect|raise|throw|format|add_argument|argument|option|add_option|flag|absl|define|equals|compare|"
    r"replace|split|join|match|test|is|env|getenv|str|strcmp|in|echo|usage|help|fatal|panic)(?![a-z])"
    r"|.*(?:error|exception|equals?|_eq)$"
)
# Calls that take an enumerator. Then: calls with one argument that is the value of a setting, and the key of the
# setting.
_TAKES_MODES = re.compile("perf|mode|options|inference")
_SETTERS = {
    "SetPerfProfileGlobal": (Where.APPBUILDER, "PerfProfile"),
    "with_rpc_control_latency": (Where.PROVIDER, "rpc_control_latency"),
}
# Kotlin also joins a pair with the word "to".
_PAIRS = (":", "=>")
_PROSE = frozenset(("help", "description", "epilog", "usage", "doc", "message", "msg", "summary", "title"))
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@attrs.frozen
class Scope:
    """The context of an element.

    Attributes:
        names: the names that its brackets are assigned or passed to, in lower case, the innermost last.
        literal: the offset of the literal or block around it, or -1.
        body: the offset of the function around it, in languages without braces.
        given_to: the object whose call or subscript contains it.
        within: the bracket around its group.
        reads: it is in a call that sets nothing.
    """

    names: tuple[str, ...] = ()
    literal: int = -1
    body: int = 0
    given_to: str = ""
    within: str = ""
    reads: bool = False


@attrs.frozen
class Found:
    """A key with its value.

    Attributes:
        key, key_at: the key, and its place.
        value: its value; None if it is not a literal.
        scope: its context.
        where: the kind of setting; None if only the context shows it.
    """

    key: str
    key_at: int
    value: Value | None
    scope: Scope
    where: Where | None = None


class CodeReader:
    """Searches the elements of a text for settings.

    Attributes:
        found: the keys with their values.
        texts: the texts that may contain settings.
        provider: the places where the QNN provider is used with a complete set of options that has no mode.
    """

    def __init__(self, language: Language, *, of_qnn: bool) -> None:
        self.found: list[Found] = []
        self.texts: list[Token] = []
        self.provider: list[int] = []
        self._sets = language.braces_are_sets
        self._of_qnn = of_qnn
        self._keys: tuple[Group, Scope] | None = None
        self._values: Group | None = None

    def read(self, group: Group, scope: Scope | None = None) -> None:
        """Search a group and its nested groups."""
        scope = Scope() if scope is None else scope
        for element in filter(None, group.elements):
            first = element[0]
            if is_name(first) and first.word in ("def", "async") and group.bracket == "":
                scope = attrs.evolve(scope, body=first.start)
            self._element(group, element, scope)
        if group.bracket == "{":
            self._fields([each for element in group.elements for each in element], scope)
        if len(group.elements) > 1:
            self._by_commas(group, scope)

    def _element(self, group: Group, element: list[Node], scope: Scope) -> None:
        equals = max((at for at, each in enumerate(element) if is_mark(each, "=")), default=-1)
        left, right = element[: max(equals, 0)], element[equals + 1 :]
        assigned = left[-1].word.lower() if left and is_name(left[-1]) else ""
        if equals > 0 and not scope.reads:
            self._assigned(group, left, right, scope)
        elif len(element) > 1 and (is_mark(element[1], *_PAIRS) or (is_name(element[1]) and element[1].word == "to")):
            right, assigned = element[2:], element[0].word.lower() if isinstance(element[0], Token) else ""
            if not scope.reads:
                self._pair(element[0], right, attrs.evolve(scope, given_to=""), of_names=group.bracket in ("{", "("))
        if names := path(right):
            self._enumerator(names, assigned, group, scope)
        is_statement = group.bracket == "" and len(element) == 1
        for at, node in enumerate(element):
            if isinstance(node, Group):
                self._group(element, at, node, assigned, attrs.evolve(scope, within=group.bracket))
            elif node.kind is Kind.TEXT and not scope.reads and assigned not in _PROSE:
                is_docstring = is_statement and node.at - node.start >= len('"""')
                self.texts += [] if is_docstring else [node]

    def _group(self, element: list[Node], at: int, group: Group, assigned: str, scope: Scope) -> None:
        names = path_before(element, at)
        function = names[-1] if names else ""
        called = ".".join(names).lower()
        inner = attrs.evolve(scope, names=(*scope.names, assigned, called))
        if group.bracket != "(":
            one_pair = len(group.elements) <= 2 and only_text(group.elements[0]) is not None  # noqa: PLR2004
            inner = attrs.evolve(inner, literal=scope.literal if one_pair else group.start)
        else:
            before = element[at - 2 * len(names)] if names and at >= 2 * len(names) else None
            defines = before is not None and is_name(before) and before.word in _DEFINES
            reads = defines or (bool(function) and _NO_SETTERS.match(_WORDS.sub("_", function).lower()) is not None)
            inner = attrs.evolve(inner, given_to=".".join(names[:-1]), reads=scope.reads or reads)
        if function in _SETTERS and group.bracket == "(" and not path(group.elements[0]):
            where, key = _SETTERS[function]
            key_at = group.start - len(function) + function.index(key)
            self.found.append(Found(key, key_at, literal(group.elements[0]), inner, where))
        self._side_by_side(element, at, group, scope)
        self.read(group, inner)

    def _assigned(self, group: Group, left: list[Node], right: list[Node], scope: Scope) -> None:
        to = left[-1]
        if isinstance(to, Group) and to.bracket == "[" and (key := only_text(to.elements[0])) is not None:
            self._pair(key, right, attrs.evolve(scope, given_to=".".join(path_before(left, len(left) - 1))))
        elif len(left) == 1:
            inner = attrs.evolve(scope, literal=group.start, given_to="") if group.bracket == "(" else scope
            self._pair(to, right, inner, of_names=group.bracket == "(")

    def _pair(self, key: Node, value: Sequence[Node], scope: Scope, *, of_names: bool = False) -> None:
        """Keep a key with its value if it is the key of a setting; a bare name counts only as an argument."""
        if not isinstance(key, Token):
            return
        word = key.word
        is_text = key.kind is Kind.TEXT and (word.startswith(_KEYS) or word in _BESIDE)
        is_argument = of_names and key.kind is Kind.NAME and word in _ARGUMENTS
        if word in _EXECUTORCH:
            self.found.append(Found(RUN_TIME_OPTION, key.at, literal(value), scope, Where.EXECUTORCH_OPTION))
        elif is_text or is_argument:
            self.found.append(Found(word, key.at, literal(value), scope))

    def _enumerator(self, names: list[Token], assigned: str, group: Group, scope: Scope) -> None:
        function = assigned or (scope.names[-1] if scope.names else "")
        if scope.reads or (not assigned and (group.bracket != "(" or _TAKES_MODES.search(function) is None)):
            return
        found = enumerator(names, function, of_qnn=self._of_qnn)
        if found is not None:
            where, key, mode = found
            value = Value(mode.word, mode.start, quoted=True)
            self.found.append(Found(key, names[0].start, value, scope, where))

    def _by_commas(self, group: Group, scope: Scope) -> None:
        """Keep pairs in a list of two items, in the words of a command, and in the arguments of a call."""
        is_set = self._sets and group.bracket == "{" and scope.within != "{"
        is_pair = len(group.elements) == 2 and not is_set  # noqa: PLR2004
        is_call = group.bracket == "(" and bool(scope.names[-1:] and scope.names[-1])
        for number, element in enumerate(group.elements[:-1]):
            if not element or scope.reads or group.bracket == "":
                continue
            key = element[0]
            if isinstance(key, Group) or (len(element) > 1 and literal(element) is None):
                continue
            following = group.elements[number + 1]
            if key.kind is Kind.TEXT and key.word.startswith("-"):
                self._flag(key, following, group, scope)
            elif is_call or (is_pair and number == 0):
                self._setting(key, following, scope)

    def _setting(self, key: Token, value: list[Node], scope: Scope) -> None:
        text = only_text(value)
        if text is not None and (text.word in OTHER_OPTIONS or text.word.startswith(OPTION_PREFIXES)):
            return  # a list of names
        if key.word in ("QNNExecutionProvider", "QNN") and _is_without_mode(value):
            self.provider.append(key.at)
        self._pair(key, value, scope)

    def _flag(self, key: Token, value: list[Node], group: Group, scope: Scope) -> None:
        name = key.word.lstrip("-")
        text = only_text(value)
        of_geniex = name != "power-mode" or any(
            "geniex" in each.word for element in group.elements if (each := only_text(element)) is not None
        )
        if text is not None and name in FLAGS and of_geniex:
            self.found.append(Found(name, key.at + len(key.word) - len(name), literal(value), scope, FLAGS[name]))
        elif text is not None and name in LISTS:
            self.found.append(Found(name, key.at, Value(text.word, text.at, quoted=True), scope, LISTS[name]))

    def _fields(self, nodes: list[Node], scope: Scope) -> None:
        """Keep a pair with named fields: ``id: "htp_performance_mode" value: "burst"``."""
        words = [each for each in nodes[:9] if not is_mark(each, ":", "=")]
        names = [each.word if isinstance(each, Token) else "" for each in words]
        if len(words) < 4 or names[0] not in _KEY_OF_FIELD or names[2] not in _VALUE_OF_FIELD:  # noqa: PLR2004
            return
        key, value = words[1], words[3:4]
        if isinstance(value[0], Group):
            value = [each for each in value[0].elements[0] if not is_mark(each, ":")][1:]
        if isinstance(key, Token) and key.kind is Kind.TEXT:
            if "custom_setting" in scope.names[-2:]:
                self.found.append(Found(key.word, key.at, literal(value), scope, Where.MLPERF))
            else:
                self._pair(key, value, scope)

    def _side_by_side(self, element: list[Node], at: int, group: Group, scope: Scope) -> None:
        """Keep the pairs of a list of keys and a parallel list of values, as in the C API of ONNX Runtime."""
        if group.bracket == "(" or len(group.elements) < 2:  # noqa: PLR2004
            return
        name = next((each.word.lower() for each in reversed(element[:at]) if is_name(each)), "")
        keys = [only_text(each) for each in group.elements if each]
        if "val" in name:
            self._values = group
        elif all(keys) and any(each.word.startswith(_KEYS) for each in keys if each is not None):
            self._keys = (group, attrs.evolve(scope, literal=group.start))
        else:
            return
        if self._keys is None or self._values is None:
            return
        (listed, within), values = self._keys, [each for each in self._values.elements if each]
        if len([each for each in listed.elements if each]) == len(values):
            for key, value in zip(listed.elements, values, strict=False):
                self._pair(key[0], value, within)
            self._keys = self._values = None


def _is_without_mode(value: list[Node]) -> bool:
    """Return whether all options of the provider are literals: then a mode would be among them."""
    group = value[-1] if value else None
    if not isinstance(group, Group) or group.bracket != "{":
        return False
    return not any(is_mark(each, "**", "*", "...") for element in group.elements for each in element)


def placed(found: list[Found]) -> Iterator[tuple[Found, Where, tuple[str, ...]]]:
    """Yield each found key with its kind of setting, and with its group, which related settings share.

    A key that the group already has begins a new group, such as the options of a second run.
    """
    numbers: dict[tuple[str, ...], int] = {}
    of_group: list[tuple[str, ...]] = []
    beside: dict[tuple[str, ...], set[str]] = {}
    for each in found:
        scope = each.scope
        place = (f"literal {scope.literal}", f"body {scope.body}", scope.given_to)
        if each.key in beside.get((*place, str(numbers.get(place, 0))), ()):
            numbers[place] = numbers.get(place, 0) + 1
        of_group.append((*place, str(numbers.get(place, 0))))
        beside.setdefault(of_group[-1], set()).add(each.key)
    for each, its_group in zip(found, of_group, strict=True):
        yield each, each.where or _where(each, beside[its_group]), its_group


def _where(found: Found, beside: set[str]) -> Where:
    for prefix, where in PREFIXES.items():
        if found.key.startswith(prefix):
            return where
    if beside.intersection(OF_THE_DELEGATE):
        return Where.DELEGATE
    if "backend_type" in beside and found.value is not None and found.value.word.isdecimal():
        return Where.DELEGATE
    for name in reversed((*found.scope.names, found.scope.given_to.lower())):
        if "delegate" in name:
            return Where.DELEGATE
        plain = name.replace("_", "")
        if "runconfig" in plain or "runoption" in plain:
            return Where.RUN
        if "provider" in name:
            break
    return Where.PROVIDER
