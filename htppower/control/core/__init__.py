"""The core: makes the calls that put the votes of every session in force.

May import what ``control`` may; of its rooms: gate, ledger, plans, learning, time, event_bus and registry.

A phase that needs votes asks the ``engine``, which runs a step of the ``reconciler`` under the ``line``.
``state_machine`` finds the state that the session should have and the step that leads there, and fires the step.
``caster`` takes the difference from the ledger, and sends it through ``native_calls``. ``tellers`` report the result.

``meaning`` classifies native codes, ``link`` has the state of the link to the DSP, and ``recovery`` sends lost votes
again. ``heartbeat`` repeats votes that stay up, to notice a restart. ``lifetimes`` opens and closes sessions. ``home``
has the parts that the sessions of one controller share, and ``session_record`` the state of one session.
"""
