"""What the files have in common that a controller writes beside its votes: status, recordings, what is learnt.

May import what ``control`` may; of its rooms: time.

``background_work`` does the writing on a thread of its own; ``new_file`` puts a file in its place whole;
``file_lock`` tells writers of each other.
"""
