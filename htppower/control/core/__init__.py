"""The core: what every session should have, and the native calls that bring it about.

May import what ``control`` may; of its rooms: time and learning. The latter knows parts of it, too.

The way of a vote: ``precedence`` says which profile a session uses, and ``plans`` what it casts of that. Its ``gate``
counts phases. A phase that needs votes asks the ``engine``, which runs a step of the ``reconciler`` under the ``line``.
``state_machine`` says what the session should have and which step leads there, and fires it; ``caster`` takes the
difference from the ``ledger`` and from ``process_settings``, and sends it by ``native_calls``. ``event_bus`` tells it,
and ``tellers`` what else is told of a session.

``meaning`` says what a native code means, ``link`` what is known of the link to the DSP, and ``recovery`` does what
follows. ``heartbeat`` casts votes again that stay up. The gate has ``tokens`` for what runs, a ``sustain_timer``, and
for few sessions ``learning.learning``. ``registry`` has what the sessions of one controller share, and
``session_record`` what is known of one, and what it has done.
"""
