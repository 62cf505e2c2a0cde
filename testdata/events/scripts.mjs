// Makes events with libraries for JavaScript: node scripts.mjs OUT. See scripts.sh.
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import vm from 'node:vm';

const require = createRequire(import.meta.url);
const out = process.argv[2];
Error.stackTraceLimit = 5;

// Members that say something of this machine or this moment. They are dropped.
const private_ = new Set(['server_name', 'contexts', 'modules', 'device', 'user', 'machineName', 'hostname', 'hostName', 'environment', 'processId', 'pid',
  'system', 'process', 'server', 'env', 'argv', 'stats', 'ip', 'ipAddress', 'cpu', 'memory', 'loadAverage', 'breadcrumbs', 'notifier', 'sdkProcessingMetadata', 'project_root',
  'context', 'session', 'code', 'pre', 'post', 'tags', 'host', 'rootDirectory', 'trace', 'resource', 'metas', 'root', 'cwd', 'params', 'details_env', '$device_id', 'sessionID', 'sessionHref']);
const times = new Set(['timestamp', 'time', 'startTimeUnixNano', 'endTimeUnixNano', 'timeUnixNano', 'occurredOn', 'sent_at']);
const ids = new Set(['event_id', 'trace_id', 'span_id', 'uuid', 'id', 'traceId', 'spanId', 'distinct_id', 'transaction_id', 'parent_id']);

function plain(v) {
  if (Array.isArray(v)) return v.map(plain);
  if (v === null || typeof v !== 'object') return v;
  const to = {};
  for (const [k, m] of Object.entries(v)) {
    if (private_.has(k)) continue;
    if (times.has(k)) to[k] = typeof m === 'number' ? 1700000000 : '2023-11-14T22:13:20Z';
    else if (ids.has(k) && typeof m === 'string') to[k] = m.replace(/[0-9a-f]/g, '0');
    else to[k] = plain(m);
  }
  return to;
}

function keep(name, ...values) {
  const text = values.map(v => JSON.stringify(plain(JSON.parse(typeof v === 'string' ? v : JSON.stringify(v))))).join('\n') + '\n';
  if (text.includes(process.cwd()) || text.includes('node:internal')) throw new Error(`${name} names this machine: ${text}`);
  writeFileSync(path.join(out, name), text);
}

new vm.Script(readFileSync(path.join(out, '../js/app.min.js'), 'utf8'), {filename: 'https://shop.example/assets/app.min.js'}).runInThisContext();
const failures = {};
for (const [name, text, stack] of await globalThis.run()) failures[name] = {text, stack};

// failed is the error of a failure.
function failed(name) {
  const {text, stack} = failures[name];
  const at = text.indexOf(': ');
  const e = new Error(text.slice(at + 2));
  e.name = text.slice(0, at);
  e.stack = stack.split('\n').filter(l => !l.includes('node:') && !l.includes('scripts.mjs')).join('\n');
  return e;
}
const caused = () => Object.assign(failed('private'), {cause: failed('array-cb')});
const until = async done => { for (let i = 0; i < 400 && !done(); i++) await new Promise(r => setTimeout(r, 10)); };

