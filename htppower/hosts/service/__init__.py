"""The service that votes for other processes, on a Unix socket or a named pipe: ``htppower serve``.

messages      what a client may ask, as classes
limits        what each user may have, from the service's file
peer          who a client is, as the kernel says
lease         one session for a client, with its inferences
client        one client: its leases, and the answer to each message
connection    lines of one connection, in order, with bounds
listening     the socket or the pipe
users         what each user has now
voting        the sessions of all clients
serving       all of it, until a signal
"""
