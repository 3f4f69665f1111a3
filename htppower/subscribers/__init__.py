"""The subscribers that ship with htppower. Each is imported only when it is used.

A subscriber is a callable that receives each event; it is passed to ``VoteController.subscribe``. Three ship:
``prometheus``, ``opentelemetry`` and ``chrome_trace``. The controller itself writes the log. The other modules are
parts of these.

May import control and what control may.
"""
