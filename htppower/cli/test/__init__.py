"""``htppower test``: the tests of profiles, and what they look at."""
