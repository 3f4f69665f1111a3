"""The vote controller: sessions and their phases, what each should have, and the native calls that bring it about.

May import votes, errors, rules, events, profiles, sustain and backends; never subscribers, hosts, review or the
command line.

``controller`` is the public face, and ``session`` that of one session; ``arguments`` refuses wrong arguments, and
``closer`` closes sessions. ``core`` is the heart: the engine, the line, the link, and the way of every vote.

Rooms around the core: ``phases`` (how a host runs its inferences), ``claims`` (holds and caps), ``learning`` (what
sessions learn and predict), ``recording`` (of inferences), ``status`` (what is in force, and a file of that), ``caps``
(that follow the device). Below it: ``time`` (clock, alarms, workers and locks). What rooms have in common: ``files``,
``context_manager``, and ``own_work``, which knows finalizers and handlers.

``log`` is the first subscriber. ``termination`` binds a controller to the ends of its process, and takes the signals
that end it. ``companions`` are closed with a controller.
"""
