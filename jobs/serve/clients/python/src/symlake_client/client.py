"""The client that waits."""

from __future__ import annotations

import http.client
import json
import os
import ssl
from types import TracebackType
from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence, Tuple, Type, Union

from .errors import Refused, Truncated
from .model import Answer, Artifact, Query, RawStack, Result, Stack
from .transport import Body, Transport

_Began = Optional[Callable[[http.client.HTTPConnection], None]]


class Client:
    """Asks a symlake serve. Safe for concurrent use by threads; close it, or use it as a context manager.

    url and token come from SYMLAKE_URL and SYMLAKE_TOKEN unless given. timeout is the number of seconds that the server may be
    silent. A request that the server cannot answer now (429, 503) is sent again up to retries times, after as many seconds as the
    server's Retry-After says, unless that is more than longest_wait. Nothing is sent again once an answer has begun.
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, *, timeout: float = 90.0, retries: int = 3,
                 longest_wait: float = 30.0, tls: Optional[ssl.SSLContext] = None) -> None:
        url = url or os.environ.get("SYMLAKE_URL", "http://127.0.0.1:8080")
        self._transport = Transport(url, token or os.environ.get("SYMLAKE_TOKEN") or None, timeout, retries, longest_wait, tls)

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], err: Optional[BaseException], at: Optional[TracebackType]) -> None:
        self.close()

    def lookup(self, artifact: str, *positions: str, app: str = "", arch: str = "", context: int = 0) -> List[Answer]:
        """Answers positions of one artifact, in the order asked."""
        return self.lookup_many([Query(artifact, p) for p in positions], app=app, arch=arch, context=context)

    def lookup_many(self, queries: Sequence[Query], *, app: str = "", arch: str = "", context: int = 0,
                    _began: _Began = None) -> List[Answer]:
        """Answers positions of many artifacts, in the order asked."""
        asked: dict[str, Any] = {"queries": [{"artifact": q.artifact, "position": q.position} for q in queries]}
        asked.update({k: v for k, v in (("app", app), ("arch", arch), ("context", context)) if v})
        said = self._json("/v1/lookup", asked, _began)
        answers = [Answer.of(a) for a in said.get("answers", ()) if "status" in a]
        if "error" in said:
            raise Truncated(said["error"], answers)
        return answers

    def symbolicate(self, stacks: Iterable[Union[RawStack, str]], output: str = "records", *, _began: _Began = None) -> List[Result]:
        """Answers raw stacks, in the order asked. output is records, text or both."""
        raw = [s if isinstance(s, RawStack) else RawStack(s) for s in stacks]
        said = self._json("/v1/symbolicate", {"stacks": [s.wire() for s in raw], "output": output}, _began)
        results = [Result.of(r) for r in said.get("results", ())]
        if "error" in said:
            raise Truncated(said["error"], results)
        return results

    def symbolicate_text(self, text: Union[str, Body], **options: Any) -> str:
        """Returns a dump, crash report or log with its frames replaced. options are the members of RawStack, and explain. An answer
        that ends early ends with a line that begins with "symlake: error: "."""
        with self._transport.ask("POST", "/v1/symbolicate", _options(options), _bytes(text), "text/plain") as reply:
            return reply.read().decode("utf-8", "replace")

    def symbolicate_stream(self, text: Union[str, Body], *, _began: _Began = None, **options: Any) -> Iterator[Stack]:
        """Yields the stacks of a dump or log as the server answers them. A file is sent while it is read."""
        query = [*_options(options), ("output", "records")]
        with self._transport.ask("POST", "/v1/symbolicate", query, _bytes(text), "text/plain", _began) as reply:
            for line in reply.lines():
                try:
                    said = json.loads(line)
                except ValueError as err:
                    raise Truncated("the connection broke off in the middle of the answer") from err
                if "format" in said:
                    stack = Stack.of(said)
                    if "error" not in said:
                        yield stack
                        continue
                    raise Truncated(said["error"], stack)
                raise Truncated(said.get("error", "the server sent a record that is none"))

    def artifacts(self, name: Optional[str] = None, app: Optional[str] = None) -> Iterator[Artifact]:
        """Yields the artifacts that a name leads to, or all of the store, page by page. Raises NotFound for a name without any."""
        next_page = ""
        while True:
            pairs = [(k, v) for k, v in (("name", name), ("app", app), ("from", next_page or None)) if v is not None]
            with self._transport.ask("GET", "/v1/artifacts", pairs) as reply:
                said = json.loads(reply.read())
            for a in said.get("artifacts", ()):
                yield Artifact.of(a)
            if "error" in said:
                raise Truncated(said["error"])
            next_page = said.get("next", "")
            if not next_page:
                return

    def ready(self) -> bool:
        """Reports whether the server wants requests."""
        try:
            with self._transport.ask("GET", "/readyz") as reply:
                reply.read()
        except Refused:
            return False
        return True

    def _json(self, path: str, asked: Any, began: _Began) -> Any:
        text = json.dumps(asked, ensure_ascii=False).encode("utf-8", "surrogatepass")
        with self._transport.ask("POST", path, (), text, "application/json", began) as reply:
            said = reply.read()
        try:
            return json.loads(said)
        except ValueError as err:
            raise Truncated("the connection broke off in the middle of the answer") from err


_KNOWN = {"app", "build", "platform", "frame0", "artifacts", "school", "regex", "verbose", "isolate_start", "vm_start", "units", "explain"}


def _options(options: dict[str, Any]) -> List[Tuple[str, str]]:
    """The options of a text as parameters of the query."""
    pairs: List[Tuple[str, str]] = []
    for name, value in options.items():
        if name not in _KNOWN:
            raise TypeError(f"{name} is no option: want {', '.join(sorted(_KNOWN))}")
        if name in ("artifacts", "units"):
            pairs += [(name[:-1], v) for v in value]
        elif isinstance(value, bool):
            pairs += [(name, "true")] if value else []
        elif value:
            pairs.append((name, value))
    return pairs


def _bytes(text: Union[str, Body]) -> Body:
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
