package jobs

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/symlake/symlake/formats/formattest"
	"google.golang.org/protobuf/encoding/protowire"
)

// An answer that would be larger than it may be ends with an error in its own form, in every form, and is right up to there.
func TestServeAnswerLimit(t *testing.T) {
	store := wideStore(t)
	s := startServe(t, store, "--answer-limit", "1MiB")
	whole := startServe(t, store)
	const reason = "larger than the server's --answer-limit"
	for name, q := range wideRequests(300) {
		code, text, trailer := s.answered(t, q)
		if code != 200 || !strings.Contains(trailer, reason) || len(text) > 1<<20+1000 || len(text) < 64<<10 {
			t.Errorf("%s: %d, %d bytes, trailer %q: %.200s", name, code, len(text), trailer, text)
			continue
		}
		var said struct{ Error string }
		switch last := strings.TrimSuffix(text, "\n"); name {
		case "text", "explain":
			if last = last[strings.LastIndexByte(last, '\n')+1:]; !strings.HasPrefix(last, "symlake: error: ") || !strings.Contains(last, reason) {
				t.Errorf("%s ends with %.200s", name, last)
			}
		default:
			if name == "ndjson" || name == "retraced" {
				last = last[strings.LastIndexByte(last, '\n')+1:]
			}
			if err := json.Unmarshal([]byte(last), &said); err != nil || !strings.Contains(said.Error, reason) {
				t.Errorf("%s: %v, error %q", name, err, said.Error)
			}
		}
		_, all, trailer := whole.answered(t, q)
		same := 0
		for same < len(text) && same < len(all) && text[same] == all[same] {
			same++
		}
		if trailer != "" || len(all) <= len(text) || same < len(text)-600 {
			t.Errorf("%s: %d of %d bytes are those of the whole answer of %d, trailer %q", name, same, len(text), len(all), trailer)
		}
	}
	if code, text, _ := startServe(t, store, "--answer-limit", "1KiB").answered(t, wideRequests(1)["text"]); code != 413 || !strings.Contains(text, reason) {
		t.Errorf("an answer that was not begun: %d %.200s", code, text)
	}
	if _, said := mustRun(t, []int{1}, "--store", s.url, "lookup", wideID, "+0x1000", "+0x1001", "+0x1002", "+0x1003", "+0x1004", "+0x1005", "+0x1006", "+0x1007", "+0x1008", "+0x1009"); !strings.Contains(said, reason) {
		t.Errorf("the client: %.300s", said)
	}
}

