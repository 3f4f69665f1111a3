"""The names of the vendor's profiles, in the vendor's order."""

SYSTEM_SETTINGS = "system_settings"

# From highest performance to lowest.
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

# The profiles for decoding with language models, of SDK 2.48, in the same order.
LLM_DECODE_PROFILES = tuple(
    f"llm_decode_{name}"
    for name in (*SHIPPED_PROFILES[:3], "default", *SHIPPED_PROFILES[3:])
    if name != SYSTEM_SETTINGS
)

# A list of profiles begins with these names.
LISTED_FIRST = (*SHIPPED_PROFILES, *LLM_DECODE_PROFILES)
