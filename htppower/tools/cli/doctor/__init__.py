"""``htppower doctor``: which votes can be cast here."""
