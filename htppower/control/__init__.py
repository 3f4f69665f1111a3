"""The vote controller: sessions and their phases, what each should have, and the native calls that bring it about.

May import votes, errors, rules, events, profiles and backends; never subscribers, hosts, review or the command line.

The way of a vote: ``claims`` and ``plans`` say what a session casts. ``phases`` count what runs on its ``gate``, which
keeps the sustain time. ``reconciler`` compares what a session should have with its state and lets ``state_machine``
make the transition. ``executor`` puts the settings of the process in by ``process_settings``, takes out what is in
force by ``ledger``, and sends the rest by ``native_calls``. ``recovery`` and ``retry`` see to what fails.

Locks, in the order in which they are taken:

1. That of a thermal cap or a status file.
2. The controller's, ``Reconciler.lock``: sessions, ledger, plans, claims, and the order of events. Every transition is
   made under it, and so is every native call: one at a time. It is reentrant, since with virtual time a subscriber is
   called under it, and may use the controller.
3. A session's, ``Gate.lock``: its counts, deadline and alarm. No native call is made under it, so that an inference
   within a sustain window waits for none.
4. Those of time and its workers. No alarm or worker runs an action of ours under them.

A generator may be garbage collected wherever its thread is, also where that holds one of these. So what runs then takes
none, and leaves the rest to another thread by ``Time.call_soon``. In a forked child each lock is made anew.
"""
