"""Clients of ``htppower serve``, for a host that lets a service vote.

    client = htppower.client.connect("camera")
    lease = client.hold("burst", reason="preview")
    with lease.inference():
        ...

``htppower.h`` in the folder of ``include_folder()`` is the client for C and C++.

May import errors.
"""

from htppower.client.async_client import AsyncClient as AsyncClient
from htppower.client.async_client import AsyncLease as AsyncLease
from htppower.client.async_client import connect_async as connect_async
from htppower.client.client import Client as Client
from htppower.client.client import Lease as Lease
from htppower.client.client import connect as connect
from htppower.client.conversation import ServiceRefused as ServiceRefused
from htppower.client.place import include_folder as include_folder
