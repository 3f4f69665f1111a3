"""``htppower lint``: the findings in profiles, in one of several formats."""
