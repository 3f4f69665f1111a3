"""Settings in JSON: genai_config.json, Genie's dialogs and policies, and option objects of hosts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from htppower.hosts.qnn_provider import SPINNING
from htppower.tools.extensions.json_parser import Kind, Member
from htppower.tools.runtimes.statements import MISTAKEN, Said, Statement, is_of
from htppower.tools.runtimes.voting_settings import Where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.json_parser import Node
    from htppower.tools.extensions.json_text import JsonText, PlacedText

GENAI = "genai_config.json"
DIALOG = "a dialog of Genie"
POLICY = "a policy of Genie"
OPTIONS_OBJECT = "options"
EXTENSION_FILE = "an extension file"
_OF_EXTENSIONS = frozenset({"devices", "graphs", "backend_extensions", "groupContext"})
# The top-level keys of Genie's objects that have an engine: a dialog, an embedding, a single engine, and nodes. Source:
# the Genie SDK's JSON configs; the nodes are those that GenieNode_create of QAIRT 2.51 knows (measured).
DIALOGS = (
    "dialog",
    "embedding",
    "standalone-engine",
    "text-generator",
    "text-encoder",
    "image-encoder",
    "audio-encoder",
    "lut-encoder",
    "image-decoder",
)
# Keys that people write who confuse Genie with one of the vendor's tools.
_OF_POWER = ("perf", "power", "rpc", "performance", "hmx")
PREFIXES = {
    "qnn.": Where.RUN,
    "ep.dynamic.": Where.DYNAMIC,
    "ep.qnnexecutionprovider.": Where.SESSION,
    "session.": Where.SESSION,
}
# An object of options under one of these keys is of this kind.
_NAMED = {
    "run_options": Where.RUN,
    "runoptions": Where.RUN,
    "provider_options": Where.PROVIDER,
    "dynamic_options": Where.DYNAMIC,
    "external_delegate_options": Where.DELEGATE,
    "delegate_options": Where.DELEGATE,
}
# ONNX Runtime and the delegate share some keys; these sibling keys exist only for the delegate.
OF_THE_DELEGATE = ("htp_perf_ctrl_strategy", "dsp_performance_mode", "htp_precision", "htp_optimization_strategy")
_QNN = ("qnn", "qnnexecutionprovider")
# Keys of genai_config.json on the path to options that are not the names of models.
_OF_NO_MODEL = ("model", "session_options", "pipeline", "provider_options", "run_options", *_QNN)


def said_by_json(text: JsonText) -> Said | None:
    """Return the voting settings of a JSON text; None if the text has no known form."""
    root = text.root
    if root is None or root.kind is not Kind.OBJECT:
        return None
    if _is_genai(root):
        return _of_genai_config(text, root)
    if any(_engine(root, name) is not None for name in DIALOGS):
        return _of_dialog(text, root)
    policy = _member(root.get("performance"), "policy") if len(root.members) == 1 else None
    if policy is not None:
        return Said((_statement(text, Where.POLICY, policy, ()),), form=POLICY)
    if _OF_EXTENSIONS.intersection(member.key for member in root.members):
        return Said(form=EXTENSION_FILE)
    found = tuple(of_objects(text, root, (), None))
    return Said(found, form=OPTIONS_OBJECT) if found else None


def _is_genai(root: Node) -> bool:
    model = root.get("model")
    return model is not None and model.kind is Kind.OBJECT and (model.get("decoder") or model.get("type")) is not None


def _of_genai_config(text: JsonText, root: Node) -> Said:
    """Return the settings in the options of every model. The runtime refuses a file with a value that is not a text."""
    statements: list[Statement] = []
    no_texts, without_mode, spinning = [], [], []
    for where, member, group in _genai_options(root):
        found = list(_of_object(text, member.node, where, group, _model_of(group)))
        statements += found
        known = {each.key for each in found}
        no_texts += [
            (each.key, json.dumps(each.node.plain()), text.place(each.node.start))
            for each in member.node.members
            if each.node.kind is not Kind.TEXT
            # A session also has options that are numbers. The check of a voting setting of the provider says it itself.
            and where is not (Where.GENAI if each.key in known else Where.SESSION)
        ]
        if where is Where.SESSION and _spins_by_default(member.node):
            spinning.append(text.place(member.start))
        if where is Where.GENAI and not any(each.option is not None and each.option.is_mode for each in found):
            without_mode.append(text.place(member.start))
    has_mode = any(each.option is not None and each.option.is_mode for each in statements)
    return Said(
        tuple(statements),
        no_texts=tuple(no_texts),
        without_mode=() if has_mode else tuple(without_mode),
        spinning=tuple(spinning),
        form=GENAI,
    )


def _genai_options(node: Node, at: tuple[str, ...] = ()) -> Iterator[tuple[Where, Member, tuple[str, ...]]]:
    """Yield the session, provider and run options of every model, with the path of keys to each."""
    for member in node.members:
        below = (*at, member.key)
        if member.key == "provider_options":
            for number, item in enumerate(member.node.items):
                for provider in item.members:
                    if provider.key.lower() in _QNN:
                        yield Where.GENAI, provider, (*below, str(number), provider.key)
        elif member.key == "run_options":
            yield Where.RUN, member, below
        else:
            if member.key == "session_options":
                yield Where.SESSION, member, below
            yield from _genai_options(member.node, below)
    for number, item in enumerate(node.items):
        yield from _genai_options(item, (*at, str(number)))


def _spins_by_default(session: Node) -> bool:
    """Return whether a session on the NPU has several threads, and no entry that lets them sleep or spin."""
    threads, providers = session.get("intra_op_num_threads"), session.get("provider_options")
    if providers is None or session.get(SPINNING[0]) is not None or (threads is not None and threads.value == 1):
        return False
    return any(provider.key.lower() in _QNN for item in providers.items for provider in item.members)


def _model_of(at: tuple[str, ...]) -> str:
    names = [key for key in at if key.lower() not in _OF_NO_MODEL and not key.isdecimal()]
    return names[-1] if names else ""


def _member(node: Node | None, key: str) -> Member | None:
    """Return a member as Genie reads it: the last if the key is given twice."""
    return next((each for each in reversed(() if node is None else node.members) if each.key == key), None)


def _value(node: Node | None, key: str) -> Node | None:
    member = _member(node, key)
    return None if member is None else member.node


def _engine(root: Node, name: str) -> Node | None:
    node = _value(root, name)
    return node if _value(node, "engine") is not None else None


def _of_dialog(text: JsonText, root: Node) -> Said:
    extensions, refused, silent, polls = [], [], [], []
    for name in DIALOGS:
        for backend in _backends(_engine(root, name)):
            kind = _value(backend, "type")
            if kind is not None and kind.value != "QnnHtp":
                continue
            refused += [(member.key, text.place(member.start)) for member in _of_power(backend)]
            block = _value(backend, "QnnHtp")
            refused += [] if block is None else [(each.key, text.place(each.start)) for each in _of_power(block)]
            poll = _value(block, "poll")
            polls += [] if poll is None or poll.value is not True else [text.place(poll.start)]
            named = _value(backend, "extensions")
            if named is None or named.kind is not Kind.TEXT or not named.value:
                silent.append(text.place(backend.start))
            else:
                extensions.append((str(named.value), text.place(named.start)))
    return Said(
        (),
        extensions=tuple(extensions),
        refused=tuple(refused),
        silent=tuple(silent),
        polls=tuple(polls),
        form=DIALOG,
    )


def _backends(dialog: Node | None) -> Iterator[Node]:
    """Yield the backend of each engine; a dialog with a draft model has several engines."""
    engine = _value(dialog, "engine")
    for each in () if engine is None else engine.items or (engine,):
        backend = _value(each, "backend")
        if backend is not None and backend.kind is Kind.OBJECT:
            yield backend


def _of_power(node: Node) -> Iterator[Member]:
    """Yield the keys of a block that seem to be about power; Genie has no such keys."""
    for member in node.members:
        if member.key not in ("extensions", "QnnHtp") and member.key.lower().startswith(_OF_POWER):
            yield member


def of_objects(text: PlacedText, node: Node, at: tuple[str, ...], where: Where | None) -> Iterator[Statement]:
    """Yield the settings of every object of a text that has no known form."""
    name, value = node.get("name") or node.get("key"), node.get("value")
    if name is not None and value is not None and is_of(where or Where.PROVIDER, str(name.value)):
        member = Member(str(name.value), name.start, name.end, value)
        yield _statement(text, where or _where(member, set()) or Where.PROVIDER, member, at)
    if node.kind is Kind.OBJECT:
        yield from _of_object(text, node, where, at, at[-1] if at else "")
        for member in node.members:
            yield from of_objects(text, member.node, (*at, member.key), _NAMED.get(member.key.lower(), where))
    for number, item in enumerate(node.items):
        yield from of_objects(text, item, (*at, str(number)), where)


def _of_object(
    text: PlacedText, node: Node, where: Where | None, group: tuple[str, ...], name: str
) -> Iterator[Statement]:
    siblings = {member.key for member in node.members}
    for member in node.members:
        known = where or _where(member, siblings)
        if known is not None and is_of(known, member.key):
            yield _statement(text, known, member, group, name)


def _where(member: Member, siblings: set[str]) -> Where | None:
    """Return the kind of setting of a key in an object of options, as far as its siblings show it."""
    for prefix, where in PREFIXES.items():
        if member.key.startswith(prefix):
            return where
    if siblings.intersection(OF_THE_DELEGATE):
        return Where.DELEGATE
    value = str(member.node.value)
    if member.key == "htp_performance_mode" and "backend_type" in siblings and value.isdecimal():
        return Where.DELEGATE
    spoken_of = member.key == "htp_perf_mode" or (Where.PROVIDER, member.key) not in MISTAKEN
    return Where.PROVIDER if spoken_of and is_of(Where.PROVIDER, member.key) else None


def _statement(text: PlacedText, where: Where, member: Member, group: tuple[str, ...], name: str = "") -> Statement:
    node = member.node
    quoted = node.kind is Kind.TEXT
    value = node.value if quoted else json.dumps(node.plain())
    return Statement(
        where,
        member.key,
        value,
        text.place(member.start),
        text.place(node.start),
        quoted=quoted,
        group=group,
        name=name,
    )
