"""The core: brings what is in force in line with what every session should have.

May import what ``control`` may; of its rooms: gate, ledger, plans, learning, time and event_bus.

A phase that needs votes asks the ``engine``, which runs a step of the ``reconciler`` under the ``line``.
``state_machine`` says which state the session should have and which step leads there, and fires the step. ``caster``
takes the difference from the ledger, and sends it by ``native_calls``. ``tellers`` report what a step has changed.

``meaning`` says what a native code means, ``link`` is the state of the link to the DSP, and ``recovery`` restores votes
that were lost. ``heartbeat`` casts votes again that stay up. ``home`` has the parts that the sessions of one controller
share, ``registry`` its open sessions, and ``session_record`` is the record of one session.
"""
