"""The faces of Python in the conformance test of the server: this package, and gRPC's own client.

    conform.py sync|async            cases on standard input, outcomes on standard output, one JSON object a line each
    conform.py grpc FOLDER           FOLDER has symlake_pb2.py and symlake_pb2_grpc.py
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
import threading
import urllib.request
from typing import Any, Callable, Iterator

from symlake_client import (
    AsyncClient, BadRequest, Client, Query, RawStack, SymlakeError, TooLarge, TooSlow, Unauthorized, Unavailable,
)

Case = dict[str, Any]
KINDS = [(BadRequest, "bad-request"), (Unauthorized, "unauthorized"), (TooLarge, "too-large"), (TooSlow, "too-slow"), (Unavailable, "unavailable")]


def plain(value: Any) -> Any:
    """A value of the model as the JSON that it came from, with empty members."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def failure(err: SymlakeError) -> dict[str, Any]:
    kind = next((k for t, k in KINDS if isinstance(err, t)), type(err).__name__)
    return {"error": {"kind": kind, "reason": err.reason, "retry": err.retry_after is not None}}


def queries(case: Case) -> list[Query]:
    return [Query(**q) for q in case.get("queries") or ()]


def stacks(case: Case) -> list[RawStack]:
    return [RawStack(**s) for s in case.get("stacks") or ()]


class Stall:
    """A body that stops in its middle until the server has counted a request that was too slow."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.tick = threading.Event()

    def refused(self) -> bool:
        with urllib.request.urlopen(self.url + "/metrics") as metrics:
            return b'code="408"' in metrics.read()

    def __iter__(self) -> Iterator[bytes]:
        yield b"#00 pc 0000"
        while not self.refused():
            self.tick.wait(0.02)


def sync(case: Case) -> dict[str, Any]:
    with Client(case["url"], case["token"], retries=0) as client:
        if case["op"] == "lookup":
            return {"answers": plain(client.lookup_many(queries(case)))}
        if case["op"] == "symbolicate":
            return {"results": plain(client.symbolicate(stacks(case), case.get("output") or "records"))}
        if case["op"] == "slow":
            return {"results": plain(list(client.symbolicate_stream(Stall(case["url"]))))}
        stream = client.symbolicate_stream(stacks(case)[0].text)  # cancel
        first = next(stream)
        stream.close()  # type: ignore[attr-defined]
        return {"results": [{"stacks": [plain(first)]}], "answers": plain(client.lookup_many(queries(case)))}


async def asynchronous(case: Case) -> dict[str, Any]:
    async with AsyncClient(case["url"], case["token"], retries=0) as client:
        if case["op"] == "lookup":
            return {"answers": plain(await client.lookup_many(queries(case)))}
        if case["op"] == "symbolicate":
            return {"results": plain(await client.symbolicate(stacks(case), case.get("output") or "records"))}
        if case["op"] == "slow":
            return {"results": [plain(s) async for s in client.symbolicate_stream(Stall(case["url"]))]}
        got: asyncio.Queue[Any] = asyncio.Queue()

        async def read() -> None:
            async for stack in client.symbolicate_stream(stacks(case)[0].text):
                await got.put(stack)
                await asyncio.Event().wait()

        reading = asyncio.create_task(read())
        first = await got.get()
        reading.cancel()
        await asyncio.wait([reading])
        assert reading.cancelled()
        return {"results": [{"stacks": [plain(first)]}], "answers": plain(await client.lookup_many(queries(case)))}


def by_grpc(folder: str) -> Callable[[Case], dict[str, Any]]:
    sys.path.insert(0, folder)
    import grpc  # type: ignore[import-untyped]
    import symlake_pb2  # type: ignore[import-not-found]
    import symlake_pb2_grpc  # type: ignore[import-not-found]
    from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]

    codes = {grpc.StatusCode.INVALID_ARGUMENT: "bad-request", grpc.StatusCode.UNAUTHENTICATED: "unauthorized",
             grpc.StatusCode.RESOURCE_EXHAUSTED: "too-large", grpc.StatusCode.UNAVAILABLE: "unavailable"}

    def chains(answer: dict[str, Any]) -> dict[str, Any]:
        if "alternatives" in answer:
            answer["alternatives"] = [c.get("frames", []) for c in answer["alternatives"]]
        return answer

    def stack(message: Any) -> dict[str, Any]:
        said = MessageToDict(message)
        return {"format": said["format"], "threads": [{"frames": [chains(f) for f in t.get("frames", [])]} for t in said["threads"]]}

    def ask(case: Case) -> dict[str, Any]:
        metadata = [("authorization", "Bearer " + case["token"])]

        def look(service: Any) -> list[Any]:
            asked = symlake_pb2.LookupRequest(queries=[symlake_pb2.Query(artifact=q.artifact, position=q.position) for q in queries(case)])
            return [chains(a) for a in MessageToDict(service.Lookup(asked, metadata=metadata)).get("answers", [])]

        def requests() -> Iterator[Any]:
            for s in stacks(case):
                yield symlake_pb2.SymbolicateRequest(**{k: v for k, v in dataclasses.asdict(s).items() if v}, output=case.get("output") or "")

        with grpc.insecure_channel(case["url"].removeprefix("http://")) as channel:
            service = symlake_pb2_grpc.SymbolServiceStub(channel)
            try:
                if case["op"] == "lookup":
                    return {"answers": look(service)}
                if case["op"] == "slow":
                    return {"skip": "gRPC's client sends a message whole"}
                results: list[dict[str, Any]] = []
                call = service.Symbolicate(requests(), metadata=metadata)
                for part in call:
                    if part.failure.code:
                        kind = codes[next(c for c in grpc.StatusCode if c.value[0] == part.failure.code)]
                        return {"error": {"kind": kind, "reason": part.failure.reason, "retry": part.failure.retry}}
                    if case["op"] == "cancel":
                        call.cancel()
                        return {"results": [{"stacks": [stack(part.stacks[0])]}], "answers": look(service)}
                    if part.index == len(results):
                        results.append({"stacks": [], "text": ""})
                    results[-1]["stacks"] += [stack(s) for s in part.stacks]
                    results[-1]["text"] += part.text
                    if part.HasField("summary"):
                        results[-1]["summary"] = MessageToDict(part.summary)
                return {"results": results}
            except grpc.RpcError as err:
                retry = any(k == "retry-after" for k, _ in err.trailing_metadata() or ())
                return {"error": {"kind": codes.get(err.code(), str(err.code())), "reason": err.details(), "retry": retry}}

    return ask


def main() -> None:
    face: Callable[[Case], dict[str, Any]] = {"sync": sync, "async": lambda c: asyncio.run(asynchronous(c))}.get(sys.argv[1]) or by_grpc(sys.argv[2])
    for line in sys.stdin:
        case = json.loads(line)
        try:
            outcome = face(case)
        except SymlakeError as err:
            outcome = failure(err)
        print(json.dumps({"name": case["name"], **outcome}), flush=True)


main()
