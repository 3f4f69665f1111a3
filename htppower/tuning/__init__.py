"""Traces of inferences, device models, and the profiles that cost least on them. Needs numpy, the extra ``tune``.

May import control, runtimes, extensions, testing, subscribers, hosts and what control may; an inference
host imports nothing of it.
"""
