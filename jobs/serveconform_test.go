package jobs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/serve/symlakev1"
)

// conformQuery and conformStack are what a case asks, in the names of all faces.
type conformQuery struct {
	Artifact string `json:"artifact"`
	Position string `json:"position"`
}

type conformStack struct {
	Text      string   `json:"text"`
	App       string   `json:"app,omitempty"`
	Platform  string   `json:"platform,omitempty"`
	Artifacts []string `json:"artifacts,omitempty"`
}

// conformCase is one question to every face, and what its outcome must hold.
type conformCase struct {
	Name    string         `json:"name"`
	Op      string         `json:"op"` // lookup, symbolicate, slow, cancel
	URL     string         `json:"url"`
	Token   string         `json:"token"`
	Queries []conformQuery `json:"queries,omitempty"`
	Stacks  []conformStack `json:"stacks,omitempty"`
	Output  string         `json:"output,omitempty"`

	statuses []string // of the answers, in order; nil: not compared
	kind     string   // of the error; "": none
	says     string   // in reason or text
}

const conformToken = "a-token-of-some-length"

// conformCases returns the table. Servers: whole has a store and wants a token, gone has lost its store, small has low
// limits, hasty waits a second for bodies.
func conformCases(whole, gone, small, hasty string) []conformCase {
	ask := func(pairs ...string) (all []conformQuery) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, conformQuery{pairs[i], pairs[i+1]})
		}
		return all
	}
	var many []conformStack
	var manyStatuses []string
	for i := range 300 {
		many = append(many, conformStack{Text: fmt.Sprintf("#00 pc %016x  libgame.so (BuildId: %s)\n", 0x4740+4*(i%60), gameID)})
		manyStatuses = append(manyStatuses, "found")
	}
	long := strings.Repeat(gameStack+"between\n", 20_000)
	all := []conformCase{
		{Name: "found", Op: "lookup", Queries: ask(gameID, "0x47d4", gameID, "_ZN4game6Engine4stepEi+0x4", "app.min.js", "1:100"), statuses: []string{"found", "found", "found"}},
		{Name: "hole", Op: "lookup", Queries: ask(gameID, "0x1"), statuses: []string{"hole"}, says: "says anything about"},
		{Name: "outside", Op: "lookup", Queries: ask(gameID, "0xffffffffffffffff"), statuses: []string{"outside"}},
		{Name: "no artifact", Op: "lookup", Queries: ask("nothing", "0x1"), statuses: []string{"no-artifact"}, says: "no artifact is called"},
		{Name: "ambiguous", Op: "lookup", Queries: ask("libgame.so", "0x1"), statuses: []string{"ambiguous"}, says: "name the build-id"},
		{Name: "pending", Op: "lookup", Queries: ask("later.so", "0x1"), statuses: []string{"pending"}},
		{Name: "mapping", Op: "lookup", Queries: ask("mapping.txt", "s.b.a:8"), statuses: []string{"hole"}},
		{Name: "wrong position", Op: "lookup", Queries: ask(gameID, "nonsense"), kind: "bad-request", says: "want 0x1f3a"},
		{Name: "no positions", Op: "lookup"},
		{Name: "bad token", Op: "lookup", Queries: ask(gameID, "0x1"), Token: "wrong-token-0000000", kind: "unauthorized", says: "Bearer"},
		{Name: "bad token of stacks", Op: "symbolicate", Stacks: []conformStack{{Text: gameStack}}, Token: "wrong-token-0000000", kind: "unauthorized", says: "Bearer"},
		{Name: "stacks", Op: "symbolicate", Output: "both", Stacks: []conformStack{{Text: gameStack}, {Text: ""}, {Text: "no frames here\n"}, {Text: "#00 pc 1  libgame.so (BuildId: ffffffffffffffff)\n"}}, statuses: []string{"found", "no-artifact"}, says: "engine.cpp:26"},
		{Name: "stacks as text", Op: "symbolicate", Output: "text", Stacks: []conformStack{{Text: gameStack}}, says: "engine.cpp:26"},
		{Name: "many stacks in order", Op: "symbolicate", Stacks: many, statuses: manyStatuses},
		{Name: "UTF-8", Op: "symbolicate", Output: "both", Stacks: []conformStack{{Text: "日本 € \U0001F600 \"quoted\\\" \u2028 \u0001\n" + gameStack}}, statuses: []string{"found"}, says: "日本 € \U0001F600 \"quoted\\\" \u2028 \u0001\n#00"},
		{Name: "no stacks", Op: "symbolicate"},
		{Name: "options", Op: "symbolicate", Stacks: []conformStack{{Text: "\tat s.b.a(SourceFile:8)\n", Platform: "java", Artifacts: []string{"mapping.txt"}}}},
		{Name: "wrong option", Op: "symbolicate", Stacks: []conformStack{{Text: gameStack, Platform: "amiga"}}, kind: "bad-request", says: "platform is not known"},
		{Name: "given up", Op: "cancel", Stacks: []conformStack{{Text: long}}, Queries: ask(gameID, "0x47d4"), statuses: []string{"found", "found"}},
		{Name: "unavailable store", Op: "lookup", URL: gone, Queries: ask("libgame-x64-dw5.so", "0x1"), statuses: []string{"unavailable"}},
		{Name: "too large", Op: "symbolicate", URL: small, Stacks: []conformStack{{Text: strings.Repeat("x", 100<<10)}}, kind: "too-large", says: "larger than 65536 bytes"},
		{Name: "too large a look-up", Op: "lookup", URL: small, Queries: ask(strings.Repeat("x", 100<<10), "0x1"), kind: "too-large", says: "larger than 65536 bytes"},
		{Name: "too many frames", Op: "symbolicate", URL: small, Stacks: []conformStack{{Text: strings.Repeat(gameStack, 101)}}, kind: "too-large", says: "more than 100 frames"},
		{Name: "slow caller", Op: "slow", URL: hasty, kind: "too-slow", says: "too slowly"},
	}
	for i := range all {
		if all[i].URL == "" {
			all[i].URL = whole
		}
		if all[i].Token == "" {
			all[i].Token = conformToken
		}
	}
	return all
}

