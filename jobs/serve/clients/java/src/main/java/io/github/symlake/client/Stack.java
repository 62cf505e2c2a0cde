package io.github.symlake.client;

import java.util.List;

/** One dump of a raw stack. */
public final class Stack {
    /** The dialect of the report. */
    public final String format;
    /** The threads; each is its frames, innermost first. */
    public final List<List<Answer>> threads;

    Stack(Json.Members m) {
        format = m.text("format");
        threads = m.list("threads", thread -> thread.list("frames", Answer::new));
    }
}