const makers = {
  async sentry() {
    for (const [lib, name] of [['@sentry/node', 'sentry-node.json'], ['@sentry/browser', 'sentry-browser.envelope']]) {
      const S = require(lib);
      let got;
      const transport = () => ({send: async e => { got ??= e; return {statusCode: 200}; }, flush: async () => true});
      const client = new (lib === '@sentry/node' ? S.NodeClient : S.BrowserClient)({
        dsn: 'https://0@shop.example/1', transport, integrations: [S.linkedErrorsIntegration()], stackParser: S.defaultStackParser ?? S.createStackParser(S.nodeStackLineParser?.() ?? (await import('@sentry/core')).nodeStackLineParser()),
      });
      const scope = new S.Scope();
      scope.setClient(client);
      client.init();
      client.captureException(caused(), {}, scope);
      await until(() => got);
      const event = got[1][0][1];
      if (lib === '@sentry/node') keep(name, event);
      else keep(name, got[0], got[1][0][0], event);
    }
  },
  async bugsnag() {
    const Bugsnag = require('@bugsnag/node');
    let got;
    const c = Bugsnag.createClient({apiKey: '0'.repeat(32), autoDetectErrors: false, autoTrackSessions: false, sendCode: false, logger: null});
    c._setDelivery(() => ({sendEvent(p, cb) { got = p; cb(); }, sendSession() {}}));
    c.notify(caused());
    await until(() => got);
    keep('bugsnag-node.json', got);
  },
  async rollbar() {
    const Rollbar = require('rollbar');
    let got;
    const r = new Rollbar({accessToken: '0'.repeat(32), autoInstrument: false, captureUncaught: false, nodeSourceMaps: false,
      onSendCallback: (_, __, p) => { got = p; }, transmit: false, verbose: false, reportLevel: 'debug', logLevel: 'debug'});
    r.error(caused());
    await until(() => got);
    keep('rollbar-node.json', {data: got});
  },
  async honeybadger() {
    const H = require('@honeybadger-io/js');
    let got;
    const h = H.factory({apiKey: '0', reportData: true, environment: 'production', logger: {debug() {}, info() {}, warn() {}, error() {}, log() {}}});
    h.__transport = {...h.__transport, defaultHeaders: () => ({}), send: async (_, p) => { got ??= p; return {statusCode: 201, body: '{}'}; }};
    h.notify(caused());
    await until(() => got);
    keep('honeybadger.json', got);
  },
  async airbrake() {
    const {Notifier} = require('@airbrake/node');
    const n = new Notifier({projectId: 1, projectKey: '0', remoteConfig: false, performanceStats: false, queryStats: false, queueStats: false});
    let got;
    n.addFilter(p => { got = p; return null; });
    n.notify(failed('private'));
    await until(() => got);
    keep('airbrake.json', got);
  },
  async raygun() {
    const R = require('raygun');
    let got;
    const c = new R.Client().init({apiKey: '0', batch: false, reportColumnNumbers: true, innerErrorFieldName: 'cause', disableUnhandledExceptionReporting: true});
    c.onBeforeSend(p => { got = p; return p; });
    c.transport = () => ({send() {}});
    c.send(caused()).catch(() => {});
    await until(() => got);
    keep('raygun-node.json', got);
  },
  async opentelemetry() {
    const {BasicTracerProvider, SimpleSpanProcessor} = require('@opentelemetry/sdk-trace-base');
    const {JsonTraceSerializer, JsonLogsSerializer} = require('@opentelemetry/otlp-transformer');
    let got;
    const exporter = {export(spans, cb) { got = spans; cb({code: 0}); }, shutdown: async () => {}};
    const t = new BasicTracerProvider({spanProcessors: [new SimpleSpanProcessor(exporter)]}).getTracer('shop');
    const span = t.startSpan('pay');
    span.recordException(failed('private'));
    span.end();
    await until(() => got);
    keep('otlp-span-js.json', Buffer.from(JsonTraceSerializer.serializeRequest(got)).toString());
  },
  async faro() {
    const {initializeFaro, BaseTransport} = require('@grafana/faro-core');
    const {getErrorDetails, parseStacktrace} = require('@grafana/faro-web-sdk');
    let got;
    class T extends BaseTransport { name = 't'; version = '1'; send(items) { got = items; } }
    const faro = initializeFaro({app: {name: 'shop'}, transports: [new T()], instrumentations: [], metas: [], parseStacktrace, dedupe: false, batching: {enabled: false}, isolate: true,
      internalLoggerLevel: 0, unpatchedConsole: console, globalObjectKey: 'faro', paused: false, preventGlobalExposure: true});
    faro.api.pushError(failed('array-cb'));
    await until(() => got);
    const items = [].concat(got);
    keep('faro.json', {meta: {}, exceptions: items.map(i => i.payload)});
  },
  async elastic() {
    let got;
    const agent = require('elastic-apm-node').start({serviceName: 'shop', instrument: false, captureExceptions: false, logLevel: 'off', centralConfig: false, metricsInterval: '0s', cloudProvider: 'none', captureSpanStackTraces: false,
      sourceLinesErrorAppFrames: 0, sourceLinesErrorLibraryFrames: 0, captureErrorLogStackTraces: 'never',
      transport: () => ({config() {}, sendError(e) { got = e; }, sendSpan() {}, sendTransaction() {}, sendMetricSet() {}, addMetadataFilter() {}, flush(o, cb) { (cb ?? o)?.(); }, lambdaStart() {}, destroy() {}, supportsKeepingUnsampledTransaction: () => true, setExtraMetadata() {}})});
    agent.captureError(failed('private'));
    await until(() => got);
    keep('elastic-node.ndjson', {metadata: {service: {name: 'shop'}}}, {error: got});
  },
  async datadog() {
    const {computeStackTrace, toStackTraceString} = require('@datadog/browser-core');
    const e = caused();
    keep('datadog-browser.json', {type: 'error', date: 1700000000, error: {message: e.message, source: 'source', source_type: 'browser', type: e.name, handling: 'unhandled', stack: toStackTraceString(computeStackTrace(e)),
      causes: [{message: e.cause.message, source: 'source', type: e.cause.name, stack: toStackTraceString(computeStackTrace(e.cause))}]}});
  },
  async posthog() {
    const {PostHog} = require('posthog-node');
    const got = [];
    const p = new PostHog('phc_0', {host: 'https://shop.example', flushAt: 1, fetch: async (_, o) => { got.push(o.body); return {status: 200, text: async () => '{}', json: async () => ({}), headers: new Map()}; }, disableCompression: true, disableGeoip: true});
    p.captureException(failed('private'), 'someone');
    await until(() => got.length);
    keep('posthog.json', typeof got[0] === 'string' ? got[0] : Buffer.from(got[0]).toString());
  },
};
for (const [name, make] of Object.entries(makers)) {
  try {
    await make();
  } catch (e) {
    console.error(name, e);
    process.exitCode = 1;
  }
}
process.exit();
