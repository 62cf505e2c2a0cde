import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Makes events with libraries for Java: Events OUT. See jvm.sh. */
public class Events {
  static final ObjectMapper JSON = new ObjectMapper();
  static Path out;

  /** Members that say something of this machine or this moment. They are dropped. */
  static final Set<String> PRIVATE = Set.of("device", "server_name", "contexts", "user", "hostname", "hostName", "HOSTNAME", "machineName", "environment", "notifier", "resource", "server",
      "sdk", "modules", "session", "request", "context", "client", "stats", "details_env", "threads", "breadcrumbs", "trace_id", "app");
  static final Set<String> TIMES = Set.of("timestamp", "@timestamp", "@version", "occurredOn", "timeMillis", "epochSecond", "nanoOfSecond", "nanoseconds", "sequenceNumber", "startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "observedTimeUnixNano", "threadId", "threadPriority", "pid");
  static final Set<String> IDS = Set.of("event_id", "uuid", "id", "traceId", "spanId");

  static JsonNode plain(JsonNode n) {
    if (n instanceof ArrayNode a) {
      for (int i = 0; i < a.size(); i++) a.set(i, plain(a.get(i)));
    } else if (n instanceof ObjectNode o) {
      List<String> names = new ArrayList<>();
      o.fieldNames().forEachRemaining(names::add);
      for (String k : names) {
        JsonNode v = o.get(k);
        if (PRIVATE.contains(k)) o.remove(k);
        else if (TIMES.contains(k) && v.isTextual()) o.put(k, "2023-11-14T22:13:20Z");
        else if (TIMES.contains(k) && v.isNumber()) o.put(k, 1700000000);
        else if (IDS.contains(k) && v.isTextual()) o.put(k, v.asText().replaceAll("[0-9a-f]", "0"));
        else plain(v);
      }
    }
    return n;
  }

  static void keep(String name, String... lines) throws Exception {
    StringBuilder text = new StringBuilder();
    for (String l : lines) text.append(JSON.writeValueAsString(plain(JSON.readTree(l)))).append('\n');
    Files.writeString(out.resolve(name), text);
  }

  /** The exception of the shrunken program, without the frames of this one. */
  static Throwable failed() {
    try {
      com.example.shop.Main.main(new String[] {"tea", "cups"});
      throw new AssertionError("it did not fail");
    } catch (RuntimeException e) {
      for (Throwable t = e; t != null; t = t.getCause())
        t.setStackTrace(Arrays.stream(t.getStackTrace()).filter(f -> !f.getClassName().startsWith("Events")).toArray(StackTraceElement[]::new));
      return e;
    }
  }

  interface Maker {
    void make() throws Exception;
  }

  static void sentry() throws Exception {
    io.sentry.SentryOptions o = new io.sentry.SentryOptions();
    o.setDsn("https://0@shop.example/1");
    o.setAttachThreads(false);
    AtomicReference<io.sentry.SentryEvent> got = new AtomicReference<>();
    o.setBeforeSend((e, h) -> { got.set(e); return null; });
    io.sentry.Sentry.init(o);
    io.sentry.Sentry.captureException(failed());
    StringWriter w = new StringWriter();
    o.getSerializer().serialize(got.get(), w);
    keep("sentry-java.json", w.toString());
  }

  static void bugsnag() throws Exception {
    AtomicReference<String> got = new AtomicReference<>();
    com.bugsnag.Bugsnag b = new com.bugsnag.Bugsnag("0".repeat(32), false);
    b.setAutoCaptureSessions(false);
    b.setDelivery(new com.bugsnag.delivery.Delivery() {
      public void deliver(com.bugsnag.serialization.Serializer s, Object p, Map<String, String> headers) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try { s.writeToStream(bytes, p); } catch (Exception e) { throw new RuntimeException(e); }
        got.set(bytes.toString(StandardCharsets.UTF_8));
      }
      public void close() {}
    });
    b.notify(failed());
    keep("bugsnag-java.json", got.get());
  }

