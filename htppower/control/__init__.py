"""The vote controller: sessions, their phases, the votes that they should have, and the native calls for these votes.

May import votes, errors, rules, events, profiles, sustain and backends; never subscribers, hosts, tools or the command
line.

The way of a vote: ``precedence`` chooses the profile of a session, and ``plans`` its votes. The ``gate`` counts phases.
A phase that needs votes asks the ``engine``, which runs a step of the ``reconciler`` under the ``line``.
``state_machine`` finds the state that the session should have and the step that leads there, and fires the step.
``caster`` takes the difference from the ``ledger`` and from ``process_settings``, and sends it through
``native_calls``. ``tellers`` report the result on the ``event_bus``.

``controller`` is the public face, and ``session`` the face of one session. Rooms (subpackages): ``plans`` (the votes
that a session should have), ``gate`` (the running phases), ``ledger`` (the votes in force), ``core`` (the engine
between them), ``phases`` (the blocks that a host uses), ``claims`` (holds and caps), ``learning``, ``recording``,
``status``, ``caps`` (by temperature or power profile), ``clock`` (the measured clock), ``files`` (what is written) and
``time`` (clock, alarms and threads).

``closer`` closes sessions, and ``ending`` the controller. ``termination`` closes controllers when the process ends.
``registry`` has the open sessions of a controller, and ``companions`` are the objects that are closed with a
controller, such as a thermal cap. ``log`` writes events to the log. ``arguments`` checks arguments. ``own_work``
recognises finalizers and signal handlers that interrupt the controller's own work.
"""
