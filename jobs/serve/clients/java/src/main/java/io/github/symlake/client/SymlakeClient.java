package io.github.symlake.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Asks a symlake serve. Safe for concurrent use.
 *
 * <p>A request that the server cannot answer now (429, 503) is sent again, after as many seconds as the server says. Nothing is
 * sent again once an answer has begun. Methods that wait throw {@link SymlakeException}; futures end with it. Cancelling a
 * future breaks its request off.
 */
public final class SymlakeClient {
    /** The form of an answer to raw stacks. */
    public enum Output {
        /** Stacks with the answers to their frames. */
        RECORDS,
        /** The text with its frames replaced. */
        TEXT,
        /** Both of them. */
        BOTH
    }

    private static final int ERROR_BYTES = 64 << 10;
    private static final int PIECE_BYTES = 16 << 10; // of a text that is read while it is sent
    private static final int PIECES = 4; // that wait

    private final HttpClient http;
    private final String url;
    private final String token;
    private final Duration timeout;
    private final int retries;
    private final Duration longestWait;

    private SymlakeClient(Builder b) {
        url = b.url;
        token = b.token;
        timeout = b.timeout;
        retries = b.retries;
        longestWait = b.longestWait;
        HttpClient.Version version = url.startsWith("https:") ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1;
        http = b.http != null ? b.http : HttpClient.newBuilder().version(version).connectTimeout(b.timeout).build();
    }

    /**
     * Begins a client.
     *
     * @param url of the server: http://HOST:PORT or https://HOST
     * @return its builder
     */
    public static Builder builder(String url) {
        return new Builder(url);
    }

    /** Settings of a client. */
    public static final class Builder {
        private final String url;
        private String token = "";
        private Duration timeout = Duration.ofSeconds(90);
        private int retries = 3;
        private Duration longestWait = Duration.ofSeconds(30);
        private HttpClient http;

        private Builder(String url) {
            URI u = URI.create(url);
            boolean known = "http".equals(u.getScheme()) || "https".equals(u.getScheme());
            if (!known || u.getHost() == null || u.getQuery() != null || u.getFragment() != null) {
                throw new IllegalArgumentException(url + " is no address of a server: want http://HOST:PORT or https://HOST");
            }
            this.url = url.replaceFirst("/+$", "");
        }

        /**
         * Sets the token that the server knows you by.
         *
         * @param token the token
         * @return this
         */
        public Builder token(String token) {
            this.token = Objects.requireNonNull(token, "token");
            return this;
        }

        /**
         * Sets how long an answer may take; of a stream, how long until it begins. 90 seconds.
         *
         * @param timeout the time
         * @return this
         */
        public Builder timeout(Duration timeout) {
            this.timeout = Objects.requireNonNull(timeout, "timeout");
            return this;
        }

        /**
         * Sets how often a request is sent again. 3.
         *
         * @param retries the number
         * @return this
         */
        public Builder retries(int retries) {
            this.retries = retries;
            return this;
        }

        /**
         * Sets the longest time that the client waits before it asks again. 30 seconds.
         *
         * @param longestWait the time
         * @return this
         */
        public Builder longestWait(Duration longestWait) {
            this.longestWait = Objects.requireNonNull(longestWait, "longestWait");
            return this;
        }

        /**
         * Sets the client for HTTP, with its TLS, proxy and executor.
         *
         * @param http the client
         * @return this
         */
        public Builder http(HttpClient http) {
            this.http = Objects.requireNonNull(http, "http");
            return this;
        }

        /**
         * Returns the client.
         *
         * @return the client
         */
        public SymlakeClient build() {
            return new SymlakeClient(this);
        }
    }

    /**
     * Answers positions of one artifact, in the order asked.
     *
     * @param artifact any name of it
     * @param positions places as people write them
     * @return the answers
     */
    public List<Answer> lookup(String artifact, String... positions) {
        List<Query> queries = new ArrayList<>();
        for (String position : positions) {
            queries.add(new Query(artifact, position));
        }
        return lookup(queries);
    }

