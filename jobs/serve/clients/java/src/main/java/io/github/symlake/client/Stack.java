package io.github.symlake.client;

import java.util.List;

/** One dump of a raw stack. */
public final class Stack {
    /** The dialect of the report. */
    public final String format;
    /** The threads; each is its frames, innermost first. */
    public final List<List<Answer>> threads;

    /** The counts of a stream: of its last element, which has no threads, if nothing was recognized or a part was not read. Else null. */
    public final Summary summary;

    Stack(Json.Members m) {
        format = m.text("format");
        summary = Summary.of(m);
        threads = m.list("threads", thread -> thread.list("frames", Answer::new));
    }
}
