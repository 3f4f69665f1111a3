"""The core: what every session should have, and the native calls that bring it about.

May import what ``control`` may; of its rooms: time and learning. The latter knows parts of it, too.

The way of a vote: ``precedence`` says which profile a session uses, and ``plans`` what it casts of that. Phases are
counted on its ``gate``. ``reconciler`` takes the turn of a session, and has ``stepper`` settle it: that takes in what
has changed, asks ``state_machine`` what the session should have and which step leads there, and has it make that.
``executor`` puts the settings of the process in by ``process_settings``, takes out what is in force by ``ledger``, and
sends the rest by ``native_calls``, on ids of ``power_config_ids``. ``event_bus`` tells the log and subscribers of it.

Beside that way: the gate has ``tokens`` for what runs, a ``sustain_timer``, and, of few sessions, a ``learning.pace``.
``registry`` has what all sessions share, ``session_record`` what is known of one, and what it has done. ``remains``
brings down what is left of closed ones. ``recovery`` sees to what fails, and ``heartbeat`` to what nobody tells of.

``shared_backend`` has what the controllers on one backend share, as the ``given_ids``, and ``other_controllers`` tells
them of lost links.
"""
