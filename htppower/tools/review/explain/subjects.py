"""All that can be explained except profiles: rules, rules of advice, native codes, corners, states, phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.did_you_mean import nearest
from htppower.rules.rule import Family, my_votes
from htppower.tools.review.explain.subject import Subject
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.votes.corners import EXPANDED_OF_CORE, ExpandedCorner, VoltageCorner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.rules.rule import Rule
    from htppower.tools.review.advice.rules import AdviceRule
    from htppower.tools.review.explain.codes import Code

    Corner = VoltageCorner | ExpandedCorner

_CORNER_SOURCE = "QnnHtpPerfInfrastructure.h, SDK {}; Hexagon SDK, HAP_power"

_NO_CLOCK = "Vote HMX by its default, or the core above DISABLE."


def rule_ids() -> tuple[str, ...]:
    """Return the ids of all rules, the rules on measurements last."""
    return (*CATALOGUE, *_measured_rules())


def _measured_rules() -> Mapping[str, AdviceRule]:
    """Return the rules of advice and of comparison by their ids."""
    from htppower.tools.review.advice.rules import ADVICE_RULES  # noqa: PLC0415 - as above
    from htppower.tools.review.compare.rules import COMPARISON_RULES  # noqa: PLC0415 - only for a possible rule

    return {**ADVICE_RULES, **COMPARISON_RULES}


def codes() -> tuple[str, ...]:
    """Return the native codes as numbers and by name, and the codes of FastRPC by name."""
    from htppower.tools.review.explain.codes import names_of_codes  # noqa: PLC0415 - only for a code

    return names_of_codes()


def corners() -> tuple[str, ...]:
    """Return the names of the corners of both kinds, each once."""
    return tuple(dict.fromkeys(name for kind in (VoltageCorner, ExpandedCorner) for name in kind.__members__))


def other_names() -> tuple[str, ...]:
    """Return the names of all that can be explained except profiles and power states."""
    from htppower.tools.review.explain.chips import chip_names  # noqa: PLC0415 - only for a list, or a wrong name
    from htppower.tools.review.explain.extension_keys import key_names  # noqa: PLC0415
    from htppower.tools.review.explain.relax_words import words  # noqa: PLC0415
    from htppower.tools.review.explain.session_words import session_words  # noqa: PLC0415

    return (*rule_ids(), *codes(), *corners(), *session_words(), *words(), *key_names(), *chip_names())


def is_subject(name: str) -> bool:
    """Return whether a name is a rule's, in upper or lower case, a code's or a corner's."""
    return name.upper() in rule_ids() or name in corners() or _code(name) is not None


def alike(name: str) -> str:
    """Return names to try instead of an unknown name; empty unless it looks like a rule, code or corner."""
    family = name.upper().rpartition("-")[0]
    of_family = [rule for rule in rule_ids() if family and rule.rpartition("-")[0] == family]
    if of_family:
        return f"one of {', '.join(of_family)}"
    if name[:2].lower() == "0x":
        return _known_of_fastrpc()
    if name.removeprefix("-").isdecimal():
        return f"the codes are {', '.join(code for code in codes() if code.isdecimal())}"
    from htppower.rules.soc_names import NO_HTP, near_soc, soc_of, without_htp  # noqa: PLC0415 - only for a wrong name

    old = without_htp(name)
    if old is not None:
        return f"{old} {NO_HTP}"
    # Part numbers are so similar that comparing texts would offer another generation.
    near = near_soc(name) or nearest(name, (each for each in other_names() if soc_of(each) is None))
    if near:
        return f"did you mean {near}?"
    numbers = ", ".join(code for code in codes() if code.isdecimal())
    looked_for = f"looked in the text for messages of the vendor's log and for codes of QNN, {numbers}"
    return f"{looked_for}; {_known_of_fastrpc()}" if len(name.split()) > 1 else ""


def _known_of_fastrpc() -> str:
    from htppower.tools.review.explain.fastrpc_codes import FASTRPC_TEXTS, OF_DSP  # noqa: PLC0415 - only for a hint

    known = ", ".join(map(hex, FASTRPC_TEXTS))
    others = "inc/AEEStdErr.h of qualcomm/fastrpc names the others"
    return f"the known codes of FastRPC are {known}, and each with {OF_DSP:#x} added by the DSP; {others}"


def subjects_of(name: str) -> tuple[Subject, ...]:
    """Return what a name means, except a profile or a key: one subject, two for a corner of both kinds, or none."""
    if name.upper() in CATALOGUE:
        return (_rule(CATALOGUE[name.upper()]),)
    if "-" in name:
        measured = _measured_rules().get(name.upper())
        if measured is not None:
            return (_advice(measured),)
    code = _code(name)
    if code is not None:
        from htppower.tools.review.explain.codes import code_subject  # noqa: PLC0415 - only for a code

        return (code_subject(code),)
    kinds = (VoltageCorner, ExpandedCorner)
    return tuple(_corner(kind[name]) for kind in kinds if name in kind.__members__)


