package io.github.symlake.client;

import java.util.List;

/** The answer to one raw stack. */
public final class Result {
    /** The stacks in it, unless only text was asked for. */
    public final List<Stack> stacks;
    /** The text with its frames replaced, if it was asked for; else empty. */
    public final String text;
    /** The counts of its frames, null from an older server. */
    public final Summary summary;

    Result(Json.Members m) {
        stacks = m.list("stacks", Stack::new);
        text = m.text("text");
        summary = Summary.of(m);
    }
}