// Requests that expand take no more memory than a server may have, however many come at once.
func TestServeMemory(t *testing.T) {
	const cache = 64 << 20
	s := startServe(t, wideStore(t), "--cache", "64MiB")
	requests := wideRequests(10_000)
	var artifacts, images strings.Builder
	for range 64 {
		fmt.Fprintf(&artifacts, "%q,", strings.Repeat("a", 4000))
	}
	for i := range 4000 {
		fmt.Fprintf(&images, "#00 pc 1000  lib%d.so\n", i)
	}
	quoted, _ := json.Marshal(images.String())
	requests["names"] = question{"POST", "/v1/symbolicate", "application/json", `{"stacks":[{"artifacts":[` + strings.TrimSuffix(artifacts.String(), ",") + `],"text":` + string(quoted) + `}]}`}
	pb := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1)
	pb = protowire.AppendVarint(protowire.AppendTag(pb, 5, protowire.VarintType), 7)
	pb = protowire.AppendBytes(protowire.AppendTag(pb, 9, protowire.BytesType), bytes.Repeat([]byte("x"), 200<<10))
	for i := range 20_000 {
		entry := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(i))
		pb = protowire.AppendBytes(protowire.AppendTag(pb, 16, protowire.BytesType), entry)
	}
	requests["tombstone"] = question{"POST", "/v1/symbolicate", "text/plain", string(pb)}
	requests["objects"] = question{"POST", "/v1/symbolicate", "text/plain", `{"usedImages":[` + strings.Repeat("{},", 4<<20) + `{}],"threads":[]}`}
	requests["queries"] = question{"POST", "/v1/lookup", "application/json", `{"queries":[` + strings.Repeat("1,", 4<<20) + `1]}`}
	requests["modules"] = question{"POST", "/symbolicate/v5", "application/json", `{"memoryMap":[[` + strings.Repeat(`"",`, 4<<20) + `""]],"stacks":[[]]}`}
	requests["frames"] = question{"POST", "/v1/symbolicate?artifact=libwide.so", "text/plain", strings.Repeat("0x1\n", 200_000)}
	var names, threads strings.Builder
	for i := 0; names.Len() < 15<<20; i++ {
		fmt.Fprintf(&names, "%d:a.%s%d.b(int)\n", i, strings.Repeat("n", 40), i)
	}
	threads.WriteString("[{}")
	for i := 0; threads.Len() < 15<<20; i++ {
		fmt.Fprintf(&threads, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":1,\"name\":\"a.b.c()\"}", i%(1<<16), i)
	}
	threads.WriteString("]")
	requests["trace of names"] = question{"POST", "/v1/trace?artifact=libwide.so", "application/octet-stream", names.String()}
	requests["trace of threads"] = question{"POST", "/v1/trace", "application/octet-stream", threads.String()}
	type outcome struct {
		name  string
		code  int
		bytes int
	}
	done := make(chan outcome)
	for name, q := range requests {
		go func() {
			code, text, _ := s.answered(t, q)
			// A slow host has no room for all at once, nor for all of one caller: ask again, as clients do.
			for code == http.StatusServiceUnavailable || code == http.StatusTooManyRequests {
				code, text, _ = s.answered(t, q)
			}
			done <- outcome{name, code, len(text)}
		}()
	}
	for range requests {
		o := <-done
		t.Logf("%s: %d, %d bytes", o.name, o.code, o.bytes)
		if o.code != 200 && o.code != 413 {
			t.Errorf("%s: %d", o.name, o.code)
		}
	}
	if peak := s.peakBytes(t); peak > cache+256<<20 {
		t.Errorf("%d MiB were resident: want at most --cache and 256 MiB", peak>>20)
	} else {
		t.Logf("%d MiB were resident", peak>>20)
	}
}

// tokensFile is a file of NAME TOKEN lines.
func tokensFile(t testing.TB, lines string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// trickle opens connections, begins a request on each that never ends, and sends some bytes of each.
func trickle(t testing.TB, s *serving, n int, head string) []net.Conn {
	t.Helper()
	var all []net.Conn
	for range n {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := io.WriteString(c, head); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// A caller that never ends its requests, or never takes its answers, keeps no other caller waiting, and readiness says so.
func TestServeSlowCaller(t *testing.T) {
	const slow, fast = "slow-token-0000000", "fast-token-0000000"
	s := startServe(t, wideStore(t), "--tokens", tokensFile(t, "slow "+slow+"\nfast "+fast+"\n"), "--concurrent", "4", "--max-time", "4s")
	head := "POST /v1/symbolicate HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + slow + "\r\nContent-Type: text/plain\r\n"
	large := wideRequests(1000)["text"].body
	trickle(t, s, 120, head+"Content-Length: 1000000\r\n\r\n#")
	trickle(t, s, 60, head+"Transfer-Encoding: chunked\r\n\r\n1\r\n#\r\n")
	trickle(t, s, 20, head+fmt.Sprintf("Content-Length: %d\r\n\r\n", len(large))+large) // and nothing is read
	for i := range 20 {
		code, text := s.ask(t, "POST", "/v1/symbolicate", "text/plain", "#00 pc 1000  libwide.so (BuildId: "+wideID+")\n", "Authorization", "Bearer "+fast)
		if code != 200 || !strings.Contains(text, "nnn") {
			t.Fatalf("request %d: %d %.100s", i, code, text)
		}
		if code, text := s.ask(t, "GET", "/readyz", "", ""); code != 200 {
			t.Fatalf("readyz: %d %s", code, text)
		}
	}
	formattest.Await(t, "a slow body is given up", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return bytes.Contains(s.log.Bytes(), []byte(`"status":408`)) || bytes.Contains(s.log.Bytes(), []byte(`"status":429`))
	})
}

// A body that never comes holds no slot where it is not read, and its connection ends.
func TestServeBodyLeftOut(t *testing.T) {
	s := startServe(t, wideStore(t), "--concurrent", "1", "--max-time", "2s")
	rest := " HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 100000\r\n\r\n"
	all := trickle(t, s, 1, "GET /v1/artifacts?name="+strings.Repeat("x", 3000)+rest)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		all[0].Read(make([]byte, 1))
	}()
	for waits := true; waits; {
		if code, text := s.ask(t, "GET", "/v1/artifacts?limit=1", "", ""); code != 200 {
			t.Fatalf("%d %s", code, text)
		}
		select {
		case <-answered:
			waits = false
		case <-time.After(50 * time.Millisecond):
		}
	}
	all = append(all, trickle(t, s, 1, "POST /nowhere"+rest)...)
	all = append(all, trickle(t, s, 1, "POST /v1/symbolicate"+rest+"#")...)
	for i, c := range all {
		c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection %d stays open", i)
		}
	}
}

