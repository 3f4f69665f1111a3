"""The names of the vendor's profiles, in its order."""

SYSTEM_SETTINGS = "system_settings"

# The vendor's order, from highest performance to lowest.
SHIPPED_PROFILES = (
    "burst",
    "sustained_high_performance",
    "high_performance",
    "balanced",
    "low_balanced",
    "high_power_saver",
    "power_saver",
    "low_power_saver",
    "extreme_power_saver",
    SYSTEM_SETTINGS,
)

# Those of language models in decode, of SDK 2.48, in the same order.
LLM_DECODE_PROFILES = tuple(
    f"llm_decode_{name}"
    for name in (*SHIPPED_PROFILES[:3], "default", *SHIPPED_PROFILES[3:])
    if name != SYSTEM_SETTINGS
)

# How the names of a list of profiles begin.
LISTED_FIRST = (*SHIPPED_PROFILES, *LLM_DECODE_PROFILES)
