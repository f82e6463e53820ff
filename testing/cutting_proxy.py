"""A way to the service that breaks on purpose: before a request arrives, after it was answered, inside the answer."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Mapping
from typing import Self

KINDS = ("before", "after", "inside")
_CHUNK = 65_536


class CuttingProxy:
    """A port that leads to another one; requests with these numbers, counted from 1, break so."""

    def __init__(self, port: int, cuts: Mapping[int, str]) -> None:
        self._target = port
        self._cuts = dict(cuts)
        self.requests = 0
        self.cut: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        starting = asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(starting, self._loop).result(10)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        await asyncio.sleep(0)  # a connection that was just accepted begins, so that it also ends
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        try:
            service, to_service = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            _abort(to_client)
            return
        state = {"cut": ""}
        ways = [
            asyncio.ensure_future(self._requests(client, to_service, state)),
            asyncio.ensure_future(self._answers(service, to_client, state)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            # A process killed at the other end causes errors here; they are what this is for.
            await asyncio.gather(*ways, return_exceptions=True)
            _abort(to_client)
            to_service.close()
            # Both end before the loop closes.
            await asyncio.gather(to_client.wait_closed(), to_service.wait_closed(), return_exceptions=True)
            if state["cut"]:  # the client is gone already: another client's connection is cut instead
                self._cuts[self._free_number()] = state["cut"]

    def _free_number(self) -> int:
        """The next request that nothing is planned for."""
        number = self.requests + 1
        while number in self._cuts:
            number += 1
        return number

    async def _requests(
        self, client: asyncio.StreamReader, to_service: asyncio.StreamWriter, state: dict[str, str]
    ) -> None:
        while chunk := await client.read(_CHUNK):
            if chunk.startswith((b"POST ", b"GET ")):
                self.requests += 1
                state["cut"] = self._cuts.pop(self.requests, "")
                if state["cut"] == "before":
                    state["cut"] = ""
                    self.cut.append("before")
                    return
            to_service.write(chunk)
            await to_service.drain()

    async def _answers(
        self, service: asyncio.StreamReader, to_client: asyncio.StreamWriter, state: dict[str, str]
    ) -> None:
        while chunk := await service.read(_CHUNK):
            if state["cut"]:
                kind, state["cut"] = state["cut"], ""
                self.cut.append(kind)
                if kind == "inside":
                    to_client.write(chunk[: len(chunk) // 2])
                    await to_client.drain()
                    to_client.close()  # in order, so that the half arrives
                return
            to_client.write(chunk)
            await to_client.drain()


def _abort(writer: asyncio.StreamWriter) -> None:
    """End it as a broken line does, without a farewell, unless it was ended in order."""
    if writer.is_closing():
        return
    raw = writer.get_extra_info("socket")
    if raw is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