// Without tokens, Host is a name of this server and Origin this server or a site that was allowed; only such a one may read
// answers from a browser.
func TestServeHostAndOrigin(t *testing.T) {
	store := ingested(t, "elf/libgame-arm64-dw5.so")
	s := startServe(t, store, "--allow-host", "symbols.example", "--allow-origin", "https://profiler.example")
	ask := func(s *serving, method, path string, header ...string) (int, http.Header) {
		r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(`{"memoryMap":[],"stacks":[[]]}`))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
				r.Host = header[i+1]
			}
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode, res.Header
	}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	const v5 = "/symbolicate/v5"
	for _, c := range []struct {
		header []string
		code   int
		cors   string
	}{
		{nil, 200, ""},
		{[]string{"Host", "localhost"}, 200, ""},
		{[]string{"Host", "LOCALHOST.:" + port}, 200, ""},
		{[]string{"Host", "[::1]:" + port}, 200, ""},
		{[]string{"Host", "symbols.example:80"}, 200, ""},
		{[]string{"Host", "attacker.example"}, 403, ""},
		{[]string{"Host", "127.0.0.1.attacker.example:" + port}, 403, ""},
		{[]string{"Host", "192.0.2.1"}, 403, ""},
		{[]string{"Origin", "https://attacker.example"}, 403, ""},
		{[]string{"Origin", "null"}, 403, ""},
		{[]string{"Origin", s.url}, 200, ""},
		{[]string{"Origin", "https://profiler.example"}, 200, "https://profiler.example"},
		{[]string{"Origin", "https://profiler.example", "Host", "attacker.example"}, 403, "-"},
	} {
		code, h := ask(s, "POST", v5, c.header...)
		if got := h.Get("Access-Control-Allow-Origin"); code != c.code || c.cors != "-" && got != c.cors {
			t.Errorf("%q: %d, Access-Control-Allow-Origin %q", c.header, code, got)
		}
	}
	if code, h := ask(s, "OPTIONS", v5, "Origin", "https://profiler.example"); code != 204 || h.Get("Access-Control-Allow-Origin") != "https://profiler.example" {
		t.Errorf("the question before: %d %v", code, h)
	}
	if code, h := ask(s, "GET", "/v1/artifacts", "Origin", "https://profiler.example"); code != 200 || h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another path: %d %v", code, h)
	}
	if code, _ := ask(s, "GET", "/readyz", "Host", "10.0.0.7:8080"); code != 200 {
		t.Errorf("a probe: %d", code)
	}
	tokened := startServe(t, store, "--tokens", tokensFile(t, "one a-token-of-some-length\n"))
	if code, h := ask(tokened, "POST", v5, "Host", "symbols", "Origin", "https://any.example", "Authorization", "Bearer a-token-of-some-length"); code != 200 || h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("with a token: %d %v", code, h)
	}
	mustRun(t, []int{2}, "--store", store, "serve", "--allow-origin", "*")
	open := tokensFile(t, "one a-token-of-some-length\n")
	if err := os.Chmod(open, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, said := mustRun(t, []int{2}, "--store", store, "serve", "--tokens", open); !strings.Contains(said, "chmod 600 "+open) {
		t.Errorf("tokens that others may read: %s", said)
	}
}

