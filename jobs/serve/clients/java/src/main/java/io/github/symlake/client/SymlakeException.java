package io.github.symlake.client;

import java.time.Duration;
import java.util.Optional;

/** A request without an answer, or with a part of one. */
public final class SymlakeException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Why there is no answer. */
    public enum Kind {
        /** 400, 415: the request is not formed as it should be. */
        BAD_REQUEST,
        /** 401: the server wants a token, or another one. */
        UNAUTHORIZED,
        /** 403: a server without tokens does not know the name that you reach it by. */
        FORBIDDEN,
        /** 404: there is no such path, or no artifact of that name. */
        NOT_FOUND,
        /** 408: the body came too slowly. */
        TOO_SLOW,
        /** 413: the request or its answer is larger than the server allows. */
        TOO_LARGE,
        /** 429: your other requests hold all that one caller may have at once. */
        TOO_MANY,
        /** 502, 503, 504: the store does not answer, or the server has no time. */
        UNAVAILABLE,
        /** Another status. */
        REFUSED,
        /** The answer ended early. */
        TRUNCATED,
        /** The server said nothing in time. */
        TIMED_OUT,
        /** The server could not be reached, or the connection broke off. */
        CONNECTION
    }

    /** The kind of the error. */
    private final Kind kind;
    /** The HTTP status; 0: none. */
    private final int status;
    /** The time after which asking again can help; null: it cannot. */
    private final Duration retryAfter;

    SymlakeException(Kind kind, int status, String reason, Duration retryAfter, Throwable cause) {
        super(reason, cause);
        this.kind = kind;
        this.status = status;
        this.retryAfter = retryAfter;
    }

    static SymlakeException refused(int status, String reason, Duration retryAfter) {
        return new SymlakeException(kindOf(status), status, reason, retryAfter, null);
    }

    static SymlakeException truncated(String reason, Throwable cause) {
        return new SymlakeException(Kind.TRUNCATED, 200, reason, null, cause);
    }

    private static Kind kindOf(int status) {
        switch (status) {
            case 400:
            case 415:
                return Kind.BAD_REQUEST;
            case 401:
                return Kind.UNAUTHORIZED;
            case 403:
                return Kind.FORBIDDEN;
            case 404:
                return Kind.NOT_FOUND;
            case 408:
                return Kind.TOO_SLOW;
            case 413:
                return Kind.TOO_LARGE;
            case 429:
                return Kind.TOO_MANY;
            case 502:
            case 503:
            case 504:
                return Kind.UNAVAILABLE;
            default:
                return Kind.REFUSED;
        }
    }

    /**
     * Returns the kind of the error.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Returns the HTTP status.
     *
     * @return the status; 0: there was no answer
     */
    public int status() {
        return status;
    }

    /**
     * Returns the time after which asking again can help.
     *
     * @return the time; empty: it cannot
     */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }
}
