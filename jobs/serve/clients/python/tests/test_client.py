"""What the client does when the server does not answer as it should. The conformance test has the rest."""

from __future__ import annotations

import asyncio
import http.server
import threading
from typing import Any, Callable, Iterator, List, Tuple

import pytest

from symlake_client import (
    AsyncClient, Client, ConnectionFailed, NotFound, RawStack, TimedOut, TooMany, Truncated, Unavailable,
)

Answer = Tuple[int, dict[str, str], bytes]


class Server:
    """A server that gives prepared answers, one a request."""

    def __init__(self) -> None:
        self.answers: List[Callable[[http.server.BaseHTTPRequestHandler], None]] = []
        self.asked: List[Tuple[str, str, dict[str, str], bytes]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = b""
                if self.headers.get("Transfer-Encoding") == "chunked":
                    while size := int(self.rfile.readline(), 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                else:
                    body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.asked.append((self.command, self.path, dict(self.headers), body))
                outer.answers.pop(0)(self)

            do_GET = do_POST

            def log_message(self, *args: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def say(self, status: int, body: bytes, **headers: str) -> None:
        def answer(h: http.server.BaseHTTPRequestHandler) -> None:
            h.send_response(status)
            for name, value in headers.items():
                h.send_header(name.replace("_", "-"), value)
            h.send_header("Content-Length", headers.get("Length", str(len(body))))
            h.end_headers()
            h.wfile.write(body)
            if "Length" in headers:
                h.close_connection = True

        self.answers.append(answer)


@pytest.fixture
def server() -> Iterator[Server]:
    s = Server()
    yield s
    s.server.shutdown()
    s.server.server_close()


EMPTY = b'{"answers":[]}'


def test_asks_again_when_the_server_says_when(server: Server) -> None:
    server.say(429, b'{"error":"your other requests"}', Retry_After="0")
    server.say(503, b"not JSON", Retry_After="Thu, 01 Jan 1970 00:00:00 GMT")
    server.say(200, EMPTY)
    with Client(server.url, "secret-of-a-test") as client:
        assert client.lookup("a", "0x1") == []
    assert [a[2]["Authorization"] for a in server.asked] == ["Bearer secret-of-a-test"] * 3


def test_gives_up(server: Server) -> None:
    with Client(server.url, retries=1, longest_wait=5) as client:
        server.say(429, b'{"error":"your other requests"}', Retry_After="60")
        with pytest.raises(TooMany) as err:
            client.lookup("a", "0x1")
        assert err.value.retry_after == 60 and err.value.reason == "your other requests"
        server.say(503, b'{"error":"x"}', Retry_After="0")
        server.say(503, b'{"error":"the store does not answer"}', Retry_After="0")
        with pytest.raises(Unavailable, match="the store does not answer"):
            client.lookup("a", "0x1")
        server.say(404, b'{"error":"no-artifact: x"}')
        with pytest.raises(NotFound):
            list(client.artifacts("x"))
    assert len(server.asked) == 4


def test_a_body_that_was_read_is_not_sent_again(server: Server) -> None:
    server.say(503, b'{"error":"x"}', Retry_After="0")
    with Client(server.url) as client, pytest.raises(Unavailable):
        list(client.symbolicate_stream(iter([b"one ", b"two"]), platform="android", artifacts=["a", "b"], verbose=True))
    assert server.asked[0][3] == b"one two"
    assert server.asked[0][1] == "/v1/symbolicate?platform=android&artifact=a&artifact=b&verbose=true&output=records"


def test_an_answer_that_ends_early(server: Server) -> None:
    with Client(server.url) as client:
        server.say(200, b'{"results":[{"stacks":[],"text":"x"}],"error":"no answer within 30s"}')
        with pytest.raises(Truncated, match="no answer within 30s") as err:
            client.symbolicate([RawStack("x")])
        assert len(err.value.partial) == 1  # type: ignore[arg-type]
        server.say(200, b'{"format":"backtrace","threads":[]}\n{"error":"the store does not answer"}\n')
        stream = client.symbolicate_stream("x")
        assert next(stream).format == "backtrace"
        with pytest.raises(Truncated, match="the store does not answer"):
            next(stream)
        server.say(200, b'{"format":"backtrace"', Length="1000")
        with pytest.raises(Truncated, match="broke off"):
            list(client.symbolicate_stream("x"))
        server.say(200, b'{"results":', Length="1000")
        with pytest.raises(Truncated, match="broke off"):
            client.symbolicate(["x"])


def test_a_silent_server(server: Server) -> None:
    over = threading.Event()
    server.answers.append(lambda h: over.wait())  # type: ignore[arg-type]
    with Client(server.url, timeout=0.05) as client, pytest.raises(TimedOut):
        client.lookup("a", "0x1")
    over.set()


def test_no_server() -> None:
    with Client("http://127.0.0.1:1", retries=0) as client, pytest.raises(ConnectionFailed):
        client.lookup("a", "0x1")
    with pytest.raises(ValueError):
        Client("ftp://host")
    with pytest.raises(TypeError):
        next(Client("http://127.0.0.1:1").symbolicate_stream("x", colour="red"))


def test_a_cancelled_task_breaks_its_request_off(server: Server) -> None:
    asked, over = threading.Event(), threading.Event()

    def wait(h: http.server.BaseHTTPRequestHandler) -> None:
        asked.set()
        h.rfile.read(1)  # ends when the client does
        over.set()

    server.answers.append(wait)

    async def run() -> None:
        async with AsyncClient(server.url) as client:
            task = asyncio.create_task(client.lookup("a", "0x1"))
            await asyncio.to_thread(asked.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(over.wait)

    asyncio.run(run())
