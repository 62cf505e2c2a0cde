"""What goes to the server and what comes back, as openapi.json describes it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Mapping, Optional, Sequence


@dataclass(frozen=True)
class Context:
    """Lines of a source file; first is the number of the first."""

    first: int
    lines: Sequence[str]


@dataclass(frozen=True)
class Frame:
    """A place in the source."""

    function: str = ""
    linkage: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    name: str = ""  # of scripts: the identifier at this place
    ignored: bool = False  # of scripts: the source is none of the application's own
    context: Optional[Context] = None
    compiled_function: str = ""  # of scripts: the function of the script around this place, where it has another name

    @staticmethod
    def of(value: Mapping[str, Any]) -> "Frame":
        known = {k: v for k, v in value.items() if k in _FRAME}
        if "context" in known:
            known["context"] = Context(known["context"]["first"], tuple(known["context"]["lines"]))
        return Frame(**known)


_FRAME = {f.name for f in fields(Frame)}


@dataclass(frozen=True)
class Answer:
    """What the store knows of one position.

    status is found, hole, outside, no-artifact, ambiguous, pending, loading, rejected, unavailable, sealed or corrupt; reason
    says why, unless found; retry says that asking again later can change it. frames has the innermost first.
    """

    status: str = ""
    frames: Sequence[Frame] = ()
    artifact: str = ""
    load: str = ""
    kind: str = ""
    position: str = ""
    raw: str = ""
    reason: str = ""
    retry: bool = False
    alternatives: Sequence[Sequence[Frame]] = ()

    @staticmethod
    def of(value: Mapping[str, Any]) -> "Answer":
        known = {k: v for k, v in value.items() if k in _ANSWER}
        known["frames"] = tuple(Frame.of(f) for f in value.get("frames", ()))
        known["alternatives"] = tuple(tuple(Frame.of(f) for f in chain) for chain in value.get("alternatives", ()))
        return Answer(**known)

    @property
    def found(self) -> bool:
        return self.status == "found"


_ANSWER = {f.name for f in fields(Answer)}


@dataclass(frozen=True)
class Thread:
    """A thread of a stack, innermost frame first."""

    frames: Sequence[Answer] = ()


@dataclass(frozen=True)
class Unanswered:
    """Frames that share image, status and reason."""

    frames: int = 0
    image: str = ""
    status: str = ""  # as of an answer; named: they had their names already; other: of reasons that are not listed
    reason: str = ""


@dataclass(frozen=True)
class Unread:
    """A part of a text that looks like frames, and that the server did not read."""

    frames: int = 0
    path: str = ""  # in JSON, as jq takes it
    members: Sequence[str] = ()
    reason: str = ""


@dataclass(frozen=True)
class Summary:
    """The counts of a raw stack. looks says what a text looks like in which nothing was recognized."""

    recognized: int = 0
    answered: int = 0
    unanswered: Sequence[Unanswered] = ()
    unread: Sequence[Unread] = ()
    looks: str = ""
    nearest: str = ""

    @staticmethod
    def of(value: Mapping[str, Any]) -> Optional["Summary"]:
        if "recognized" not in value:  # of an older server
            return None
        unanswered = tuple(Unanswered(u.get("frames", 0), u.get("image", ""), u.get("status", ""), u.get("reason", "")) for u in value.get("unanswered", ()))
        unread = tuple(Unread(u.get("frames", 0), u.get("path", ""), tuple(u.get("members", ())), u.get("reason", "")) for u in value.get("unread", ()))
        return Summary(value["recognized"], value.get("answered", 0), unanswered, unread, value.get("looks", ""), value.get("nearest", ""))


@dataclass(frozen=True)
class Stack:
    """One dump: its format and its threads. The last of a stream has no threads and a summary, if nothing was recognized or a part
    was not read."""

    format: str = ""
    threads: Sequence[Thread] = ()
    summary: Optional[Summary] = None

    @staticmethod
    def of(value: Mapping[str, Any]) -> "Stack":
        threads = tuple(Thread(tuple(Answer.of(f) for f in t.get("frames", ()))) for t in value.get("threads", ()))
        return Stack(value.get("format", ""), threads, Summary.of(value))


@dataclass(frozen=True)
class Result:
    """The answer to one raw stack: the stacks in it, or its text with the frames replaced, or both."""

    stacks: Sequence[Stack] = ()
    text: Optional[str] = None
    summary: Optional[Summary] = None

    @staticmethod
    def of(value: Mapping[str, Any]) -> "Result":
        return Result(tuple(Stack.of(s) for s in value.get("stacks", ())), value.get("text"), Summary.of(value))


@dataclass(frozen=True)
class RawStack:
    """A stack as it was reported, and what its text does not say."""

    text: str
    app: str = ""
    build: str = ""
    platform: str = ""
    frame0: str = ""
    artifacts: Sequence[str] = ()
    school: str = ""
    regex: str = ""
    verbose: bool = False
    isolate_start: str = ""
    vm_start: str = ""
    units: Sequence[str] = ()

    def wire(self) -> dict[str, Any]:
        said = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "text"}
        return {"text": self.text, **{k: list(v) if isinstance(v, (list, tuple)) else v for k, v in said.items() if v}}


@dataclass(frozen=True)
class Query:
    """One position of an artifact: any name of it, and a place as people write it."""

    artifact: str
    position: str


@dataclass(frozen=True)
class Artifact:
    """An artifact of the store. members has all that the server says of it."""

    artifact: str
    kind: str = ""
    names: Sequence[str] = ()
    apps: Sequence[str] = ()
    state: str = ""
    ranges: int = 0
    members: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(value: Mapping[str, Any]) -> "Artifact":
        return Artifact(value["artifact"], value.get("kind", ""), tuple(value.get("names", ())), tuple(value.get("apps", ())),
                        value.get("state", ""), value.get("ranges", 0), value)
