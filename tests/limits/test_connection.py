"""The kept connection to Redis: responses reach whom they are for, and nothing stays open that is not used."""

from __future__ import annotations

import asyncio
import uuid
from urllib.parse import urlsplit

import pytest

from siteglass.access.limits.connection import RedisConnection, RedisFailed, RedisRefused


def test_many_at_once_get_their_own_responses(redis_url: str) -> None:
    async def body() -> None:
        redis = RedisConnection(redis_url, 5)
        try:
            answers = await asyncio.gather(*(redis.call("ECHO", number) for number in range(200)))
        finally:
            await redis.close()
        assert answers == [str(number).encode() for number in range(200)]

    asyncio.run(body())


def test_one_who_leaves_or_is_refused_disturbs_nobody(redis_url: str) -> None:
    async def body() -> None:
        redis = RedisConnection(redis_url, 5)
        try:
            await redis.call("PING")
            leaving = asyncio.create_task(redis.call("ECHO", "not waited for"))
            refused = asyncio.create_task(redis.call("NO_SUCH_COMMAND"))
            staying = asyncio.create_task(redis.call("ECHO", "mine"))
            await asyncio.sleep(0)
            leaving.cancel()
            assert await staying == b"mine"
            with pytest.raises(RedisRefused):
                await refused
        finally:
            await redis.close()

    asyncio.run(body())


def test_the_database_of_the_url_is_used(redis_url: str) -> None:
    name = f"test:{uuid.uuid4().hex}"

    async def body() -> None:
        parts = urlsplit(redis_url)
        first = RedisConnection(parts._replace(path="/0").geturl(), 5)
        second = RedisConnection(parts._replace(path="/1").geturl(), 5)
        try:
            await second.call("SET", name, "here", "PX", 10_000)
            assert (await first.call("GET", name), await second.call("GET", name)) == (None, b"here")
        finally:
            await first.close()
            await second.close()

    asyncio.run(body())


class _Server:
    """Answers every command with these bytes, or with nothing; knows how many connections are open."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self.open = 0
        self.made = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self.made += 1
        try:
            while await reader.read(1_000):
                writer.write(self._answer)
        except ConnectionError:
            pass
        finally:
            self.open -= 1
            writer.close()

    async def listen(self) -> tuple[asyncio.Server, str]:
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        return server, f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def _closed(server: _Server) -> bool:
    for _ in range(100):
        if server.open == 0:
            return True
        await asyncio.sleep(0.01)
    return False


def test_a_refused_login_leaves_no_connection_open() -> None:
    async def body() -> None:
        refusing = _Server(b"-WRONGPASS invalid password\r\n")
        server, address = await refusing.listen()
        async with server:
            redis = RedisConnection(f"redis://:secret@{address}/0", 5)
            for _ in range(3):
                with pytest.raises(RedisRefused):
                    await redis.call("PING")
            assert await _closed(refusing)
            await redis.close()
        assert refusing.made == 3

    asyncio.run(body())


def test_a_silent_connection_is_replaced() -> None:
    """A machine that was switched off does not end its connections."""

    async def body() -> None:
        silent = _Server(b"")
        server, address = await silent.listen()
        async with server:
            redis = RedisConnection(f"redis://{address}/0", 0.05)
            for _ in range(2):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.1):
                        await redis.call("PING")
            assert silent.made == 2
            await redis.close()
            assert await _closed(silent)

    asyncio.run(body())


def test_a_lost_connection_fails_those_who_wait_and_is_made_again() -> None:
    async def body() -> None:
        async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1_000)
            writer.close()

        server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
        async with server:
            redis = RedisConnection(f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0", 5)
            for _ in range(2):
                with pytest.raises(RedisFailed):
                    await redis.call("PING")
            await redis.close()

    asyncio.run(body())
