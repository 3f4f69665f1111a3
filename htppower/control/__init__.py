"""The vote controller: sessions and their phases, what each should have, and the native calls that bring it about.

May import votes, errors, rules, events, profiles, sustain and backends; never subscribers, hosts, review or the
command line.

The way of a vote: ``precedence`` chooses the profile of a session, and ``plans`` its votes. The ``gate`` counts phases.
A phase that needs votes asks the ``engine``, which runs a step of the ``reconciler`` under the ``line``.
``state_machine`` says what the session should have and which step leads there, and fires it; ``caster`` takes the
difference from the ``ledger`` and from ``process_settings``, and sends it by ``native_calls``. The ``event_bus`` and
``tellers`` report it.

``controller`` is the public face, and ``session`` the face of one session. Rooms: ``plans`` (what should be cast),
``gate`` (which phases run), ``ledger`` (what is in force), ``core`` (the engine between them), ``phases`` (how a host
runs its inferences), ``claims`` (holds and caps), ``learning``, ``recording``, ``status``, ``caps`` (that follow the
device), ``files`` and ``time``.

``closer`` closes sessions, and ``ending`` the controller. ``termination`` binds a controller to the ends of its
process. ``companions`` are closed with a controller. ``log`` is the first subscriber. ``arguments`` refuses wrong
arguments. ``own_work`` recognises finalizers and signal handlers in the middle of the controller's own work.
"""
