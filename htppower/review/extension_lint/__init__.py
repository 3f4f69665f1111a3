"""Lint of the vendor's backend extension files: what its parser refuses, what it ignores, and what does harm."""
