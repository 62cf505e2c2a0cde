"""The client for asyncio."""

from __future__ import annotations

import asyncio
import http.client
import socket
import ssl
import threading
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Iterable, Iterator, List, Optional, Sequence, Type, TypeVar, Union

from .client import Client
from .model import Answer, Artifact, Query, RawStack, Result, Stack
from .transport import Body

T = TypeVar("T")


class _Try:
    """The connection of a request at work in another thread, to be broken off when its task is cancelled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: Optional[http.client.HTTPConnection] = None
        self._over = False

    def began(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self._connection = connection
            if self._over:
                raise ConnectionAbortedError("the task was cancelled")

    def end(self) -> None:
        with self._lock:
            self._over = True
            sock = self._connection.sock if self._connection else None
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is closed already


class AsyncClient:
    """The client for asyncio: the methods of Client as coroutines and asynchronous iterators.

    Requests run in threads of the loop's executor, so that the package needs no library for HTTP. Cancelling a task breaks its
    request off.
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, *, timeout: float = 90.0, retries: int = 3,
                 longest_wait: float = 30.0, tls: Optional[ssl.SSLContext] = None) -> None:
        self._client = Client(url, token, timeout=timeout, retries=retries, longest_wait=longest_wait, tls=tls)

    async def close(self) -> None:
        await asyncio.to_thread(self._client.close)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], err: Optional[BaseException], at: Optional[TracebackType]) -> None:
        await self.close()

    async def lookup(self, artifact: str, *positions: str, app: str = "", arch: str = "", context: int = 0) -> List[Answer]:
        return await self.lookup_many([Query(artifact, p) for p in positions], app=app, arch=arch, context=context)

    async def lookup_many(self, queries: Sequence[Query], *, app: str = "", arch: str = "", context: int = 0) -> List[Answer]:
        return await _run(lambda t: self._client.lookup_many(queries, app=app, arch=arch, context=context, _began=t.began))

    async def symbolicate(self, stacks: Iterable[Union[RawStack, str]], output: str = "records") -> List[Result]:
        raw = list(stacks)
        return await _run(lambda t: self._client.symbolicate(raw, output, _began=t.began))

    async def symbolicate_text(self, text: Union[str, Body], **options: Any) -> str:
        return await asyncio.to_thread(self._client.symbolicate_text, text, **options)

    async def symbolicate_stream(self, text: Union[str, Body], **options: Any) -> AsyncIterator[Stack]:
        at = _Try()
        async for stack in _each(at, self._client.symbolicate_stream(text, _began=at.began, **options)):
            yield stack

    async def artifacts(self, name: Optional[str] = None, app: Optional[str] = None) -> AsyncIterator[Artifact]:
        async for artifact in _each(_Try(), self._client.artifacts(name, app)):
            yield artifact

    async def ready(self) -> bool:
        return await asyncio.to_thread(self._client.ready)


async def _run(ask: Callable[[_Try], T]) -> T:
    at = _Try()
    try:
        return await asyncio.to_thread(ask, at)
    except asyncio.CancelledError:
        at.end()
        raise


async def _each(at: _Try, items: Iterator[T]) -> AsyncIterator[T]:
    end = object()
    try:
        while True:
            item: Any = await asyncio.to_thread(next, items, end)
            if item is end:
                return
            yield item
    except BaseException:  # cancelled, or closed before its end
        at.end()
        raise