// Bodies come plain, as gzip or zstd, and are bounded by what they inflate to.
func TestServeEncodings(t *testing.T) {
	t.Parallel()
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"), "--max-body", "8MiB")
	zipped := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
		return b.String()
	}
	packed := func(text string, o ...zstd.EOption) string {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, o...)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(text))
		w.Close()
		return b.String()
	}
	frame := "#00 pc 47d4  libgame.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n"
	var log strings.Builder // 7 MiB that do not inflate much
	for i := 0; log.Len() < 7<<20; i++ {
		fmt.Fprintf(&log, "line %d %x\n", i, i*i*7919)
	}
	for _, c := range []struct {
		encoding, body string
		code           int
		says           string
	}{
		{"gzip", zipped(frame), 200, "helper"},
		{"x-gzip", zipped(log.String() + frame), 200, "helper"},
		{"zstd", packed(frame), 200, "helper"},
		{"zstd", packed(log.String() + frame), 200, "helper"},
		{"zstd", packed(log.String()+frame, zstd.WithWindowSize(8<<20)), 200, "helper"},
		{"identity", frame, 200, "helper"},
		{"br", frame, 415, "gzip, zstd or none"},
		{"gzip, gzip", zipped(zipped(frame)), 415, "gzip, zstd or none"},
		{"gzip", frame, 400, "not encoded"},
		{"zstd", frame, 400, "not encoded"},
		{"gzip", zipped(frame)[:40], 400, "breaks off"},
		{"zstd", packed(frame)[:20], 400, "breaks off"},
		{"gzip", zipped(strings.Repeat("0", 7<<20)), 413, "256 times"},
		{"zstd", packed(strings.Repeat("0", 7<<20)), 413, "256 times"},
		{"gzip", zipped(log.String() + log.String()), 413, "larger than 8388608 bytes"},
		{"zstd", packed(log.String() + log.String()), 413, "larger than 8388608 bytes"},
		{"zstd", packed(log.String()+log.String(), zstd.WithWindowSize(32<<20)), 413, ""},
	} {
		if code, text := s.ask(t, "POST", "/v1/symbolicate", "text/plain", c.body, "Content-Encoding", c.encoding); code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%s of %d bytes: %d %.200s\nwant %d with %q", c.encoding, len(c.body), code, text[max(0, len(text)-200):], c.code, c.says)
		}
	}
}

// A regular expression is bounded in size, and in its work on a text.
func TestServeExpression(t *testing.T) {
	s := startServe(t, ingested(t, "r8"), "--max-time", "10m") // the work is bounded, not the time
	line := strings.Repeat("y", 4000) + "\n"
	for _, c := range []struct {
		regex, text string
		code        int
		says        string
	}{
		{strings.Repeat(".*", 1000), line, 400, "instructions"},
		{"(a{1000}){1000}", line, 400, "regex"},
		{strings.Repeat(".*", 450) + "%c", strings.Repeat(line, 1000), 413, "too much time"},
		{".*%c", line, 200, ""},
	} {
		if code, text := s.ask(t, "POST", "/v1/symbolicate?regex="+strings.ReplaceAll(c.regex, "%", "%25"), "text/plain", c.text); code != c.code && !(c.code == 413 && strings.Contains(text, "symlake: error: ")) || !strings.Contains(text, c.says) {
			t.Errorf("%.30s: %d %.200s, want %d with %q", c.regex, code, text, c.code, c.says)
		}
	}
}
