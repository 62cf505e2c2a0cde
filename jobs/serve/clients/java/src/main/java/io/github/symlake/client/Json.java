package io.github.symlake.client;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The JSON of the server: values are Map, List, String, Double, Boolean and null. */
final class Json {
    private static final int DEEPEST = 64;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Parses an object; IllegalArgumentException: the text is none. */
    static Members parse(String text) {
        Json in = new Json(text);
        Object value = in.value(0);
        in.space();
        if (in.at != text.length() || !(value instanceof Map)) {
            throw in.wrong();
        }
        return new Members((Map<?, ?>) value);
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at character " + at);
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean next(char c) {
        space();
        if (at < text.length() && text.charAt(at) == c) {
            at++;
            return true;
        }
        return false;
    }

    private void want(char c) {
        if (!next(c)) {
            throw wrong();
        }
    }

    private Object value(int depth) {
        if (depth > DEEPEST) {
            throw wrong();
        }
        if (next('{')) {
            Map<String, Object> members = new LinkedHashMap<>();
            for (boolean more = !next('}'); more; more = !close('}')) {
                want('"');
                String name = string();
                want(':');
                members.put(name, value(depth + 1));
            }
            return members;
        }
        if (next('[')) {
            List<Object> elements = new ArrayList<>();
            for (boolean more = !next(']'); more; more = !close(']')) {
                elements.add(value(depth + 1));
            }
            return elements;
        }
        return next('"') ? string() : word();
    }

    /** Takes a comma, or the bracket that ends the value. */
    private boolean close(char bracket) {
        if (next(bracket)) {
            return true;
        }
        want(',');
        return false;
    }

    private Object word() {
        int from = at;
        while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(from, at);
        switch (word) {
            case "true":
                return Boolean.TRUE;
            case "false":
                return Boolean.FALSE;
            case "null":
                return null;
            default:
                try {
                    return Double.valueOf(word);
                } catch (NumberFormatException e) {
                    throw wrong();
                }
        }
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return out.toString();
            }
            out.append(c == '\\' ? escaped() : c);
        }
        throw wrong();
    }

    private char escaped() {
        if (at >= text.length()) {
            throw wrong();
        }
        char c = text.charAt(at++);
        switch (c) {
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case '"':
            case '\\':
            case '/':
                return c;
            case 'u':
                break;
            default:
                throw wrong();
        }
        int code = 0;
        for (int end = at + 4; at < end; at++) {
            int digit = at < text.length() ? Character.digit(text.charAt(at), 16) : -1;
            if (digit < 0) {
                throw wrong();
            }
            code = 16 * code + digit;
        }
        return (char) code;
    }

    /** Writes Map, Collection, String, Integer and Boolean. */
    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(out, value);
        return out.toString();
    }

    private static void write(StringBuilder out, Object value) {
        if (value instanceof Map) {
            char before = '{';
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                write(out.append(before), member.getKey());
                write(out.append(':'), member.getValue());
                before = ',';
            }
            out.append(before == '{' ? "{}" : "}");
        } else if (value instanceof Collection) {
            char before = '[';
            for (Object element : (Collection<?>) value) {
                write(out.append(before), element);
                before = ',';
            }
            out.append(before == '[' ? "[]" : "]");
        } else if (value instanceof String) {
            quote(out, (String) value);
        } else {
            out.append(value);
        }
    }

    private static void quote(StringBuilder out, String s) {
        out.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            boolean half = Character.isSurrogate(c);
            if (half && Character.isHighSurrogate(c) && i + 1 < s.length() && Character.isLowSurrogate(s.charAt(i + 1))) {
                out.append(c).append(s.charAt(++i));
            } else if (half || c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    /** The members of an object. A member that is absent, or of another type, is empty. */
    static final class Members {
        private final Map<?, ?> all;

        Members(Map<?, ?> all) {
            this.all = all;
        }

        boolean has(String name) {
            return all.get(name) != null;
        }

        String text(String name) {
            Object v = all.get(name);
            return v instanceof String ? (String) v : "";
        }

        long number(String name) {
            Object v = all.get(name);
            return v instanceof Double ? ((Double) v).longValue() : 0;
        }

        boolean flag(String name) {
            return Boolean.TRUE.equals(all.get(name));
        }

        Members members(String name) {
            Object v = all.get(name);
            return new Members(v instanceof Map ? (Map<?, ?>) v : Map.of());
        }

        List<String> texts(String name) {
            List<String> out = new ArrayList<>();
            for (Object one : elements(all.get(name))) {
                if (one instanceof String) {
                    out.add((String) one);
                }
            }
            return Collections.unmodifiableList(out);
        }

        <T> List<T> list(String name, Function<Members, T> make) {
            return listOf(all.get(name), make);
        }

        <T> List<List<T>> lists(String name, Function<Members, T> make) {
            List<List<T>> out = new ArrayList<>();
            for (Object one : elements(all.get(name))) {
                out.add(listOf(one, make));
            }
            return Collections.unmodifiableList(out);
        }

        private static List<?> elements(Object v) {
            return v instanceof List ? (List<?>) v : List.of();
        }

        private static <T> List<T> listOf(Object v, Function<Members, T> make) {
            List<T> out = new ArrayList<>();
            for (Object one : elements(v)) {
                if (one instanceof Map) {
                    out.add(make.apply(new Members((Map<?, ?>) one)));
                }
            }
            return Collections.unmodifiableList(out);
        }
    }
}
