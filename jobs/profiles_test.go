package jobs

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

// gameProfile is a profile of simpleperf: two samples in libgame.so, and one frame in another file too.
func gameProfile() []byte {
	number := func(to []byte, field protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(to, field, protowire.VarintType), v)
	}
	text := func(to []byte, field protowire.Number, v string) []byte {
		return protowire.AppendString(protowire.AppendTag(to, field, protowire.BytesType), v)
	}
	out := []byte("SIMPLEPERF\x01\x00")
	record := func(field protowire.Number, message []byte) {
		body := protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), message)
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(body))), body...)
	}
	sample := func(time uint64, calls ...[2]uint64) {
		s := number(number(nil, 1, time), 2, 7)
		for _, c := range calls {
			s = protowire.AppendBytes(protowire.AppendTag(s, 3, protowire.BytesType), number(number(number(nil, 1, c[0]), 2, c[1]), 3, ^uint64(0)))
		}
		record(1, number(number(s, 4, 250_000), 5, 0))
	}
	sample(100, [2]uint64{0x4748, 1}, [2]uint64{0x46ac, 1})
	sample(200, [2]uint64{0x46ac, 1}, [2]uint64{0x10, 2})
	record(3, text(number(nil, 1, 1), 2, "/data/app/libgame-arm64-dw5.so"))
	record(3, text(number(nil, 1, 2), 2, "/system/lib64/libother.so"))
	record(4, text(number(number(nil, 1, 7), 2, 7), 3, "render"))
	return binary.LittleEndian.AppendUint32(out, 0)
}

// gameStacks are the stacks of gameProfile with answers, outermost first.
var gameStacks = []string{
	"game::Engine::step(int)|game::Engine::energy(game::Vec3 const*, int) const|game::dot(game::Vec3 const&, game::Vec3 const&)",
	"libother.so+0x10|game::Engine::step(int)",
}

