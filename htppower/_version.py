"""The version of the package, for the build and for whatever names it."""

__version__ = "0.1.0"
