"""The vote controller: sessions and their phases, what each should have, and the native calls that bring it about.

May import votes, errors, rules, events, profiles, sustain and backends; never subscribers, hosts, review or the
command line.

``controller`` is the public face, and ``session`` that of one session; ``arguments`` refuses what they can't be given,
``opener`` opens sessions, and ``closer`` closes both. ``parts`` puts the rest together, and ``core`` is its heart: the
way of every vote is there.

Rooms around the core: ``phases`` (what a host runs its inferences by), ``claims`` (holds and caps), ``learning`` (what
sessions learn and predict), ``recording`` (of inferences), ``status`` (what is in force, and a file of that), ``caps``
(that follow the device). Below it: ``time`` (clock, alarms, threads and locks). What rooms have in common: ``files``,
``context_manager``, and ``own_work``, which knows finalizers and handlers.

A thermal cap, a status file, the end of a controller and the list of backends have a lock of their own besides those
with a rank, in ``time.locks``; it is taken before all of these. What protects a few fields of one object has one, too,
as in ``companions``, the ring of a recording and what is learnt.

``log`` is the first subscriber. ``backend_list`` knows the backends that controllers of this process are on.
``termination`` binds a controller to the ends of its process, and takes the signals that end it. ``companions`` are
what ends with a controller.
"""
