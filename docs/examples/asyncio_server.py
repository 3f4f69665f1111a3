"""A server on asyncio: SIGTERM ends the server in order, and closes the controller."""

import asyncio
import signal
import sys

import htppower


async def main(path: str) -> None:
    """Serve a Unix socket until SIGTERM."""
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    with htppower.VoteController() as controller:
        session = controller.session("burst", owner="detector")

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            seconds = float(await reader.readline())
            async with session.ainference():
                await asyncio.sleep(seconds)  # await the graph
            writer.write(b"done\n")
            writer.close()

        server = await asyncio.start_unix_server(serve, path)
        await stopped.wait()
        server.close()


asyncio.run(main(sys.argv[1]))
