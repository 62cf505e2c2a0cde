package jobs

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

// askJSON asks for a page and decodes it.
func askJSON[T any](t *testing.T, s *serving, path string) (page T) {
	t.Helper()
	code, text := s.ask(t, "GET", path, "", "")
	if code != 200 {
		t.Fatalf("%s: %d %s", path, code, text)
	}
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatalf("%s: %v: %s", path, err, text)
	}
	return page
}

// The lists of a server say what the commands say: artifacts, objects and reasons, wanted names, and runs.
func TestServeLists(t *testing.T) {
	dir := t.TempDir()
	objects := filepath.Join(dir, "android", "shop", "1234")
	if err := os.MkdirAll(objects, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"elf/libgame-arm64-dw5.so", "r8/mapping.txt"} {
		text, err := os.ReadFile(formattest.Testdata(t, f))
		if err != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(objects, filepath.Base(f)), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	elf, err := os.ReadFile(formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(objects, "libcut.so"), elf[:len(elf)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "store")
	mustRun(t, []int{0, 3}, "--store", store, "--lake", "off", "ingest", "--run", "nightly/2026-11-01 1", filepath.Join(dir, "android"))
	stack := filepath.Join(dir, "stack.txt")
	if err := os.WriteFile(stack, []byte("#00 pc 0000000000001000  /data/app/libgame-arm64-dw5.so (BuildId: 00112233445566778899aabbccddeeff00112233)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	mustRun(t, []int{0}, "--store", store, "symbolicate", stack)
	s := startServe(t, store)

	type artifacts struct {
		Artifacts []wire.Artifact
		Passed    int
	}
	const id = "564bb6c8be48eea9d9db622b8689806eea5af3c7"
	for _, q := range []string{"find=GAME-arm64", "find=" + id, "find=" + id[:9], "kind=elf&find=dw5", "name=" + id} {
		if got := askJSON[artifacts](t, s, "/v1/artifacts?"+q); len(got.Artifacts) != 1 || got.Artifacts[0].File != "libgame.so" || got.Passed == 0 {
			t.Errorf("%s: %+v", q, got)
		}
	}
	if got := askJSON[artifacts](t, s, "/v1/artifacts?kind=macho&name="+id); len(got.Artifacts) != 0 {
		t.Errorf("another kind: %+v", got)
	}

	rejected := askJSON[struct{ Objects []wire.Object }](t, s, "/v1/objects?state=rejected&run="+url.QueryEscape("nightly/2026-11-01 1"))
	if len(rejected.Objects) != 1 || !strings.HasSuffix(rejected.Objects[0].URL, "libcut.so") || rejected.Objects[0].Reason == "" {
		t.Errorf("rejected: %+v", rejected)
	}
	out, _ := mustRun(t, []int{0}, "--store", store, "--json", "objects", "--state", "rejected")
	var told wire.Object
	if err := json.Unmarshal([]byte(out), &told); err != nil || len(rejected.Objects) == 1 && told.Reason != rejected.Objects[0].Reason {
		t.Errorf("the command tells %s, %v", out, err)
	}

	wanted := askJSON[struct{ Wanted []wire.Wanted }](t, s, "/v1/wanted")
	if len(wanted.Wanted) != 1 || wanted.Wanted[0].Name != "00112233445566778899aabbccddeeff00112233" || wanted.Wanted[0].Near == nil || wanted.Wanted[0].Near.Artifacts != 1 {
		t.Errorf("wanted: %+v", wanted)
	}

	runs := askJSON[struct{ Runs []wire.Run }](t, s, "/v1/runs")
	if len(runs.Runs) != 1 || runs.Runs[0].Objects["rejected"] != 1 || runs.Runs[0].Bytes < int64(len(elf)) {
		t.Errorf("runs: %+v", runs)
	}
	run := askJSON[wire.RunDetail](t, s, "/v1/run?id="+url.QueryEscape("nightly/2026-11-01 1"))
	if run.Run.Run != "nightly/2026-11-01 1" || len(run.Run.Rejects) != 1 || !strings.HasSuffix(run.Run.FirstObject, "libcut.so") {
		t.Errorf("run: %+v", run)
	}
	if code, text := s.ask(t, "GET", "/v1/run?id=none", "", ""); code != 404 || !strings.Contains(text, "later runs") {
		t.Errorf("an unknown run: %d %s", code, text)
	}

	status := askJSON[wire.Status](t, s, "/v1/status")
	out, _ = mustRun(t, []int{0}, "--store", store, "--json", "status")
	var said statusJSON
	if err := json.Unmarshal([]byte(out), &said); err != nil || status.Artifacts != said.Artifacts || status.Bytes != said.Bytes || status.Coverage != said.Coverage || status.Objects["rejected"] != said.Objects["rejected"] {
		t.Errorf("the server tells %+v, the command %s, %v", status, out, err)
	}
	for _, bad := range []string{"/v1/artifacts?kind=exe", "/v1/objects?state=lost", "/v1/objects?limit=0", "/v1/objects?limit=1001", "/v1/wanted?from=x", "/v1/runs?from=x", "/v1/run", "/v1/status?x=1", "/v1/objects?run=a&run=b"} {
		if code, text := s.ask(t, "GET", bad, "", ""); code != 400 || !strings.Contains(text, "want") {
			t.Errorf("%s: %d %s", bad, code, text)
		}
	}
}
