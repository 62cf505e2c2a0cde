package io.github.symlake.client;

import java.util.List;

/** The counts of a raw stack. */
public final class Summary {
    /** Frames that share image, status and reason. */
    public static final class Unanswered {
        /** How many. */
        public final long frames;
        /** The image that they name, or empty. */
        public final String image;
        /** As of an answer; {@code named}: they had their names already; {@code other}: of reasons that are not listed. */
        public final String status;
        /** Why they have no answer. */
        public final String reason;

        Unanswered(Json.Members m) {
            frames = m.number("frames");
            image = m.text("image");
            status = m.text("status");
            reason = m.text("reason");
        }
    }

    /** A part of a text that looks like frames, and that the server did not read. */
    public static final class Unread {
        /** How many frames it has, 0 if that is not known. */
        public final long frames;
        /** Its place in JSON, as jq takes it. */
        public final String path;
        /** The names of the members of its first frame. */
        public final List<String> members;
        /** Why it was not read. */
        public final String reason;

        Unread(Json.Members m) {
            frames = m.number("frames");
            path = m.text("path");
            members = m.texts("members");
            reason = m.text("reason");
        }
    }

    /** Frames that were read. */
    public final long recognized;
    /** Frames with the status found. */
    public final long answered;
    /** The other frames by reason, the most frequent first. */
    public final List<Unanswered> unanswered;
    /** Parts that were not read. */
    public final List<Unread> unread;
    /** What a text looks like in which nothing was recognized; else empty. */
    public final String looks;
    /** The form whose lines are most like it; else empty. */
    public final String nearest;

    private Summary(Json.Members m) {
        recognized = m.number("recognized");
        answered = m.number("answered");
        unanswered = m.list("unanswered", Unanswered::new);
        unread = m.list("unread", Unread::new);
        looks = m.text("looks");
        nearest = m.text("nearest");
    }

    /** Returns null if an older server gave no counts. */
    static Summary of(Json.Members m) {
        return m.has("recognized") ? new Summary(m) : null;
    }
}
