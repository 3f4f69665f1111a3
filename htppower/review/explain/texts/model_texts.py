"""Why there are the rules of device models, what breaks each, and the mend."""

from __future__ import annotations

from htppower.review.explain.texts.rule_text import RuleText

MODEL_TEXTS = {
    "MODEL-1": RuleText(
        "Where lowering saves no power by the model, there is no time after which it pays, and every advice from it is "
        "to stay up.",
        "Measure the power again, or correct the value.",
        said="A device model with more power in raised_idle_w than in active_w.",
    ),
}
