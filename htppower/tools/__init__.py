"""The tools: what people use to write, review and tune profiles. No inference host imports this half of the package.

May import everything.

``runtimes`` and ``extensions`` exchange profiles with other tools; ``readers`` opens other files; ``tuning`` finds
profiles by recordings; ``review`` shows and checks profiles; ``environment`` finds skels and writes variables;
``report`` draws what they find; ``cli`` is the command on top of them.
"""
