#!/usr/bin/env bash
# scripts.sh CACHE: makes the events of libraries for JavaScript anew. Node throws the failures of ../js/app.min.js, and each
# library hands its payload to scripts.mjs instead of its service.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
npm=$1/npm-events
packages="@sentry/node@11.12.0 @sentry/browser@11.12.0 @bugsnag/js@9.0.0 rollbar@3.1.0 @honeybadger-io/js@6.16.5 @airbrake/node@2.1.9 raygun@2.2.8 \
@opentelemetry/sdk-trace-base@2.12.1 @opentelemetry/otlp-transformer@0.301.1 @grafana/faro-core@2.12.1 @grafana/faro-web-sdk@2.12.1 elastic-apm-node@4.18.0 @datadog/browser-core@7.16.2 posthog-node@5.70.0"
mkdir -p "$npm"
if [ "$(cat "$npm/installed" 2>/dev/null)" != "$packages" ]; then
  (cd "$npm" && { [ -e package.json ] || npm init -y >/dev/null; } && npm install --silent --legacy-peer-deps --no-audit --no-fund --ignore-scripts $packages >/dev/null)
  echo "$packages" > "$npm/installed"
fi
cp "$here/scripts.mjs" "$npm/scripts.mjs"
cd "$npm" && node scripts.mjs "$here"
