"""Inference hosts: what wraps a runtime's session so that its inferences vote.

May import control, runtimes and what control may.
"""