    /**
     * Answers positions of many artifacts, in the order asked.
     *
     * @param queries the positions
     * @return the answers
     */
    public List<Answer> lookup(List<Query> queries) {
        return await(lookupAsync(queries));
    }

    /**
     * Answers positions of many artifacts, in the order asked.
     *
     * @param queries the positions
     * @return the answers, later
     */
    public CompletableFuture<List<Answer>> lookupAsync(List<Query> queries) {
        List<Map<String, Object>> asked = new ArrayList<>();
        for (Query q : queries) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("artifact", q.artifact);
            one.put("position", q.position);
            asked.add(one);
        }
        return list("/v1/lookup", Map.of("queries", asked), said -> said.list("answers", Answer::new));
    }

    /**
     * Answers raw stacks, in the order asked.
     *
     * @param stacks the raw stacks
     * @param output the form of the answers
     * @return the answers
     */
    public List<Result> symbolicate(List<RawStack> stacks, Output output) {
        return await(symbolicateAsync(stacks, output));
    }

    /**
     * Answers raw stacks, in the order asked.
     *
     * @param stacks the raw stacks
     * @param output the form of the answers
     * @return the answers, later
     */
    public CompletableFuture<List<Result>> symbolicateAsync(List<RawStack> stacks, Output output) {
        Map<String, Object> asked = new LinkedHashMap<>();
        asked.put("stacks", stacks.stream().map(RawStack::json).collect(Collectors.toList()));
        asked.put("output", output.name().toLowerCase(java.util.Locale.ROOT));
        return list("/v1/symbolicate", asked, said -> said.list("results", Result::new));
    }

    /**
     * Answers the stacks of a dump, crash report or log as they come. Close the stream; that breaks off what has not come.
     *
     * @param stack the text and its options
     * @return the stacks
     */
    public Stream<Stack> symbolicateStream(RawStack stack) {
        return await(symbolicateStreamAsync(stack));
    }

    /**
     * Answers the stacks of a dump, crash report or log as they come. Close the stream; that breaks off what has not come.
     *
     * @param stack the text and its options
     * @return the stacks, once the answer has begun
     */
    public CompletableFuture<Stream<Stack>> symbolicateStreamAsync(RawStack stack) {
        byte[] text = stack.text.getBytes(StandardCharsets.UTF_8);
        return streamed(stack, () -> BodyPublishers.ofByteArray(text), retries);
    }

    /**
     * Answers the stacks of a text that is read while it is sent. The request is sent once.
     *
     * @param text opens the text
     * @param options the options of a raw stack, without its text
     * @return the stacks, once the answer has begun
     */
    public CompletableFuture<Stream<Stack>> symbolicateStreamAsync(Supplier<InputStream> text, RawStack options) {
        return streamed(options, () -> published(text), 0);
    }

    /**
     * Returns a dump, crash report or log with its frames replaced.
     *
     * @param stack the text and its options
     * @return the text
     */
    public String symbolicateText(RawStack stack) {
        byte[] text = stack.text.getBytes(StandardCharsets.UTF_8);
        String path = "/v1/symbolicate" + query(stack.parameters());
        return await(whole(path, "text/plain", text, said -> said));
    }

    /** Reads a text in a thread of its own: a text that waits must not keep HttpClient from sending what has come. */
    private static BodyPublisher published(Supplier<InputStream> text) {
        return BodyPublishers.fromPublisher(subscriber -> {
            SubmissionPublisher<ByteBuffer> out = new SubmissionPublisher<>(ForkJoinPool.commonPool(), PIECES);
            out.subscribe(subscriber);
            Thread reader = new Thread(() -> {
                try (InputStream in = text.get()) {
                    byte[] piece = new byte[PIECE_BYTES];
                    for (int n = in.read(piece); n >= 0 && out.hasSubscribers(); n = in.read(piece)) {
                        out.submit(ByteBuffer.wrap(Arrays.copyOf(piece, n)));
                    }
                    out.close();
                } catch (IOException | RuntimeException e) {
                    out.closeExceptionally(e);
                }
            }, "symlake-text");
            reader.setDaemon(true);
            reader.start();
        });
    }

    private CompletableFuture<Stream<Stack>> streamed(RawStack options, Supplier<BodyPublisher> body, int again) {
        List<String> parameters = options.parameters();
        parameters.add("output");
        parameters.add("records");
        Job<InputStream> job = new Job<>();
        job.send(request("/v1/symbolicate" + query(parameters), "text/plain"), body, again);
        return job.thenUntilCancelled(SymlakeClient::stacks);
    }

    private static Stream<Stack> stacks(InputStream in) {
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        Iterator<Stack> each = new Iterator<>() {
            private String line;

            @Override
            public boolean hasNext() {
                try {
                    if (line == null) {
                        line = lines.readLine();
                    }
                } catch (IOException e) {
                    throw SymlakeException.truncated("the connection broke off in the middle of the answer", e);
                }
                return line != null;
            }

            @Override
            public Stack next() {
                if (!hasNext()) {
                    throw new java.util.NoSuchElementException();
                }
                Json.Members said = parsed(line);
                line = null;
                return new Stack(said);
            }
        };
        int how = Spliterator.ORDERED | Spliterator.NONNULL;
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(each, how), false).onClose(() -> {
            try {
                in.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /** Parses an answer, or a record of one. An answer that ends early has a member error. */
    private static Json.Members parsed(String text) {
        Json.Members said;
        try {
            said = Json.parse(text);
        } catch (IllegalArgumentException e) {
            throw SymlakeException.truncated("the connection broke off in the middle of the answer", e);
        }
        if (said.has("error")) {
            throw SymlakeException.truncated(said.text("error"), null);
        }
        return said;
    }

    private <T> CompletableFuture<T> list(String path, Object asked, Function<Json.Members, T> make) {
        return whole(path, "application/json", Json.write(asked).getBytes(StandardCharsets.UTF_8), said -> make.apply(parsed(said)));
    }

    private <T> CompletableFuture<T> whole(String path, String kind, byte[] body, Function<String, T> make) {
        Job<InputStream> job = new Job<>();
        job.send(request(path, kind), () -> BodyPublishers.ofByteArray(body), retries);
        CompletableFuture<T> out = job.thenUntilCancelled(in -> {
            try (in) {
                return make.apply(new String(in.readAllBytes(), StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw SymlakeException.truncated("the connection broke off in the middle of the answer", e);
            }
        });
        return out;
    }

    private HttpRequest.Builder request(String path, String kind) {
        HttpRequest.Builder r = HttpRequest.newBuilder(URI.create(url + path)).timeout(timeout).header("Content-Type", kind);
        return token.isEmpty() ? r : r.header("Authorization", "Bearer " + token);
    }

    private static String query(List<String> parameters) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < parameters.size(); i += 2) {
            out.append(i == 0 ? '?' : '&').append(parameters.get(i)).append('=');
            out.append(URLEncoder.encode(parameters.get(i + 1), StandardCharsets.UTF_8));
        }
        return out.toString();
    }

    /** A request on its way, through all its tries. */
    private final class Job<T> {
        private final CompletableFuture<InputStream> answered = new CompletableFuture<>();
        private volatile CompletableFuture<?> at;
        private volatile InputStream body;

        void send(HttpRequest.Builder request, Supplier<BodyPublisher> body, int left) {
            CompletableFuture<HttpResponse<InputStream>> one =
                    http.sendAsync(request.copy().POST(body.get()).build(), HttpResponse.BodyHandlers.ofInputStream());
            at = one;
            one.whenCompleteAsync((response, failed) -> {
                SymlakeException why;
                if (failed != null) {
                    why = connection(failed);
                } else if (response.statusCode() == 200) {
                    this.body = response.body();
                    if (!answered.complete(response.body())) {
                        end();
                    }
                    return;
                } else {
                    why = refused(response);
                }
                Duration wait = why.retryAfter().orElse(null);
                if (left == 0 || wait == null || wait.compareTo(longestWait) > 0) {
                    answered.completeExceptionally(why);
                    return;
                }
                CompletableFuture.delayedExecutor(wait.toMillis(), TimeUnit.MILLISECONDS).execute(() -> {
                    if (!answered.isDone()) {
                        send(request, body, left - 1);
                    }
                });
            });
        }

        /** Breaks the request off. */
        void end() {
            answered.cancel(true);
            if (at != null) {
                at.cancel(true);
            }
            InputStream in = body;
            if (in != null) {
                try {
                    in.close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }

        /** Makes a value of the answer. Cancelling the future that it returns breaks the request off. */
        <V> CompletableFuture<V> thenUntilCancelled(Function<InputStream, V> make) {
            CompletableFuture<V> out = answered.thenApplyAsync(make);
            out.whenComplete((value, failed) -> {
                if (out.isCancelled()) {
                    end();
                }
            });
            return out;
        }
    }

    private static SymlakeException refused(HttpResponse<InputStream> response) {
        String reason = "status " + response.statusCode();
        try (InputStream in = response.body()) {
            Json.Members said = Json.parse(new String(in.readNBytes(ERROR_BYTES), StandardCharsets.UTF_8));
            reason = said.has("error") ? said.text("error") : reason;
        } catch (IOException | IllegalArgumentException e) {
            reason += ", without a reason";
        }
        return SymlakeException.refused(response.statusCode(), reason, response.headers().firstValue("Retry-After").map(SymlakeClient::after).orElse(null));
    }

    /** Retry-After as a time: seconds, or a date. */
    private static Duration after(String said) {
        try {
            return Duration.ofSeconds(Math.max(0, Long.parseLong(said.trim())));
        } catch (NumberFormatException e) {
            try {
                Duration until = Duration.between(Instant.now(), DateTimeFormatter.RFC_1123_DATE_TIME.parse(said.trim(), Instant::from));
                return until.isNegative() ? Duration.ZERO : until;
            } catch (DateTimeException other) {
                return null;
            }
        }
    }

    private static SymlakeException connection(Throwable failed) {
        Throwable why = failed instanceof CompletionException && failed.getCause() != null ? failed.getCause() : failed;
        if (why instanceof HttpTimeoutException && !(why instanceof java.net.http.HttpConnectTimeoutException)) {
            return new SymlakeException(SymlakeException.Kind.TIMED_OUT, 0, "no word from the server in time", null, why);
        }
        Duration again = why instanceof java.net.ConnectException ? Duration.ofSeconds(1) : null;
        return new SymlakeException(SymlakeException.Kind.CONNECTION, 0, "the server cannot be reached: " + why, again, why);
    }

    private <T> T await(CompletableFuture<T> later) {
        try {
            return later.get(timeout.multipliedBy(retries + 1L).plus(longestWait.multipliedBy(retries)).toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SymlakeException) {
                throw (SymlakeException) e.getCause();
            }
            throw new SymlakeException(SymlakeException.Kind.CONNECTION, 0, "the request failed: " + e.getCause(), null, e.getCause());
        } catch (TimeoutException e) {
            later.cancel(true);
            throw new SymlakeException(SymlakeException.Kind.TIMED_OUT, 0, "no answer in time", null, e);
        } catch (InterruptedException e) {
            later.cancel(true);
            Thread.currentThread().interrupt();
            throw new SymlakeException(SymlakeException.Kind.CONNECTION, 0, "the thread was interrupted", null, e);
        }
    }
}
