"""Web servers as hosts: votes around each request, in a mode that the request may ask for.

    app = AsgiVotes(app, htppower.VoteController, ModePolicy("burst", allowed=("burst", "balanced", "power_saver")))

``policy`` states the modes of a service, and ``choice`` decides the mode of a request. ``service`` has the session;
``asgi`` and ``wsgi`` are the middleware, which needs no framework.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower._exports import exported_lazily

if TYPE_CHECKING:
    from htppower.hosts.web.asgi import AsgiVotes as AsgiVotes
    from htppower.hosts.web.policy import ModePolicy as ModePolicy
    from htppower.hosts.web.wsgi import WsgiVotes as WsgiVotes

_EXPORTS = {
    "htppower.hosts.web.asgi": ("AsgiVotes",),
    "htppower.hosts.web.policy": ("ModePolicy",),
    "htppower.hosts.web.wsgi": ("WsgiVotes",),
}
__all__ = [name for names in _EXPORTS.values() for name in names]

if not TYPE_CHECKING:  # With a __getattr__, type checkers would accept any name.
    __getattr__ = exported_lazily(__name__, _EXPORTS)