  static void rollbar() throws Exception {
    AtomicReference<String> got = new AtomicReference<>();
    com.rollbar.notifier.Rollbar r = new com.rollbar.notifier.Rollbar(com.rollbar.notifier.config.ConfigBuilder.withAccessToken("0").sender(new com.rollbar.notifier.sender.Sender() {
      public void send(com.rollbar.api.payload.Payload p) { got.set(new com.rollbar.notifier.sender.json.JsonSerializerImpl().toJson(p)); }
      public void addListener(com.rollbar.notifier.sender.listener.SenderListener l) {}
      public List<com.rollbar.notifier.sender.listener.SenderListener> getListeners() { return List.of(); }
      public void close(boolean wait) {}
      public void close() {}
    }).build());
    r.error(failed());
    keep("rollbar-java.json", got.get());
  }

  static void raygun() throws Exception {
    AtomicReference<com.mindscapehq.raygun4java.core.messages.RaygunMessage> got = new AtomicReference<>();
    com.mindscapehq.raygun4java.core.RaygunClient c = new com.mindscapehq.raygun4java.core.RaygunClient("0");
    c.setOnBeforeSend((client, m) -> { got.set(m); return null; });
    c.send(failed());
    keep("raygun-java.json", new com.google.gson.Gson().toJson(got.get()));
  }

  static void airbrake() throws Exception {
    AtomicReference<io.airbrake.javabrake.Notice> got = new AtomicReference<>();
    io.airbrake.javabrake.Config c = new io.airbrake.javabrake.Config();
    c.projectId = 1;
    c.projectKey = "0";
    c.remoteConfig = false;
    got.set(new io.airbrake.javabrake.Notice(failed()));
    keep("airbrake-java.json", new com.google.gson.Gson().toJson(got.get()));
  }

  static void honeybadger() throws Exception {
    io.honeybadger.reporter.config.StandardConfigContext c = new io.honeybadger.reporter.config.StandardConfigContext("0");
    io.honeybadger.reporter.dto.NoticeDetails d = new io.honeybadger.reporter.dto.NoticeDetails(c, failed());
    keep("honeybadger-java.json", JSON.writeValueAsString(Map.of("error", d)));
  }

  static void opentelemetry() throws Exception {
    AtomicReference<String> got = new AtomicReference<>();
    java.util.logging.Logger log = java.util.logging.Logger.getLogger("");
    for (java.util.logging.Handler h : log.getHandlers()) log.removeHandler(h);
    log.addHandler(new java.util.logging.Handler() {
      public void publish(java.util.logging.LogRecord r) { if (r.getMessage().startsWith("{")) got.set(r.getMessage()); }
      public void flush() {}
      public void close() {}
    });
    io.opentelemetry.sdk.trace.SdkTracerProvider p = io.opentelemetry.sdk.trace.SdkTracerProvider.builder()
        .addSpanProcessor(io.opentelemetry.sdk.trace.export.SimpleSpanProcessor.create(io.opentelemetry.exporter.logging.otlp.OtlpJsonLoggingSpanExporter.create())).build();
    io.opentelemetry.api.trace.Span s = p.get("shop").spanBuilder("pay").startSpan();
    s.recordException(failed());
    s.end();
    p.shutdown().join(10, TimeUnit.SECONDS);
    keep("otlp-span-java.json", "{\"resourceSpans\":[" + got.get() + "]}");
    io.opentelemetry.sdk.logs.SdkLoggerProvider l = io.opentelemetry.sdk.logs.SdkLoggerProvider.builder()
        .addLogRecordProcessor(io.opentelemetry.sdk.logs.export.SimpleLogRecordProcessor.create(io.opentelemetry.exporter.logging.otlp.OtlpJsonLoggingLogRecordExporter.create())).build();
    l.get("shop").logRecordBuilder().setBody("cannot pay").setException(failed()).emit();
    l.shutdown().join(10, TimeUnit.SECONDS);
    keep("otlp-log-java.json", "{\"resourceLogs\":[" + got.get() + "]}");
  }

