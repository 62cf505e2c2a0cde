package io.github.symlake.client;

import java.util.List;

/** A place in the source. */
public final class Frame {
    /** The function, readable; empty: unknown. */
    public final String function;
    /** The name that the linker knows. */
    public final String linkage;
    /** The file; empty: unknown. */
    public final String file;
    /** The line, from 1; 0: unknown. */
    public final int line;
    /** The column, from 1; 0: unknown. */
    public final int column;
    /** Of scripts: the identifier at this place. */
    public final String name;
    /** Of scripts: whether the source is none of the application's own. */
    public final boolean ignored;
    /** Of scripts: the function of the script around this place, where it has another name; empty: it has not. */
    public final String compiledFunction;
    /** The number of the first line of {@link #context}. */
    public final int contextFirst;
    /** Lines of source around the line, where they were asked for and are kept. */
    public final List<String> context;

    Frame(Json.Members m) {
        function = m.text("function");
        linkage = m.text("linkage");
        file = m.text("file");
        line = (int) m.number("line");
        column = (int) m.number("column");
        name = m.text("name");
        ignored = m.flag("ignored");
        compiledFunction = m.text("compiled_function");
        Json.Members lines = m.members("context");
        contextFirst = (int) lines.number("first");
        context = lines.texts("lines");
    }

    @Override
    public String toString() {
        return function + " (" + file + ":" + line + ")";
    }
}