def _code(name: str) -> Code | None:
    """Return the code of a number or of a vendor's name. Other names do not load the tables."""
    if not (name.removeprefix("-")[:1].isdecimal() or name[:4].upper() in ("QNN_", "AEE_") or name == "SUCCESS"):
        return None
    from htppower.tools.review.explain.codes import code_of  # noqa: PLC0415 - only for a possible code

    return code_of(name)


def _rule(rule: Rule) -> Subject:
    facts = [
        ("why", rule.why),
        ("weighs", rule.breach.value),
        ("about", rule.family.value),
    ]
    if rule.kept_by:
        facts.append(("kept by", rule.kept_by))
    if rule.said:
        facts.append(("example", rule.said))
    facts += [("mend", rule.mend), ("source", rule.source)]
    finds = f"htppower settings --check {' '.join(rule.wrong)}" if rule.family is Family.SETTINGS else "htppower lint ."
    names = " ".join((finds, *rule.lint)) if rule.wrong else ""
    return Subject("rule", rule.id, rule.says, tuple(facts), rule.wrong, rule.right, names)


def _advice(rule: AdviceRule) -> Subject:
    facts = (
        ("why", rule.why),
        ("about", "comparison" if rule.id.startswith("CMP") else "advice"),
        ("looks at", rule.looks_at),
        ("mend", rule.mend),
        ("source", f"{rule.basis}: {rule.source}"),
    )
    return Subject("rule", rule.id, rule.says, facts)


def _corner(corner: Corner) -> Subject:
    from htppower.profiles.loading import load_profiles  # noqa: PLC0415 - only for a corner

    kind = type(corner)
    plain = kind is VoltageCorner
    ordered = sorted(each for each in kind if each.name != "DISABLE")
    facts = [("number", f"{int(corner)} {corner.enumerator}")]
    header = "2.48"
    if isinstance(corner, ExpandedCorner):
        facts.append(("since", f"SDK {corner.since}"))
        header = max(header, corner.since[:4])
    if corner.name == "DISABLE":
        facts.append(("why", "No vote: this client asks for nothing on that clock. It has no place in the order."))
        wrong = "dcvs_v3: {core: DISABLE}, hmx_v2: {min: NOM, target: TUR, max: TUR, perf_mode: HIGH}"
        right, rule = "dcvs_v3: {core: DISABLE}, hmx_v2: default", "HMX-3"
    else:
        place = ordered.index(corner)
        facts.append(
            (
                "why",
                "A level of the voltage: the clock runs as fast as that allows. A higher one draws more.",
            )
        )
        facts.append(("order", " < ".join(each.name for each in ordered[max(0, place - 1) : place + 2])))
        low, high = (ordered[place - 1], corner) if place else (corner, ordered[1])
        spelt = (
            "dcvs_v3: {{core: {{min: {}, target: {}, max: {}}}}}"
            if plain
            else ("hmx_v2: {{min: {}, target: {}, max: {}, perf_mode: HIGH}}")
        )
        wrong, right = spelt.format(high.name, low.name, high.name), spelt.format(low.name, high.name, high.name)
        rule = "DCVS-2" if plain else "HMX-8"
    facts.append(("fields", "dcvs_v3, ceng" if plain else "hmx_v2, dcvs_v3_exp, ceng_exp"))
    other = _other_form(corner)
    if other:
        facts.append(("as", other))
    if plain:
        users = [profile.name for profile in load_profiles()[0] if _votes_on(profile.votes.hvx, corner)]
        facts.append(("in", ", ".join(users) or "no shipped profile raises to it"))
    facts += [("mend", "Put the corners in order, lowest first." if corner.name != "DISABLE" else _NO_CLOCK)]
    facts += [("rule", f"{rule}  {CATALOGUE[rule].says}"), ("source", _CORNER_SOURCE.format(header))]
    says = "a plain corner" if plain else "an expanded corner"
    return Subject("corner", corner.name, says, tuple(facts), my_votes(wrong), my_votes(right), "htppower lint .")


def _votes_on(hvx: object, corner: Corner) -> bool:
    clocks = (getattr(hvx, clock, None) for clock in ("core", "bus"))
    return any(corner in (each.min, each.target, each.max) for each in clocks if each is not None)


def _other_form(corner: Corner) -> str:
    """Return the corner of the other kind for the same level, as in the simulated HTP."""
    if isinstance(corner, VoltageCorner):
        return f"{EXPANDED_OF_CORE[corner].name} among the expanded corners"
    plain = next((each for each in VoltageCorner if EXPANDED_OF_CORE[each] is corner), None)
    return "" if plain is None else f"{plain.name} among the plain corners"
