"""Source-level stacks from symlake serve.

    from symlake_client import Client

    with Client("http://127.0.0.1:8080", token="…") as client:
        for stack in client.symbolicate_stream(open("tombstone_04", "rb")):
            for thread in stack.threads:
                for answer in thread.frames:
                    print(answer.status, answer.frames)

The package needs nothing but Python's own library.
"""

from .aio import AsyncClient
from .client import Client
from .errors import (
    BadRequest,
    ConnectionFailed,
    Forbidden,
    NotFound,
    Refused,
    ServerFault,
    SymlakeError,
    TimedOut,
    TooLarge,
    TooMany,
    TooSlow,
    Truncated,
    Unauthorized,
    Unavailable,
)
from .model import Answer, Artifact, Context, Frame, Query, RawStack, Result, Stack, Summary, Thread, Unanswered, Unread

__all__ = [
    "Answer", "Artifact", "AsyncClient", "BadRequest", "Client", "ConnectionFailed", "Context", "Forbidden", "Frame",
    "NotFound", "Query", "RawStack", "Refused", "Result", "ServerFault", "Stack", "Summary", "SymlakeError", "Thread", "TimedOut",
    "TooLarge", "TooMany", "TooSlow", "Truncated", "Unanswered", "Unauthorized", "Unavailable", "Unread",
]
