"""What a request ends with when there is no answer."""

from __future__ import annotations

from typing import Optional


class SymlakeError(Exception):
    """A request without an answer.

    reason says why, in the server's words if it answered. status is the HTTP status; 0: there was none. retry_after is the
    number of seconds after which asking again can help; None: it cannot.
    """

    def __init__(self, reason: str, status: int = 0, retry_after: Optional[float] = None) -> None:
        super().__init__(f"{status}: {reason}" if status else reason)
        self.reason = reason
        self.status = status
        self.retry_after = retry_after


class Refused(SymlakeError):
    """The server answered with a status that has no class of its own."""


class BadRequest(Refused):
    """400, 415: the request is not formed as it should be."""


class Unauthorized(Refused):
    """401: the server wants a token, or another one."""


class Forbidden(Refused):
    """403: a server without tokens does not know the name that you reach it by."""


class NotFound(Refused):
    """404: there is no such path, or no artifact of that name."""


class TooSlow(Refused):
    """408: the body came too slowly."""


class TooLarge(Refused):
    """413: the request or its answer is larger than the server allows. Ask for less at once."""


class TooMany(Refused):
    """429: your other requests hold all that one caller may have at once."""


class ServerFault(Refused):
    """500: a fault of the server."""


class Unavailable(Refused):
    """502, 503, 504: the store does not answer, or the server has no time."""


class Truncated(SymlakeError):
    """The answer ended early. partial holds the part that came, which is right as far as it goes."""

    def __init__(self, reason: str, partial: object = None) -> None:
        super().__init__(reason)
        self.partial = partial


class ConnectionFailed(SymlakeError):
    """The server could not be reached, or the connection broke off."""


class TimedOut(ConnectionFailed):
    """The server said nothing for as long as the client's timeout."""


_BY_STATUS = {
    400: BadRequest, 415: BadRequest, 401: Unauthorized, 403: Forbidden, 404: NotFound, 408: TooSlow, 413: TooLarge,
    429: TooMany, 500: ServerFault, 502: Unavailable, 503: Unavailable, 504: Unavailable,
}


def refused(status: int, reason: str, retry_after: Optional[float]) -> Refused:
    """The error for a status."""
    return _BY_STATUS.get(status, Refused)(reason, status, retry_after)
