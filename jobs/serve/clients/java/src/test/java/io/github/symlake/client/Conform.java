package io.github.symlake.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The faces of this client in the server's conformance test: cases come as JSON, one a line, and outcomes go. */
final class Conform {
    private final boolean futures;
    private final SymlakeClient client;
    private final String url;

    private Conform(boolean futures, String url, String token) {
        this.futures = futures;
        this.url = url;
        this.client = SymlakeClient.builder(url).token(token).retries(0).build();
    }

    /** Runs the face block or future. */
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Json.Members c = Json.parse(line);
            Map<String, Object> outcome = new LinkedHashMap<>();
            outcome.put("name", c.text("name"));
            try {
                new Conform(args[0].equals("future"), c.text("url"), c.text("token")).run(c, outcome);
            } catch (CompletionException e) {
                outcome.put("error", failure((SymlakeException) e.getCause()));
            } catch (SymlakeException e) {
                outcome.put("error", failure(e));
            }
            out.println(Json.write(outcome));
        }
        System.exit(0); // the threads of HttpClient are not waited for
    }

    private static Object failure(SymlakeException e) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("kind", e.kind().name().toLowerCase(Locale.ROOT).replace('_', '-'));
        all.put("reason", e.getMessage());
        all.put("retry", e.retryAfter().isPresent());
        return all;
    }

    private void run(Json.Members c, Map<String, Object> outcome) {
        List<Query> queries = c.list("queries", m -> new Query(m.text("artifact"), m.text("position")));
        List<RawStack> stacks = c.list("stacks", Conform::stack);
        switch (c.text("op")) {
            case "lookup":
                outcome.put("answers", answers(futures ? client.lookupAsync(queries).join() : client.lookup(queries)));
                return;
            case "symbolicate":
                String said = c.text("output").isEmpty() ? "records" : c.text("output");
                SymlakeClient.Output output = SymlakeClient.Output.valueOf(said.toUpperCase(Locale.ROOT));
                List<Object> results = new ArrayList<>();
                for (Result r : futures ? client.symbolicateAsync(stacks, output).join() : client.symbolicate(stacks, output)) {
                    Map<String, Object> one = new LinkedHashMap<>();
                    one.put("stacks", r.stacks.stream().map(Conform::stack).collect(Collectors.toList()));
                    one.put("text", r.text);
                    one.put("summary", summary(r.summary));
                    results.add(one);
                }
                outcome.put("results", results);
                return;
            case "slow":
                try (Stream<Stack> all = client.symbolicateStreamAsync(() -> new Stall(url), RawStack.of("")).join()) {
                    outcome.put("results", all.map(Conform::stack).collect(Collectors.toList()));
                }
                return;
            default: // cancel
                Stack first;
                try (Stream<Stack> all = futures ? client.symbolicateStreamAsync(stacks.get(0)).join() : client.symbolicateStream(stacks.get(0))) {
                    first = all.iterator().next();
                }
                CompletableFuture<List<Result>> given = client.symbolicateAsync(stacks, SymlakeClient.Output.BOTH);
                given.cancel(true);
                outcome.put("results", List.of(Map.of("stacks", List.of(stack(first)))));
                outcome.put("answers", answers(client.lookup(queries)));
        }
    }

    private static RawStack stack(Json.Members m) {
        RawStack s = RawStack.of(m.text("text"));
        s = m.has("platform") ? s.platform(m.text("platform")) : s;
        s = m.has("app") ? s.app(m.text("app")) : s;
        return m.has("artifacts") ? s.artifacts(m.texts("artifacts")) : s;
    }

    private static Object stack(Stack s) {
        Map<String, Object> one = new LinkedHashMap<>();
        one.put("format", s.format);
        one.put("threads", s.threads.stream().map(t -> Map.of("frames", answers(t))).collect(Collectors.toList()));
        return one;
    }

    private static Object summary(Summary s) {
        Map<String, Object> one = new LinkedHashMap<>();
        one.put("recognized", s.recognized);
        one.put("answered", s.answered);
        one.put("looks", s.looks);
        one.put("nearest", s.nearest);
        List<Object> unanswered = new ArrayList<>();
        for (Summary.Unanswered u : s.unanswered) {
            unanswered.add(Map.of("frames", u.frames, "image", u.image, "status", u.status, "reason", u.reason));
        }
        one.put("unanswered", unanswered);
        List<Object> unread = new ArrayList<>();
        for (Summary.Unread u : s.unread) {
            unread.add(Map.of("frames", u.frames, "path", u.path, "members", u.members, "reason", u.reason));
        }
        one.put("unread", unread);
        return one;
    }

    private static List<Object> answers(List<Answer> all) {
        List<Object> out = new ArrayList<>();
        for (Answer a : all) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("artifact", a.artifact);
            one.put("load", a.load);
            one.put("kind", a.kind);
            one.put("position", a.position);
            one.put("raw", a.raw);
            one.put("status", a.status);
            one.put("reason", a.reason);
            one.put("retry", a.retry);
            one.put("frames", frames(a.frames));
            one.put("alternatives", a.alternatives.stream().map(Conform::frames).collect(Collectors.toList()));
            out.add(one);
        }
        return out;
    }

    private static List<Object> frames(List<Frame> all) {
        List<Object> out = new ArrayList<>();
        for (Frame f : all) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("function", f.function);
            one.put("linkage", f.linkage);
            one.put("file", f.file);
            one.put("line", f.line);
            one.put("column", f.column);
            one.put("name", f.name);
            one.put("ignored", f.ignored);
            one.put("compiled_function", f.compiledFunction);
            out.add(one);
        }
        return out;
    }

    /** A text that stops in its middle until the server has counted a request that was too slow. */
    private static final class Stall extends InputStream {
        private final String url;
        private boolean begun;

        Stall(String url) {
            this.url = url;
        }

        @Override
        public int read(byte[] to, int at, int length) throws IOException {
            if (!begun) {
                begun = true;
                byte[] some = "#00 pc 0000".getBytes(StandardCharsets.UTF_8);
                System.arraycopy(some, 0, to, at, some.length);
                return some.length;
            }
            HttpClient http = HttpClient.newHttpClient();
            HttpRequest ask = HttpRequest.newBuilder(URI.create(url + "/metrics")).build();
            try {
                while (!http.send(ask, HttpResponse.BodyHandlers.ofString()).body().contains("code=\"408\"")) {
                    Thread.sleep(20);
                }
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            return -1;
        }

        @Override
        public int read() throws IOException {
            throw new IOException("read in pieces");
        }
    }
}
