package jobs

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/serve/symlakev1"
	"github.com/symlake/symlake/jobs/serve/symlakev1/symlakev1connect"
)

const (
	gameID    = "564bb6c8be48eea9d9db622b8689806eea5af3c7"
	gameStack = "#00 pc 00000000000047d4  libgame.so (BuildId: " + gameID + ")\n"
)

// http2Only returns a client that speaks HTTP/2 from the first byte on, without TLS too.
func http2Only(secure *tls.Config) *http.Client {
	var speaks http.Protocols
	speaks.SetHTTP2(true)
	speaks.SetUnencryptedHTTP2(secure == nil)
	return &http.Client{Transport: &http.Transport{Protocols: &speaks, TLSClientConfig: secure}}
}

// rpcClients are clients of a server, one a protocol.
func rpcClients(url string, by *http.Client) map[string]symlakev1connect.SymbolServiceClient {
	return map[string]symlakev1connect.SymbolServiceClient{
		"grpc":         symlakev1connect.NewSymbolServiceClient(by, url, connect.WithGRPC()),
		"grpc gzip":    symlakev1connect.NewSymbolServiceClient(by, url, connect.WithGRPC(), connect.WithSendGzip()),
		"grpc-web":     symlakev1connect.NewSymbolServiceClient(by, url, connect.WithGRPCWeb()),
		"connect":      symlakev1connect.NewSymbolServiceClient(by, url),
		"connect gzip": symlakev1connect.NewSymbolServiceClient(by, url, connect.WithSendGzip()),
		"connect json": symlakev1connect.NewSymbolServiceClient(by, url, connect.WithProtoJSON()),
	}
}

// symbolicateAll sends stacks and returns the answers, while both go on.
func symbolicateAll(ctx context.Context, client symlakev1connect.SymbolServiceClient, token string, stacks ...*symlakev1.SymbolicateRequest) (all []*symlakev1.SymbolicateResponse, err error) {
	s := client.Symbolicate(ctx)
	s.RequestHeader().Set("Authorization", "Bearer "+token)
	go func() {
		for _, one := range stacks {
			if s.Send(one) != nil {
				break // Receive has the error
			}
		}
		s.CloseRequest()
	}()
	defer s.CloseResponse()
	for {
		one, err := s.Receive()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, one)
	}
}