// outcome is what a face said: JSON without the members that say nothing.
type outcome = map[string]any

// said removes members that say nothing, which faces may leave out or not.
func said(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			switch member := said(member).(type) {
			case nil:
				delete(v, name)
			default:
				v[name] = member
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = said(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	case float64:
		if v == 0 {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	}
	return v
}

// counted moves the counts of a result into a member summary, where the other faces have them.
func counted(v outcome) outcome {
	results, _ := v["results"].([]any)
	for _, r := range results {
		one, _ := r.(map[string]any)
		if one["recognized"] == nil {
			continue
		}
		summary := outcome{}
		for _, name := range []string{"recognized", "answered", "unanswered", "unread", "looks", "nearest"} {
			summary[name] = one[name]
			delete(one, name)
		}
		one["summary"] = map[string]any(summary)
	}
	return v
}

// jsonOf is a value as JSON gives it.
func jsonOf(t *testing.T, v any) outcome {
	t.Helper()
	text, ok := v.([]byte)
	if !ok {
		var err error
		if text, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
	var out outcome
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	return out
}

// overHTTP asks as curl does.
func overHTTP(t *testing.T, c *conformCase) outcome {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	do := func(path, kind string, body io.Reader) (*http.Response, outcome) {
		r, err := http.NewRequestWithContext(ctx, "POST", c.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Authorization", "Bearer "+c.Token)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		if res.StatusCode == http.StatusOK {
			return res, nil
		}
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[int]string{400: "bad-request", 401: "unauthorized", 408: "too-slow", 413: "too-large", 503: "unavailable"}
		return res, outcome{"error": outcome{"kind": kinds[res.StatusCode], "reason": jsonOf(t, text)["error"], "retry": res.Header.Get("Retry-After") != ""}}
	}
	whole := func(path string, asked any) outcome {
		text, err := json.Marshal(asked)
		if err != nil {
			t.Fatal(err)
		}
		res, failed := do(path, "application/json", bytes.NewReader(text))
		if failed != nil {
			return failed
		}
		text, err = io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return counted(jsonOf(t, text))
	}
	look := func() outcome {
		return whole("/v1/lookup", map[string]any{"queries": append([]conformQuery{}, c.Queries...)})
	}
	switch c.Op {
	case "lookup":
		return look()
	case "symbolicate":
		return whole("/v1/symbolicate", map[string]any{"stacks": append([]conformStack{}, c.Stacks...), "output": c.Output})
	case "slow":
		body, w := io.Pipe()
		go io.WriteString(w, "#00 pc 0000")
		defer w.Close()
		_, failed := do("/v1/symbolicate?output=records", "text/plain", body)
		return failed
	}
	res, failed := do("/v1/symbolicate?output=records", "text/plain", strings.NewReader(c.Stacks[0].Text))
	if failed != nil {
		return failed
	}
	line, err := bufio.NewReader(res.Body).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	ctx = t.Context()
	return outcome{"results": []any{outcome{"stacks": []any{jsonOf(t, line)}}}, "answers": look()["answers"]}
}

// overConnect asks by a client of connect.
func overConnect(t *testing.T, protocol string, c *conformCase) outcome {
	if c.Op == "slow" {
		return outcome{"skip": "connect sends a message whole"}
	}
	client := rpcClients(c.URL, http2Only(nil))[protocol]
	failed := func(err error) outcome {
		kinds := map[connect.Code]string{connect.CodeInvalidArgument: "bad-request", connect.CodeUnauthenticated: "unauthorized", connect.CodeResourceExhausted: "too-large", connect.CodeUnavailable: "unavailable"}
		var e *connect.Error
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		return outcome{"error": outcome{"kind": kinds[e.Code()], "reason": e.Message(), "retry": e.Meta().Get("Retry-After") != ""}}
	}
	look := func() outcome {
		asked := &symlakev1.LookupRequest{}
		for _, q := range c.Queries {
			asked.Queries = append(asked.Queries, &symlakev1.Query{Artifact: q.Artifact, Position: q.Position})
		}
		r := connect.NewRequest(asked)
		r.Header().Set("Authorization", "Bearer "+c.Token)
		res, err := client.Lookup(t.Context(), r)
		if err != nil {
			return failed(err)
		}
		text, err := protojson.Marshal(res.Msg)
		if err != nil {
			t.Fatal(err)
		}
		return jsonOf(t, chainsAsLists(text))
	}
	if c.Op == "lookup" {
		return look()
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stacks []*symlakev1.SymbolicateRequest
	for _, s := range c.Stacks {
		stacks = append(stacks, &symlakev1.SymbolicateRequest{Text: s.Text, App: s.App, Platform: s.Platform, Artifacts: s.Artifacts, Output: c.Output})
	}
	stream := client.Symbolicate(ctx)
	defer stream.CloseResponse()
	stream.RequestHeader().Set("Authorization", "Bearer "+c.Token)
	go func() {
		for _, s := range stacks {
			if stream.Send(s) != nil {
				break
			}
		}
		stream.CloseRequest()
	}()
	results := []any{}
	for {
		part, err := stream.Receive()
		if errors.Is(err, io.EOF) {
			return outcome{"results": results}
		}
		if err != nil {
			return failed(err)
		}
		if f := part.Failure; f != nil {
			return failed(connect.NewError(connect.Code(f.Code), errors.New(f.Reason)))
		}
		var all []any
		for _, s := range part.Stacks {
			text, err := protojson.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			one := jsonOf(t, chainsAsLists(text))
			delete(one, "number")
			for _, thread := range one["threads"].([]any) {
				delete(thread.(map[string]any), "number")
			}
			all = append(all, one)
		}
		if c.Op == "cancel" {
			cancel()
			return outcome{"results": []any{outcome{"stacks": all[:1]}}, "answers": look()["answers"]}
		}
		if part.Index == uint64(len(results)) {
			results = append(results, outcome{"stacks": []any{}, "text": ""})
		}
		last := results[len(results)-1].(outcome)
		if part.Summary != nil {
			text, err := protojson.Marshal(part.Summary)
			if err != nil {
				t.Fatal(err)
			}
			last["summary"] = map[string]any(jsonOf(t, text))
		}
		last["stacks"], last["text"] = append(last["stacks"].([]any), all...), last["text"].(string)+part.Text
	}
}

// chainsAsLists turns the alternatives of protobuf into lists of frames, as JSON has them.
func chainsAsLists(text []byte) outcome {
	var v outcome
	if json.Unmarshal(text, &v) != nil {
		return nil
	}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if chains, ok := v["alternatives"].([]any); ok {
				for i, chain := range chains {
					chains[i] = chain.(map[string]any)["frames"]
				}
			}
			for _, member := range v {
				visit(member)
			}
		case []any:
			for _, one := range v {
				visit(one)
			}
		}
	}
	visit(v)
	return v
}

// overProgram asks by a program that takes cases and gives outcomes, one a line.
func overProgram(t *testing.T, cases []conformCase, run *exec.Cmd) (all []outcome) {
	t.Helper()
	var in, out, told bytes.Buffer
	enc := json.NewEncoder(&in)
	enc.SetEscapeHTML(false)
	for i := range cases {
		if err := enc.Encode(&cases[i]); err != nil {
			t.Fatal(err)
		}
	}
	run.Stdin, run.Stdout, run.Stderr = &in, &out, &told
	hangs := time.AfterFunc(formattest.Patience, func() { run.Process.Kill() })
	defer hangs.Stop()
	if err := run.Run(); err != nil {
		t.Fatalf("%v: %.3000s", err, &told)
	}
	for line := range bytes.Lines(out.Bytes()) {
		one := jsonOf(t, bytes.Clone(line))
		if name := one["name"]; len(all) == len(cases) || name != cases[len(all)].Name {
			t.Fatalf("outcome of %v, want one for each case in order", name)
		}
		delete(one, "name")
		all = append(all, one)
	}
	if len(all) != len(cases) {
		t.Fatalf("%d outcomes of %d cases: %s", len(all), len(cases), &told)
	}
	return all
}

// statusesOf are the statuses in an outcome, in order.
func statusesOf(v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		if status, ok := v["status"].(string); ok {
			all = append(all, status)
		}
		for _, name := range []string{"results", "stacks", "threads", "frames", "answers"} {
			all = append(all, statusesOf(v[name])...)
		}
	case []any:
		for _, one := range v {
			all = append(all, statusesOf(one)...)
		}
	}
	return all
}

// clientsFolder is where make clients has installed what clients are tried with.
func clientsFolder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SYMLAKE_CLIENTS")
	if dir == "" {
		formattest.Missing(t, "gRPC's client for Python", "make clients installs it; then set SYMLAKE_CLIENTS to its folder, as make test does")
	}
	return dir
}

