"""``htppower doctor``: what votes can be cast here."""
