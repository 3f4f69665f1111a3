"""The texts of the rules on device models: why, an example of a breach, the mend."""

from __future__ import annotations

from htppower.tools.review.explain.texts.rule_text import RuleText

MODEL_TEXTS = {
    "MODEL-1": RuleText(
        "If lowering saves no power in the model, it never pays, and all advice from the model is to stay up.",
        "Measure the power again, or correct the value.",
        said="A device model with more power in raised_idle_w than in active_w.",
    ),
}