// stacksIn reads the stacks of records.
func stacksIn(t *testing.T, text string) (all []string) {
	t.Helper()
	for line := range strings.Lines(text) {
		var r struct {
			Frames []struct{ Function string }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		var names []string
		for _, f := range slices.Backward(r.Frames) {
			names = append(names, f.Function)
		}
		all = append(all, strings.Join(names, "|"))
	}
	return all
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// symbolicate answers a profile in its own form and in others, from a file and from a pipe, and counts its places.
func TestSymbolicateProfile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, symbols := filepath.Join(dir, "game.trace"), formattest.Testdata(t, "elf/libgame-arm64-dw5.so")
	if err := os.WriteFile(in, gameProfile(), 0o600); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "own")
	out, _ := mustRun(t, []int{0}, "symbolicate", "--symbols", symbols, "--json", "--output", own, in)
	var s wire.SummaryRecord
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	if s.Input != in || s.Profile != "simpleperf" || s.Samples != 2 || s.Recognized != 3 || s.Answered != 2 || len(s.Unanswered) != 1 || s.Unanswered[0].Status != "no-artifact" {
		t.Errorf("counts are %s", out)
	}
	if text := readText(t, own); !strings.Contains(text, "game::Engine::step(int)") || !strings.HasPrefix(text, "SIMPLEPERF") {
		t.Errorf("the profile has %q", text)
	}

	// The answered profile has all names, so no store is opened.
	records := filepath.Join(dir, "x.ndjson")
	mustRun(t, []int{0}, "--store", filepath.Join(dir, "none"), "symbolicate", "--symbols", symbols, "--output", records, own)
	if got := stacksIn(t, readText(t, records)); !slices.Equal(got, gameStacks) {
		t.Errorf("stacks are %q, want %q", got, gameStacks)
	}

	for _, name := range []string{"x.svg", "x.html", "x.svg.gz"} {
		path := filepath.Join(dir, name)
		_, said := mustRun(t, []int{0}, "symbolicate", "--symbols", symbols, "--output", path, in)
		text := readText(t, path)
		if strings.HasSuffix(name, ".gz") != strings.HasPrefix(text, "\x1f\x8b") || !strings.HasSuffix(name, ".gz") && !strings.Contains(text, "game::Engine::step(int)") {
			t.Errorf("%s: %.200q", name, text)
		}
		if !strings.Contains(said, `"places":1,"image":"/system/lib64/libother.so","status":"no-artifact"`) {
			t.Errorf("%s: said %s", name, said)
		}
	}

	cmd := symlake(t, "symbolicate", "--symbols", symbols)
	cmd.Stdin = bytes.NewReader(gameProfile())
	if got, err := cmd.Output(); err != nil || string(got) != readText(t, own) {
		t.Errorf("standard input gives %d bytes, %v", len(got), err)
	}
	// A long pipe goes to scratch, also where no store has a folder for it.
	line := "main;" + strings.Repeat("deep", 500) + ";work 1\n"
	cmd = symlake(t, "symbolicate", "--output", filepath.Join(dir, "long.svg"))
	cmd.Stdin, cmd.Dir = strings.NewReader(strings.Repeat(line, 10<<20/len(line))), dir
	if said, err := cmd.CombinedOutput(); err != nil || !strings.Contains(readText(t, filepath.Join(dir, "long.svg")), "work (") {
		t.Errorf("%v: %s", err, said)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.part")); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// A part that is unreadable stays, and gives exit code 3. Wrong words end with 2, and write nothing.
func TestSymbolicateProfileRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	symbols := formattest.Testdata(t, "elf/libgame-arm64-dw5.so")
	in, cut, out := filepath.Join(dir, "game.trace"), filepath.Join(dir, "cut.trace"), filepath.Join(dir, "out.trace")
	for name, text := range map[string][]byte{in: gameProfile(), cut: gameProfile()[:len(gameProfile())-20]} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	printed, said := mustRun(t, []int{3}, "symbolicate", "--symbols", symbols, "--json", "--output", out, cut)
	if text := readText(t, out); !strings.Contains(text, "game::Engine::step(int)") {
		t.Errorf("what can be read of a cut profile is not answered: %q", text)
	}
	var s wire.SummaryRecord
	if err := json.Unmarshal([]byte(printed), &s); err != nil || len(s.Unread) != 1 || s.Unread[0].Parts == 0 || !strings.Contains(said, s.Unread[0].Reason) {
		t.Errorf("counts are %s, said %s", printed, said)
	}
	_, said = mustRun(t, []int{3}, "--log-level", "error", "symbolicate", "--symbols", symbols, "--output", out, cut)
	if !strings.Contains(said, "stays as it came") {
		t.Errorf("said %q", said)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--explain", in}, "--explain does not go with profiles"},
		{[]string{"--output", filepath.Join(dir, "x.svg"), in, in}, "takes one profile"},
		{[]string{"--json", in}, "give --output FILE"},
		{[]string{"--output", filepath.Join(dir, "x.html"), formattest.Testdata(t, "stacks/monitor.txt")}, "is none of a known form"},
		{[]string{"--output", filepath.Join(dir, "x.pb.gz"), os.DevNull}, "is none of a known form"},
		{[]string{"--output", filepath.Join(dir, "no", "x.svg"), in}, "there is no folder"},
	} {
		if _, said := mustRun(t, []int{2}, append([]string{"symbolicate", "--symbols", symbols}, c.args...)...); !strings.Contains(said, c.want) {
			t.Errorf("%q: said %q, want %q", c.args, said, c.want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "x.*")); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// The server answers profiles as the command does, and the command answers by a server as by a store.
func TestServeProfiles(t *testing.T) {
	t.Parallel()
	store := ingested(t, "elf")
	s := startServe(t, store, "--max-body", "1MiB", "--max-frames", "1000")
	dir := t.TempDir()
	in := filepath.Join(dir, "game.trace")
	if err := os.WriteFile(in, gameProfile(), 0o600); err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{}
	for name, from := range map[string]string{"store": store, "server": s.url} {
		for _, ending := range []string{"trace", "ndjson", "svg", "svg.gz"} {
			path := filepath.Join(dir, name+"."+ending)
			printed, _ := mustRun(t, []int{0}, "--store", from, "symbolicate", "--json", "--output", path, in)
			text := readText(t, path) + "\n" + strings.Replace(printed, path, "", 1)
			if other, known := outputs[ending]; known && other != text {
				t.Errorf("%s: store and server differ:\n%q\n%q", ending, other, text)
			}
			outputs[ending] = text
		}
	}
	body := string(gameProfile())
	code, text := s.ask(t, "POST", "/v1/profiles", "application/octet-stream", body)
	if want, _, _ := strings.Cut(outputs["trace"], "\n{\"format\""); code != 200 || text != want {
		t.Errorf("%d with %d bytes, want %d", code, len(text), len(want))
	}
	for _, c := range []struct{ path, accept, want string }{
		{"?output=ndjson", "", `{"profile":`}, {"", "image/svg+xml, */*", "<?xml"}, {"?output=html", "*/*", "<!doctype html>"}, {"?output=simpleperf", "text/html", "SIMPLEPERF"}, {"", "text/plain", "SIMPLEPERF"},
	} {
		if code, text := s.ask(t, "POST", "/v1/profiles"+c.path, "", body, "Accept", c.accept); code != 200 || !strings.HasPrefix(text, c.want) {
			t.Errorf("%s %s: %d %.80q, want %q", c.path, c.accept, code, text, c.want)
		}
	}
	for _, c := range []struct {
		path, body string
		code       int
	}{
		{"", "no profile", 400}, {"", "", 400}, {"?output=docx", body, 400}, {"?nonsense=1", body, 400}, {"?app=a&app=b", body, 400}, {"?frame0=x", body, 400},
		{"?app=" + strings.Repeat("a", 5000), body, 400}, {"", body + strings.Repeat("x", 1<<20), 413},
	} {
		if code, text := s.ask(t, "POST", "/v1/profiles"+c.path, "application/octet-stream", c.body); code != c.code || !strings.Contains(text, `"error":`) {
			t.Errorf("%.40s: %d %s, want %d", c.path, code, text, c.code)
		}
	}
}
