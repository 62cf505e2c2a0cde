package io.github.symlake.client;

import java.util.Objects;

/** One position of an artifact. */
public final class Query {
    /** Any name of the artifact: build-id, debug-id, file name, APP@BUILD. */
    public final String artifact;
    /** The place as people write it: 0x1f3a, +0x1f3a, NAME+0x1f3a, LINE:COLUMN, CLASS.METHOD:LINE. */
    public final String position;

    /**
     * Makes a query.
     *
     * @param artifact any name of the artifact
     * @param position the place as people write it
     */
    public Query(String artifact, String position) {
        this.artifact = Objects.requireNonNull(artifact, "artifact");
        this.position = Objects.requireNonNull(position, "position");
    }
}