  static void logs() throws Exception {
    ch.qos.logback.classic.LoggerContext lc = new ch.qos.logback.classic.LoggerContext();
    lc.setMDCAdapter(new ch.qos.logback.classic.util.LogbackMDCAdapter());
    ch.qos.logback.classic.Logger log = lc.getLogger("shop");
    ch.qos.logback.classic.spi.LoggingEvent e = new ch.qos.logback.classic.spi.LoggingEvent("shop", log, ch.qos.logback.classic.Level.ERROR, "cannot pay", failed(), null);
    ch.qos.logback.classic.encoder.JsonEncoder json = new ch.qos.logback.classic.encoder.JsonEncoder();
    json.setContext(lc);
    json.start();
    keep("logback.ndjson", new String(json.encode(e), StandardCharsets.UTF_8));
    net.logstash.logback.encoder.LogstashEncoder logstash = new net.logstash.logback.encoder.LogstashEncoder();
    logstash.setContext(lc);
    logstash.start();
    co.elastic.logging.logback.EcsEncoder ecs = new co.elastic.logging.logback.EcsEncoder();
    ecs.setContext(lc);
    ecs.start();
    co.elastic.logging.logback.EcsEncoder list = new co.elastic.logging.logback.EcsEncoder();
    list.setContext(lc);
    list.setStackTraceAsArray(true);
    list.start();
    keep("logstash.ndjson", new String(logstash.encode(e), StandardCharsets.UTF_8), new String(logstash.encode(e), StandardCharsets.UTF_8));
    keep("ecs.ndjson", new String(ecs.encode(e), StandardCharsets.UTF_8));
    keep("ecs-list.ndjson", new String(list.encode(e), StandardCharsets.UTF_8));

    org.apache.logging.log4j.core.config.DefaultConfiguration config = new org.apache.logging.log4j.core.config.DefaultConfiguration();
    org.apache.logging.log4j.core.LogEvent event = org.apache.logging.log4j.core.impl.Log4jLogEvent.newBuilder().setLoggerName("shop").setLevel(org.apache.logging.log4j.Level.ERROR)
        .setMessage(new org.apache.logging.log4j.message.SimpleMessage("cannot pay")).setThrown(failed()).setThreadName("main").build();
    keep("log4j-layout.json", org.apache.logging.log4j.core.layout.JsonLayout.newBuilder().setConfiguration(config).setProperties(false).setComplete(false).setCompact(true).build().toSerializable(event));
    String template = "{\"class\":{\"$resolver\":\"exception\",\"field\":\"className\"},\"stack\":{\"$resolver\":\"exception\",\"field\":\"stackTrace\",\"stackTrace\":{\"stringified\":false}},"
        + "\"root\":{\"$resolver\":\"exceptionRootCause\",\"field\":\"stackTrace\",\"stackTrace\":{\"stringified\":true}}}";
    keep("log4j-template.json", org.apache.logging.log4j.layout.template.json.JsonTemplateLayout.newBuilder().setConfiguration(config).setEventTemplate(template).build().toSerializable(event));
  }

  static void mappers() throws Exception {
    keep("jackson.json", JSON.writeValueAsString(failed()));
    keep("gson.json", new com.google.gson.Gson().toJson(failed().getCause().getStackTrace()));
  }

  public static void main(String[] args) throws Exception {
    out = Path.of(args[0]);
    ((ch.qos.logback.classic.Logger) org.slf4j.LoggerFactory.getLogger("ROOT")).setLevel(ch.qos.logback.classic.Level.OFF);
    for (Maker m : new Maker[] {Events::sentry, Events::bugsnag, Events::rollbar, Events::raygun, Events::airbrake, Events::honeybadger, Events::opentelemetry, Events::logs, Events::mappers}) {
      try {
        m.make();
      } catch (Throwable e) {
        e.printStackTrace();
      }
    }
    System.exit(0);
  }
}
