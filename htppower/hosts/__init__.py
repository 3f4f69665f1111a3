"""Inference hosts: what wraps a runtime's session so that its inferences vote.

May import control and what control may.
"""
