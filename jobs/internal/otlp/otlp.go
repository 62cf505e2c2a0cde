// Package otlp sends the spans of OpenTelemetry's SDK to a collector, over OTLP in protobuf and HTTP. OpenTelemetry's own
// exporter brings gRPC, which no command uses: 69 packages, 3 MB of the program, and HTML templates for gRPC's pages.
//
// The variables of OpenTelemetry's specification say where the spans go: OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT,
// _COMPRESSION, _CERTIFICATE, _CLIENT_CERTIFICATE, _CLIENT_KEY, and the same with OTLP_TRACES_.
package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Exporter sends spans. It is safe for concurrent use.
type Exporter struct {
	url     string
	headers http.Header
	gzip    bool
	timeout time.Duration // of one batch, with its retries
	client  *http.Client
}

// firstWait is the time before the first retry; each further one waits twice as long, unless the collector says how long.
const firstWait = 200 * time.Millisecond

// maxAnswer bounds the text of a refusal that an error repeats.
const maxAnswer = 512

// Asked reports whether a variable of the environment names a collector.
func Asked() bool { return variable("ENDPOINT") != "" }

// variable returns the setting of traces, else the setting of all signals.
func variable(name string) string {
	if v := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_" + name); v != "" {
		return v
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_" + name)
}

// New returns an exporter to the collector that the environment names. timeout bounds a batch where the environment does
// not.
func New(timeout time.Duration) (*Exporter, error) {
	if p := variable("PROTOCOL"); p != "" && p != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q: want http/protobuf", p)
	}
	e := &Exporter{url: os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), headers: http.Header{}, timeout: timeout, gzip: variable("COMPRESSION") == "gzip"}
	if e.url == "" {
		e.url = strings.TrimSuffix(os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "/") + "/v1/traces"
	}
	if u, err := url.Parse(e.url); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT %q: want http:// or https:// and a host", e.url)
	}
	for pair := range strings.SplitSeq(variable("HEADERS"), ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			continue
		}
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: value of %s: %w", key, err)
		}
		e.headers.Set(strings.TrimSpace(key), value)
	}
	if t := variable("TIMEOUT"); t != "" {
		ms, err := strconv.Atoi(t)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is %q: want milliseconds", t)
		}
		e.timeout = time.Duration(ms) * time.Millisecond
	}
	config, err := tlsConfig(variable("CERTIFICATE"), variable("CLIENT_CERTIFICATE"), variable("CLIENT_KEY"))
	if err != nil {
		return nil, fmt.Errorf("certificates of OTEL_EXPORTER_OTLP: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	e.client = &http.Client{Transport: transport}
	return e, nil
}

// tlsConfig trusts the authorities of the file ca, and shows the certificate of the other two; "": the defaults.
func tlsConfig(ca, certificate, key string) (*tls.Config, error) {
	if ca == "" && certificate == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", ca)
		}
	}
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// ExportSpans sends a batch. It tries again while the collector is overloaded or away, until the time-out.
func (e *Exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	// TracesData has the fields of the service's request.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: resourceSpans(spans)})
	if err != nil {
		return err
	}
	if e.gzip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(body); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		body = packed.Bytes()
	}
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	for wait := firstWait; ; wait *= 2 {
		again, after, err := e.post(ctx, body)
		if err == nil || !again {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(max(wait, after)):
		}
	}
}

// post sends one request. again: the collector may take it later, in the time after at the earliest.
func (e *Exporter) post(ctx context.Context, body []byte) (again bool, after time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	for key, values := range e.headers {
		r.Header[key] = values
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	if e.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := e.client.Do(r)
	if err != nil {
		return ctx.Err() == nil, 0, err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if answer.StatusCode/100 == 2 {
		return false, 0, nil
	}
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	if s, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
		after = time.Duration(s) * time.Second
	}
	return again, after, fmt.Errorf("POST %s: %s: %s", e.url, answer.Status, bytes.TrimSpace(text))
}

// Shutdown closes connections. No batch is sent after it.
func (e *Exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}
