"""Traces of inferences, device models, and the profiles that cost least on them. Needs numpy, the extra ``tune``.

May import control, everything that control may import, runtimes, extensions, testing, subscribers and hosts. An
inference host never imports this package.
"""
