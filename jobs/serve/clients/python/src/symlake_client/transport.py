"""Requests over Python's own http.client: kept connections, time-outs, and asking again when the server says when."""

from __future__ import annotations

import email.utils
import http.client
import json
import ssl
import threading
import time
import urllib.parse
from types import TracebackType
from typing import IO, Any, Callable, Iterable, Iterator, List, Optional, Sequence, Tuple, Type, Union

from .errors import ConnectionFailed, SymlakeError, TimedOut, Truncated, refused

Body = Union[bytes, IO[bytes], Iterable[bytes]]
Pairs = Sequence[Tuple[str, str]]

_PIECE = 64 * 1024


class Reply:
    """An answer that has begun. It is read once; closing it early breaks its connection off."""

    def __init__(self, back: Callable[[http.client.HTTPConnection], None], connection: http.client.HTTPConnection,
                 response: http.client.HTTPResponse) -> None:
        self._back = back
        self._connection = connection
        self._response = response

    def read(self) -> bytes:
        try:
            text = self._response.read()
        except (OSError, http.client.HTTPException) as err:
            raise _failed(err) from err
        finally:
            self.close()
        return text

    def lines(self) -> Iterator[bytes]:
        try:
            while True:
                line = self._response.readline()
                if not line:
                    return
                yield line
        except (OSError, http.client.HTTPException) as err:
            raise _failed(err) from err
        finally:
            self.close()

    def close(self) -> None:
        if self._response.isclosed():
            self._back(self._connection)
        else:
            self._connection.close()

    def __enter__(self) -> "Reply":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], err: Optional[BaseException], at: Optional[TracebackType]) -> None:
        self.close()


class Transport:
    """Asks one server. Safe for concurrent use."""

    def __init__(self, url: str, token: Optional[str], timeout: float, retries: int, longest_wait: float,
                 tls: Optional[ssl.SSLContext]) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"{url!r} is no address of a server: want http://HOST:PORT or https://HOST")
        if token and any(c in token for c in "\r\n"):
            raise ValueError("the token has a line break in it")
        self._parts = parts
        self._prefix = parts.path.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._retries = retries
        self._longest_wait = longest_wait
        self._tls = tls
        self._idle: List[http.client.HTTPConnection] = []
        self._lock = threading.Lock()
        self._closed = False

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=self._tls or ssl.create_default_context())
        return http.client.HTTPConnection(host, port, timeout=self._timeout)

    def _give_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < 8:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def ask(self, method: str, path: str, query: Pairs = (), body: Optional[Body] = None, kind: str = "",
            began: Optional[Callable[[http.client.HTTPConnection], None]] = None) -> Reply:
        """Sends a request until it is answered with 200, as often as the client may. A body that is read while it is sent is
        sent once. began gets the connection of each try, so that another thread can break it off."""
        target = self._prefix + path + ("?" + urllib.parse.urlencode(query) if query else "")
        again = body is None or isinstance(body, bytes)
        for left in range(self._retries if again else 0, -1, -1):
            try:
                return self._once(method, target, body, kind, began)
            except SymlakeError as err:
                wait = err.retry_after
                if wait is None or left == 0 or wait > self._longest_wait:
                    raise
            time.sleep(wait)
        raise AssertionError("unreachable")

    def _once(self, method: str, target: str, body: Optional[Body], kind: str,
              began: Optional[Callable[[http.client.HTTPConnection], None]]) -> Reply:
        with self._lock:
            kept = self._idle.pop() if self._idle else None
        connection = kept or self._connect()
        if began:
            began(connection)
        headers = {"Accept-Encoding": "identity"}
        if kind:
            headers["Content-Type"] = kind
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        sent: Any = body
        if body is not None and not isinstance(body, bytes):
            sent = _pieces(body)
            headers["Transfer-Encoding"] = "chunked"
        early: Optional[Exception] = None
        try:
            try:
                connection.request(method, target, sent, headers, encode_chunked=sent is not body)
            except (BrokenPipeError, ConnectionResetError) as err:  # the server may have answered before all was sent
                early = err
                if kept is not None or connection.sock is None:
                    raise
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as err:
            connection.close()
            stale = kept is not None and isinstance(err, (http.client.RemoteDisconnected, ConnectionError)) and sent is body
            if stale:  # the server closed a kept connection while it was idle
                return self._once(method, target, body, kind, began)
            raise _failed(early or err) from err
        except BaseException:  # the caller's body failed, or the caller gave up
            connection.close()
            raise
        if response.status == 200:
            return Reply(self._give_back, connection, response)
        try:
            text = response.read(_PIECE)
        except (OSError, http.client.HTTPException) as err:
            connection.close()
            raise _failed(err) from err
        if response.isclosed() and early is None:
            self._give_back(connection)
        else:
            connection.close()
        raise refused(response.status, _reason(text, response.reason), _retry_after(response.headers))


def _pieces(body: Body) -> Iterator[bytes]:
    read = getattr(body, "read", None)
    if read is None:
        yield from body  # type: ignore[misc]
        return
    while True:
        piece = read(_PIECE)
        if not piece:
            return
        yield piece


def _reason(text: bytes, status: str) -> str:
    try:
        said = json.loads(text)
    except ValueError:
        return status
    reason = said.get("error") if isinstance(said, dict) else None
    return reason if isinstance(reason, str) else status


def _retry_after(headers: http.client.HTTPMessage) -> Optional[float]:
    said = headers.get("Retry-After")
    if said is None:
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _failed(err: Exception) -> SymlakeError:
    if isinstance(err, (http.client.IncompleteRead, ValueError)):
        return Truncated("the connection broke off in the middle of the answer")
    if isinstance(err, TimeoutError):
        return TimedOut(f"no word from the server in time: {err}")
    # A server that is not up yet, or restarts, is asked again.
    return ConnectionFailed(f"the server cannot be reached: {err}", retry_after=1.0 if isinstance(err, ConnectionError) else None)
