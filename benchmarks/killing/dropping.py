"""A proxy that drops answers: the request goes through, and the client never gets its answer.

It forwards bytes in both directions. Whenever the server sends something, it closes the connection
with a small probability instead, after none or a part of the bytes. So the server has done what the
client wanted, and the client can't know; a stream of events breaks in the middle of an event.
"""

import asyncio
import random
import threading
from contextlib import suppress
from urllib.parse import urlsplit

_CHUNK_BYTES = 65536


class DroppingProxy:
    """A proxy in its own thread, until `stop`.

    Attributes:
        url: its address.
        dropped: the number of dropped answers so far.

    Args:
        url: the address of the server.
        chance: of each piece of an answer to be dropped.
        seed: of the choices.
    """

    def __init__(self, url: str, chance: float, seed: int) -> None:
        self.url = ""
        self.dropped = 0
        self._chance = chance
        self._random = random.Random(seed)
        self._server = urlsplit(url)
        self._loop = asyncio.new_event_loop()
        self._listens = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=[self._run()])
        self._thread.daemon = True
        self._thread.start()
        self._listens.wait()

    def stop(self) -> None:
        """Close all connections."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _run(self) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._listens.set()
        await self._stop.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream = None
        try:
            there, upstream = await asyncio.open_connection(
                self._server.hostname, self._server.port
            )
            ways = [
                asyncio.ensure_future(_copy(reader, upstream)),
                asyncio.ensure_future(self._copy_or_drop(there, writer)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        except OSError:
            pass  # the front is down: the client finds a closed connection, as without the proxy
        finally:
            for each in filter(None, (writer, upstream)):
                each.close()

    async def _copy_or_drop(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK_BYTES):
                if self._random.random() < self._chance:
                    self.dropped += 1
                    writer.write(data[: self._random.choice((0, len(data) // 2))])
                    return
                writer.write(data)
                await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