// All protocols give the same answers, in the clear and over TLS, and the metrics count them by the status that HTTP has.
func TestServeRPC(t *testing.T) {
	formattest.Tool(t, "openssl", "apt-get install openssl")
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if out, err := exec.Command("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	store := ingested(t, "elf/libgame-arm64-dw5.so")
	const token = "a-token-of-some-length"
	tokens := filepath.Join(dir, "tokens")
	if err := os.WriteFile(tokens, []byte("test "+token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var want []*symlakev1.SymbolicateResponse
	for _, secure := range []bool{false, true} {
		args, by := []string{"--tokens", tokens}, http2Only(nil)
		if secure {
			args, by = append(args, "--tls-cert", cert, "--tls-key", key), http2Only(&tls.Config{InsecureSkipVerify: true})
		}
		s := startServe(t, store, args...)
		if secure {
			s.url = strings.Replace(s.url, "http:", "https:", 1)
		}
		for name, client := range rpcClients(s.url, by) {
			got, err := symbolicateAll(t.Context(), client, token,
				&symlakev1.SymbolicateRequest{Text: gameStack, Output: "both"},
				&symlakev1.SymbolicateRequest{Data: []byte("log \xff\xfe line\n" + gameStack), Output: "text"},
				&symlakev1.SymbolicateRequest{},
				&symlakev1.SymbolicateRequest{Text: gameStack, Platform: "amiga"},
				&symlakev1.SymbolicateRequest{Text: gameStack, Frame0: "return"})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if want == nil {
				want = got
				if len(got) != 5 || !strings.Contains(got[0].Text, "helper") || got[0].Stacks[0].Threads[0].Frames[0].Status != "found" ||
					!strings.HasPrefix(got[1].Text, "log ") || !strings.Contains(got[1].Text, " line\n#00") || len(got[1].Stacks) != 0 || got[3].Failure.GetCode() != uint32(connect.CodeInvalidArgument) {
					t.Errorf("%s: %v", name, got)
				}
			}
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			ask := func(token string, queries ...*symlakev1.Query) (*symlakev1.LookupResponse, error) {
				r := connect.NewRequest(&symlakev1.LookupRequest{Queries: queries})
				r.Header().Set("Authorization", "Bearer "+token)
				answer, err := client.Lookup(t.Context(), r)
				if err != nil {
					return nil, err
				}
				return answer.Msg, nil
			}
			looked, err := ask(token, &symlakev1.Query{Artifact: gameID, Position: "0x47d4"}, &symlakev1.Query{Artifact: "nothing", Position: "0x1"})
			if err != nil || looked.Answers[0].Frames[0].Line != 26 || looked.Answers[1].Status != "no-artifact" {
				t.Errorf("%s: %v, %v", name, looked, err)
			}
			if _, err := ask(token, &symlakev1.Query{Artifact: gameID, Position: "nonsense"}); connect.CodeOf(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), "want 0x1f3a") {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := ask("wrong-token-0000000", &symlakev1.Query{}); connect.CodeOf(err) != connect.CodeUnauthenticated {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := symbolicateAll(t.Context(), client, "wrong-token-0000000", &symlakev1.SymbolicateRequest{}); connect.CodeOf(err) != connect.CodeUnauthenticated {
				t.Errorf("%s: %v", name, err)
			}
		}
		if secure {
			continue
		}
		_, metrics := s.ask(t, "GET", "/metrics", "", "", "Authorization", "Bearer "+token)
		for _, want := range []string{`symlake_http_requests_total{code="400",path="/symlake.v1.SymbolService/Lookup"} 6`, `symlake_http_requests_total{code="401",path="/symlake.v1.SymbolService/Symbolicate"} 6`,
			`symlake_http_requests_total{code="200",path="/symlake.v1.SymbolService/Symbolicate"} 6`} {
			if !strings.Contains(metrics, want) {
				t.Errorf("metrics lack %s: %s", want, metrics)
			}
		}
	}
}

// Lookups work over HTTP/1.1 too. A stream in both directions, and other media types, are refused with a reason.
func TestServeRPCOverHTTP1(t *testing.T) {
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"))
	const path = "/symlake.v1.SymbolService/"
	if code, text := s.ask(t, "POST", path+"Lookup", "application/json", `{"queries":[{"artifact":"`+gameID+`","position":"0x47d4"}]}`, "Connect-Protocol-Version", "1"); code != 200 || !strings.Contains(text, "helper") {
		t.Errorf("%d %s", code, text)
	}
	for _, c := range []struct {
		method, kind, body string
		code               int
		says               string
	}{
		{"Symbolicate", "application/connect+json", "", 200, "HTTP/2"},
		{"Symbolicate", "image/png", "", 415, "Content-Type"},
		{"Lookup", "text/plain", "", 415, "Content-Type"},
		{"Lookup", "application/json", `{"queries":[` + strings.Repeat(`{},`, 50_000) + `{}]}`, 429, "positions"},
		{"Lookup", "application/proto", strings.Repeat("\n\x00", 50_000), 429, "positions"},
		{"Lookup", "application/json", `{"queries":`, 400, "no JSON"},
		{"Lookup", "application/proto", "\xff", 400, "no message"},
		{"Lookup", "application/json", `{"queries":[{"artifact":"a","position":"0x1"}],"context":101}`, 400, "100 lines"},
	} {
		if code, text := s.ask(t, "POST", path+c.method, c.kind, c.body); code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%s %s: %d %s, want %d with %q", c.method, c.kind, code, text, c.code, c.says)
		}
	}
	if strings.Contains(s.text(), "panic") {
		t.Error(s.text())
	}
}

// A caller that does not read is not read from, and its stacks are answered in order once it reads.
func TestServeRPCBackPressure(t *testing.T) {
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"))
	client := rpcClients(s.url, http2Only(nil))["grpc"]
	stream := client.Symbolicate(t.Context())
	const stacks = 3000
	text := strings.Repeat(gameStack, 20)
	sent, stalled := make(chan int, stacks), make(chan error, 1)
	go func() {
		for i := range stacks {
			if err := stream.Send(&symlakev1.SymbolicateRequest{Text: text}); err != nil {
				stalled <- err
				return
			}
			sent <- i
		}
		stalled <- stream.CloseRequest()
	}()
	answered := func() int {
		_, metrics := s.ask(t, "GET", "/metrics", "", "")
		return strings.Count(metrics, "symlake_frames_total")
	}
	formattest.Await(t, "a first answer", func() bool { return answered() > 0 })
	count, same := -1, 0
	formattest.Await(t, "the sender stands still", func() bool {
		if now := len(sent); now != count {
			count, same = now, 0
		}
		same++
		return same > 50
	})
	if count == stacks {
		t.Error("the server reads stacks without end from a caller that does not read")
	}
	for i := range stacks {
		one, err := stream.Receive()
		if err != nil {
			t.Fatal(i, err)
		}
		if one.Index != uint64(i) || one.More || len(one.Stacks) != 20 {
			t.Fatalf("answer %d: %v", i, one)
		}
	}
	if err := <-stalled; err != nil {
		t.Error(err)
	}
	stream.CloseResponse()
}

// Parts of a long answer carry the numbers of stack and thread, and give together what one answer would.
func TestServeRPCParts(t *testing.T) {
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"))
	long := strings.Repeat("#00 pc 00000000000047d4  libgame.so (BuildId: "+gameID+")\n", 3) + "\xe2\x82\xac between\n"
	long = strings.Repeat(long, 3000)
	for name, client := range rpcClients(s.url, http2Only(nil)) {
		got, err := symbolicateAll(t.Context(), client, "", &symlakev1.SymbolicateRequest{Text: long, Output: "both"}, &symlakev1.SymbolicateRequest{Text: gameStack})
		if err != nil || len(got) < 5 {
			t.Fatalf("%s: %d parts, %v", name, len(got), err)
		}
		frames, text, number := 0, "", uint32(0)
		for i, part := range got[:len(got)-1] {
			if part.More != (i < len(got)-2) || part.Index != 0 {
				t.Errorf("%s: part %d: more %v, index %d", name, i, part.More, part.Index)
			}
			text += part.Text
			for _, one := range part.Stacks {
				if one.Number < number || one.Number > number+1 {
					t.Fatalf("%s: stack %d after %d", name, one.Number, number)
				}
				number = one.Number
				for _, thread := range one.Threads {
					frames += len(thread.Frames)
				}
			}
		}
		if frames != 9000 || strings.Count(text, "helper") != 9000 || strings.Count(text, "€") != 3000 || strings.Contains(text, "\ufffd") {
			t.Errorf("%s: %d frames, %d in the text", name, frames, strings.Count(text, "helper"))
		}
	}
}

// A message that is too large, too slow or too much ends with the code for it, and a draining server ends its streams.
func TestServeRPCBounds(t *testing.T) {
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"), "--max-body", "64KiB", "--max-frames", "100", "--answer-limit", "20KiB")
	by := http2Only(nil)
	client := rpcClients(s.url, by)["grpc gzip"]
	got, err := symbolicateAll(t.Context(), client, "", &symlakev1.SymbolicateRequest{Text: strings.Repeat(gameStack, 101)}, &symlakev1.SymbolicateRequest{Text: strings.Repeat(gameStack, 99)},
		&symlakev1.SymbolicateRequest{Text: gameStack})
	if err != nil || got[0].Failure.GetReason() != "more than 100 frames" || !strings.Contains(got[1].Failure.GetReason(), "--answer-limit") || got[2].Failure != nil {
		t.Errorf("%v, %v", got, err)
	}
	for name, client := range rpcClients(s.url, by) {
		_, err = symbolicateAll(t.Context(), client, "", &symlakev1.SymbolicateRequest{Text: strings.Repeat("x", 1<<20)})
		if connect.CodeOf(err) != connect.CodeResourceExhausted {
			t.Errorf("%s: %v", name, err)
		}
		_, err = client.Lookup(t.Context(), connect.NewRequest(&symlakev1.LookupRequest{App: strings.Repeat("x", 1<<20)}))
		if connect.CodeOf(err) != connect.CodeResourceExhausted {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A stream without a stack, when the server goes.
	stream := client.Symbolicate(t.Context())
	if err := stream.Send(&symlakev1.SymbolicateRequest{Text: gameStack}); err != nil {
		t.Fatal(err)
	}
	if one, err := stream.Receive(); err != nil || one.Failure != nil {
		t.Fatal(one, err)
	}
	s.run.Process.Signal(syscall.SIGTERM)
	_, err = stream.Receive()
	var ended *connect.Error
	if connect.CodeOf(err) != connect.CodeUnavailable || !errors.As(err, &ended) || ended.Meta().Get("Retry-After") != "1" || len(ended.Details()) != 1 {
		t.Errorf("a stream of a server that goes: %v", err)
	}
	stream.CloseRequest()
	<-s.end
	if err := s.run.Wait(); err != nil {
		t.Errorf("serve ended with %v: %s", err, s.text())
	}
	if log := s.text(); strings.Contains(log, "panic") || strings.Contains(log, "helper") {
		t.Error(log)
	}
}

// A message that stalls is given up.
func TestServeRPCStalls(t *testing.T) {
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"), "--max-time", "1s")
	body, w := io.Pipe()
	defer w.Close()
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/symlake.v1.SymbolService/Symbolicate", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/grpc")
	go w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, 1000), "half"...))
	res, err := http2Only(nil).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	status := res.Trailer.Get("Grpc-Status") + res.Header.Get("Grpc-Status")
	if status != "4" || !strings.Contains(res.Trailer.Get("Grpc-Message")+res.Header.Get("Grpc-Message"), "too slowly") {
		t.Errorf("status %q: %v, %v", status, res.Header, res.Trailer)
	}
}
