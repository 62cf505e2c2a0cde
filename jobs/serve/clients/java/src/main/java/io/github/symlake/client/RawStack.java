package io.github.symlake.client;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A stack as it was reported, and what its text does not say. It does not change: each method returns another one. */
public final class RawStack {
    /** The report: one dump or several. */
    public final String text;

    final Map<String, Object> options;

    private RawStack(String text, Map<String, Object> options) {
        this.text = text;
        this.options = options;
    }

    /**
     * Makes a raw stack without options.
     *
     * @param text the report
     * @return the raw stack
     */
    public static RawStack of(String text) {
        return new RawStack(Objects.requireNonNull(text, "text"), Map.of());
    }

    private RawStack with(String name, Object value) {
        Map<String, Object> more = new LinkedHashMap<>(options);
        more.put(name, Objects.requireNonNull(value, name));
        return new RawStack(text, more);
    }

    /**
     * Says which app frames without an id belong to.
     *
     * @param app APP, or APP@BUILD
     * @return the raw stack with it
     */
    public RawStack app(String app) {
        return with("app", app);
    }

    /**
     * Says which build of the app they belong to.
     *
     * @param build the build
     * @return the raw stack with it
     */
    public RawStack build(String build) {
        return with("build", build);
    }

    /**
     * Says what system native frames are of: android, linux, ios, macos, java, javascript and others.
     *
     * @param platform the system
     * @return the raw stack with it
     */
    public RawStack platform(String platform) {
        return with("platform", platform);
    }

    /**
     * Says what frame 0 is: exact, return or stepped.
     *
     * @param frame0 one of these words
     * @return the raw stack with it
     */
    public RawStack frame0(String frame0) {
        return with("frame0", frame0);
    }

    /**
     * Names artifacts for frames that name none.
     *
     * @param names any names of them
     * @return the raw stack with them
     */
    public RawStack artifacts(Collection<String> names) {
        return with("artifacts", List.copyOf(names));
    }

    /**
     * Chooses how Java and Kotlin is retraced: r8 or list.
     *
     * @param school one of these words
     * @return the raw stack with it
     */
    public RawStack school(String school) {
        return with("school", school);
    }

    /**
     * Gives an expression for lines of Java and Kotlin, as R8's retrace takes it.
     *
     * @param regex the expression
     * @return the raw stack with it
     */
    public RawStack regex(String regex) {
        return with("regex", regex);
    }

    /**
     * Asks for what methods return and take.
     *
     * @param verbose whether it is wanted
     * @return the raw stack with it
     */
    public RawStack verbose(boolean verbose) {
        return with("verbose", verbose);
    }

    /**
     * Says where the instructions of a Dart program were mapped.
     *
     * @param isolate of the isolate, hexadecimal
     * @param vm of its virtual machine, hexadecimal
     * @return the raw stack with it
     */
    public RawStack dart(String isolate, String vm) {
        return with("isolate_start", isolate).with("vm_start", vm);
    }

    /**
     * Names artifacts of Dart's deferred loading units.
     *
     * @param units NUMBER:NAME of each
     * @return the raw stack with them
     */
    public RawStack units(Collection<String> units) {
        return with("units", List.copyOf(units));
    }

    Map<String, Object> json() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("text", text);
        all.putAll(options);
        return all;
    }

    /** The options as parameters of a query: names and values in turn. */
    List<String> parameters() {
        List<String> all = new ArrayList<>();
        options.forEach((name, value) -> {
            if (value instanceof List) {
                for (Object one : (List<?>) value) {
                    all.add(name.substring(0, name.length() - 1));
                    all.add((String) one);
                }
            } else {
                all.add(name);
                all.add(value.toString());
            }
        });
        return all;
    }
}
