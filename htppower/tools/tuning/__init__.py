"""Traces of inferences, device models, and the profiles that cost least on them. Needs numpy, the extra ``tune``.

May import control, what control may, report, readers, runtimes, extensions, testing, subscribers and hosts. An
inference host never imports this package.
"""
