"""The subscribers that ship with htppower. Each is imported only where it is used.

A subscriber is called with an event each time, and given to ``VoteController.subscribe``. Three ship: ``prometheus``,
``opentelemetry`` and ``chrome_trace``; the log is the controller's own. The other modules are parts of these.

May import control and what control may.
"""
