"""The subscribers that ship with htppower. None of them is imported before it is used.

A subscriber is a callable that receives each event; it is passed to ``VoteController.subscribe``. Three ship:
``prometheus``, ``opentelemetry`` and ``chrome_trace``. The controller itself writes the log. The other modules here are
parts of these three.

May import control and what control may.
"""
