"""The vote controller: sessions and their phases, what each should have, and the native calls that bring it about.

May import votes, errors, rules, events, profiles, sustain and backends; never subscribers, hosts, review or the
command line.

The way of a vote: ``claims`` and ``plans`` say what a session casts. ``phases`` count what runs on its ``gate``, which
keeps the sustain time. ``reconciler`` takes the turn of a session, and has ``stepper`` settle it: that takes in what
has changed, asks ``state_machine`` what the session should have and which step leads there, and has it make that.
``executor`` puts the settings of the process in by ``process_settings``, takes out what is in force by ``ledger``, and
sends the rest by ``native_calls``, on ids of ``power_config_ids``. ``event_bus`` tells the log and subscribers of it.

``parts`` puts these together for ``controller``, which is their public face, as ``session`` is that of one session.

Beside that way: ``lifetime`` opens and closes sessions. ``recovery`` sees to what fails, ``interrupts`` to what Ctrl-C
leaves, and ``heartbeat`` to what nobody tells of.

``locks`` says which locks there are, in which order they are taken, and what may be done under each. A thermal cap, a
status file, the end of a controller and the list of backends have a lock of their own besides, which is taken before
all of these. What is learnt has one that is taken under a turn: none is taken under that.

``shared_backend`` has what the controllers on one backend share, and ``other_controllers`` tells them of lost links.

``termination`` binds a controller to the ends of its process, and takes the signals that end it.

In folders of their own: clock, alarms and threads (``time``), what sessions learn and predict (``learning``),
recordings (``recording``), the status (``status``), what the files of these have in common (``files``), and caps that
follow the device (``caps``).
"""