// Every face of the server gives the same answers and errors: HTTP, the clients in Python and Java, Connect, gRPC-Web,
// and gRPC by its own client.
func TestServeConformance(t *testing.T) {
	store := ingested(t, "elf", "r8", "js")
	later := t.TempDir()
	text, err := os.ReadFile(formattest.Testdata(t, "elf/libgame-x64-dw5.so"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first.so", "later.so"} {
		if err := os.WriteFile(filepath.Join(later, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, []int{0, 1, 3}, "--store", store, "--lake", "off", "ingest", "--limit", "1", later)
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("test "+conformToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := startServe(t, store, "--tokens", tokens)
	lost := ingested(t, "elf/libgame-arm64-dw5.so")
	gone := startServe(t, lost, "--catalog-ttl", "1ms", "--negative-ttl", "1ms")
	if _, text := gone.ask(t, "GET", "/v1/lookup?position=0x47d4&artifact="+gameID, "", ""); !strings.Contains(text, "helper") {
		t.Fatal(text)
	}
	catalogs, err := filepath.Glob(filepath.Join(lost, "*.db*"))
	if err != nil || len(catalogs) == 0 {
		t.Fatal(catalogs, err)
	}
	for _, f := range catalogs {
		if err := os.Truncate(f, 0); err != nil {
			t.Fatal(err)
		}
	}
	small := startServe(t, store, "--max-body", "64KiB", "--max-frames", "100")
	// A hasty server for each face: the stalled body goes on when the server has refused it.
	cases := func(t *testing.T) []conformCase {
		return conformCases(whole.url, gone.url, small.url, startServe(t, store, "--max-time", "1s").url)
	}
	each := func(t *testing.T, ask func(*testing.T, *conformCase) outcome) (all []outcome) {
		table := cases(t)
		for i := range table {
			all = append(all, ask(t, &table[i]))
		}
		return all
	}
	want := each(t, overHTTP)
	for i, c := range cases(t) {
		got, _ := said(want[i]).(outcome)
		want[i] = got
		failure, _ := got["error"].(map[string]any)
		kind, _ := failure["kind"].(string)
		whole, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		quoted, _ := json.Marshal(c.says)
		if kind != c.kind || c.statuses != nil && !slices.Equal(statusesOf(got), c.statuses) || !bytes.Contains(whole, quoted[1:len(quoted)-1]) {
			t.Errorf("%s: %.600s\nwant %q, %q, %q", c.Name, whole, c.kind, c.statuses, c.says)
		}
	}
	same := func(t *testing.T, got []outcome, skips ...string) {
		t.Helper()
		for i, c := range conformCases("", "", "", "") {
			if slices.Contains(skips, c.Name) {
				continue
			}
			one, _ := said(got[i]).(outcome)
			if diff := cmp.Diff(want[i], one); diff != "" {
				t.Errorf("%s: %.2000s", c.Name, diff)
			}
		}
	}
	t.Run("face", func(t *testing.T) {
		for _, protocol := range []string{"grpc", "grpc gzip", "grpc-web", "connect", "connect json"} {
			t.Run(protocol, func(t *testing.T) {
				t.Parallel()
				skips := []string{"slow caller"}
				if protocol == "grpc gzip" { // connect inflates, and refuses in its own words
					skips = append(skips, "too large a look-up")
				}
				same(t, each(t, func(t *testing.T, c *conformCase) outcome { return overConnect(t, protocol, c) }), skips...)
			})
		}
		clients := filepath.Join(formattest.Root(), "jobs/serve/clients")
		for _, face := range []string{"sync", "async", "grpc"} {
			t.Run("python "+face, func(t *testing.T) {
				t.Parallel()
				python, dir := filepath.Join(clientsFolder(t), "py/bin/python"), ""
				if face == "grpc" {
					dir = pythonOfGRPC(t, python)
				}
				run := exec.CommandContext(t.Context(), python, "-B", filepath.Join(clients, "python/tests/conform.py"), face, dir)
				run.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(clients, "python/src"))
				got := overProgram(t, cases(t), run)
				if face == "grpc" {
					same(t, got, "slow caller")
				} else {
					same(t, got)
				}
			})
		}
		t.Run("java", func(t *testing.T) {
			t.Parallel()
			classes := javaClasses(t)
			for _, face := range []string{"block", "future"} {
				t.Run(face, func(t *testing.T) {
					same(t, overProgram(t, cases(t), exec.CommandContext(t.Context(), "java", "-cp", classes, "io.github.symlake.client.Conform", face)))
				})
			}
		})
	})
	for _, s := range []*serving{whole, gone, small} {
		if log := s.text(); strings.Contains(log, `"panic"`) {
			t.Errorf("the server panicked: %s", log)
		}
	}
}
