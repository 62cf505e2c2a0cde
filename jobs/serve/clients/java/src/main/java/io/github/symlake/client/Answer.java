package io.github.symlake.client;

import java.util.List;

/** What the store knows of one position. */
public final class Answer {
    /** One of found, hole, outside, no-artifact, ambiguous, pending, loading, rejected, unavailable, sealed, corrupt. */
    public final String status;
    /** Why, unless found. */
    public final String reason;
    /** Whether asking again later can change the outcome. */
    public final boolean retry;
    /** The frames, innermost first. */
    public final List<Frame> frames;
    /** Other chains that may be meant, where a mapping leaves several. */
    public final List<List<Frame>> alternatives;
    /** The id of the artifact. */
    public final String artifact;
    /** The id of its load. */
    public final String load;
    /** The kind of the artifact: elf, macho, r8, sourcemap, dart. */
    public final String kind;
    /** The position that was asked for. */
    public final String position;
    /** The frame as it was reported. */
    public final String raw;

    Answer(Json.Members m) {
        status = m.text("status");
        reason = m.text("reason");
        retry = m.flag("retry");
        frames = m.list("frames", Frame::new);
        alternatives = m.lists("alternatives", Frame::new);
        artifact = m.text("artifact");
        load = m.text("load");
        kind = m.text("kind");
        position = m.text("position");
        raw = m.text("raw");
    }

    /**
     * Reports whether the position has an answer.
     *
     * @return whether status is found
     */
    public boolean found() {
        return status.equals("found");
    }

    @Override
    public String toString() {
        return status + (found() ? " " + frames : ": " + reason);
    }
}
