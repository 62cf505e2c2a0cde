package relay

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// target is the next receiver.
type target struct {
	url    string
	grpc   bool
	header http.Header
	client *http.Client
}

// mostReply are the bytes of a receiver's reply that are read.
const mostReply = 1 << 20

// parse reads the URL of a receiver:
//
//	http://host:4318    OTLP/HTTP, at the path that it has by convention; a path in the URL takes its place
//	https://host
//	grpc://host:4317    OTLP/gRPC
//	grpcs://host        with TLS
func parse(text string, header http.Header) (target, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return target{}, fmt.Errorf("%.200s: want http://HOST:4318, https://HOST, grpc://HOST:4317 or grpcs://HOST", text)
	}
	t := target{header: header}
	var speaks http.Protocols
	switch u.Scheme {
	case "http", "https":
		speaks.SetHTTP1(true)
		speaks.SetHTTP2(true)
		if u.Path == "" || u.Path == "/" {
			u.Path = HTTPPath
		}
	case "grpc", "grpcs":
		if u.Path != "" && u.Path != "/" {
			return target{}, fmt.Errorf("%.200s: gRPC has a path of its own: leave out %s", text, u.Path)
		}
		t.grpc = true
		if u.Scheme == "grpc" {
			u.Scheme = "http"
			speaks.SetUnencryptedHTTP2(true)
		} else {
			u.Scheme = "https"
			speaks.SetHTTP2(true)
		}
		u.Path = GRPCPath
	default:
		return target{}, fmt.Errorf("%.200s: want http, https, grpc or grpcs, not %q", text, u.Scheme)
	}
	t.url = u.String()
	t.client = &http.Client{
		Transport: &http.Transport{Protocols: &speaks, Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return t, nil
}

// packBytes is the length from which a message is compressed.
const packBytes = 1 << 10

// send sends a message, and returns what its exporter is told.
func (t *target) send(ctx context.Context, m *Message, body []byte) *Reply {
	header := http.Header{}
	for name, values := range t.header {
		header[name] = values
	}
	if t.grpc {
		header.Set("Content-Type", "application/grpc+proto")
		header.Set("Te", "trailers")
		header.Set("Grpc-Accept-Encoding", "identity")
		body = frame(body)
	} else {
		header.Set("Content-Type", contentType(m.JSON))
		if len(body) >= packBytes {
			body = pack(body)
			header.Set("Content-Encoding", "gzip")
		}
	}
	header.Set("User-Agent", "symlake")
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return &Reply{Code: http.StatusBadGateway, Reason: "the next receiver cannot be asked"}
	}
	r.Header = header
	answer, err := t.client.Do(r)
	if err != nil {
		return away(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostReply+1))
	if err != nil || len(text) > mostReply {
		return away(err)
	}
	if t.grpc {
		return grpcReply(answer, text)
	}
	return httpReply(answer, text, m.JSON)
}

// pack compresses a message.
func pack(body []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // the level is one
	_, _ = z.Write(body)                              // a buffer takes all
	_ = z.Close()
	return out.Bytes()
}

// away is the reply for a receiver that does not answer.
func away(err error) *Reply {
	if errors.Is(err, context.DeadlineExceeded) {
		return &Reply{Code: http.StatusServiceUnavailable, Reason: "the next receiver does not answer in time: send again", After: 1}
	}
	return &Reply{Code: http.StatusServiceUnavailable, Reason: "the next receiver is out of reach: send again", After: 1}
}

// httpReply reads a receiver's answer over HTTP. A fault of the message goes back to its exporter. Another fault is between the
// receiver and this server: the exporter may send again, for the fault can be mended.
func httpReply(r *http.Response, body []byte, json bool) *Reply {
	switch {
	case r.StatusCode >= 200 && r.StatusCode < 300:
		if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != contentType(json) {
			body = nil
		}
		return &Reply{Code: http.StatusOK, Body: body}
	case r.StatusCode == http.StatusBadRequest, r.StatusCode == http.StatusRequestEntityTooLarge, r.StatusCode == http.StatusUnprocessableEntity:
		code := r.StatusCode
		if code == http.StatusUnprocessableEntity {
			code = http.StatusBadRequest
		}
		return &Reply{Code: code, Reason: fmt.Sprintf("the next receiver refuses the message: HTTP %d", r.StatusCode)}
	case r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusServiceUnavailable:
		return &Reply{Code: r.StatusCode, Reason: fmt.Sprintf("the next receiver has no room: HTTP %d", r.StatusCode), After: afterOf(r.Header.Get("Retry-After"))}
	}
	return &Reply{Code: http.StatusBadGateway, Reason: fmt.Sprintf("the next receiver answers with HTTP %d", r.StatusCode)}
}

// afterOf reads the header Retry-After, seconds or a date.
func afterOf(text string) int {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return min(n, 3600)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(int(time.Until(at).Seconds()), 0), 3600)
	}
	return 0
}

// grpcReply reads a receiver's answer over gRPC.
func grpcReply(r *http.Response, body []byte) *Reply {
	get := func(name string) string {
		if v := r.Trailer.Get(name); v != "" {
			return v
		}
		return r.Header.Get(name)
	}
	code, err := strconv.Atoi(get("Grpc-Status"))
	if err != nil {
		return &Reply{Code: http.StatusBadGateway, Reason: fmt.Sprintf("the next receiver speaks no gRPC: HTTP %d", r.StatusCode)}
	}
	if code == codeOK {
		message, err := Unframe(body, "", mostReply)
		if err != nil {
			return &Reply{Code: http.StatusBadGateway, Reason: "the next receiver answers with no message of gRPC"}
		}
		return &Reply{Code: http.StatusOK, Body: message}
	}
	details, _ := base64.RawStdEncoding.DecodeString(strings.TrimRight(get("Grpc-Status-Details-Bin"), "="))
	_, after := readStatus(details)
	reason := fmt.Sprintf("code %d of gRPC: %.200s", code, unescape(get("Grpc-Message")))
	switch code {
	case codeInvalid, codeFailedPrecondition, 11:
		return &Reply{Code: http.StatusBadRequest, Reason: "the next receiver refuses the message: " + reason}
	case codeResourceExhausted:
		if after < 0 {
			return &Reply{Code: http.StatusRequestEntityTooLarge, Reason: "the next receiver refuses the message: " + reason}
		}
		return &Reply{Code: http.StatusTooManyRequests, Reason: "the next receiver has no room: " + reason, After: after}
	case codeUnavailable, 1, codeDeadline, 10, 15:
		return &Reply{Code: http.StatusServiceUnavailable, Reason: "the next receiver has no room: " + reason, After: max(after, 0)}
	}
	return &Reply{Code: http.StatusBadGateway, Reason: "the next receiver answers with " + reason}
}

// binaryHeader returns bytes as headers of gRPC have them.
func binaryHeader(b []byte) string { return base64.RawStdEncoding.EncodeToString(b) }
