"""Lint of the vendor's backend extension files: what its parser refuses or ignores, and what does harm."""
