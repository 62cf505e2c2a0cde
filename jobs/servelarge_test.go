package jobs

import (
	"fmt"
	"strings"
	"testing"
)

// A stack of a million frames is refused where limits are as they come, and answered frame by frame where they allow it.
func TestServeMillionFrames(t *testing.T) {
	t.Parallel()
	const frames, artifact = 1_000_000, "564bb6c8be48eea9d9db622b8689806eea5af3c7"
	store := ingested(t, "elf/libgame-arm64-dw5.so")
	var text, offsets strings.Builder
	for i := range frames {
		fmt.Fprintf(&text, "#%06d pc 4748  libgame.so (BuildId: %s)\n", i, artifact)
		fmt.Fprintf(&offsets, "[0,%d],", 0x4748)
	}
	five := `{"memoryMap":[["libgame.so","` + artifact + `"]],"stacks":[[` + strings.TrimSuffix(offsets.String(), ",") + `]]}`
	strict := startServe(t, store, "--max-body", "256MiB")
	for path, body := range map[string]string{"/v1/symbolicate": text.String(), "/symbolicate/v5": five} {
		kind := "text/plain"
		if strings.HasPrefix(body, "{") {
			kind = "application/json"
		}
		if code, said := strict.ask(t, "POST", path, kind, body); code != 413 || !strings.Contains(said, "more than 250000 frames") {
			t.Errorf("%s: %d %.200s", path, code, said)
		}
	}
	s := startServe(t, store, "--max-body", "256MiB", "--max-frames", "1000000", "--max-time", "10m", "--answer-limit", "1GiB")
	_, one := s.ask(t, "POST", "/v1/symbolicate", "text/plain", text.String()[:strings.IndexByte(text.String(), '\n')+1])
	_, answer, _ := strings.Cut(one, "\n")
	code, got := s.ask(t, "POST", "/v1/symbolicate", "text/plain", text.String())
	if code != 200 || answer == "" {
		t.Fatalf("%d %.300s, one frame: %s", code, got, one)
	}
	for i := range frames {
		want := fmt.Sprintf("#%06d pc 4748  libgame.so (BuildId: %s)\n", i, artifact)
		rest, ok := strings.CutPrefix(got, want)
		if ok {
			rest, ok = strings.CutPrefix(rest, answer)
		}
		if !ok {
			t.Fatalf("frame %d: %.300s\nwant %s%s", i, got, want, answer)
		}
		got = rest
	}
	if got != "" {
		t.Errorf("behind the last frame: %.300s", got)
	}
	if code, got := s.ask(t, "POST", "/symbolicate/v5", "application/json", five); code != 200 || strings.Count(got, `"function":`) < frames {
		t.Errorf("%d, %d functions: %.300s", code, strings.Count(got, `"function":`), got)
	}
	for _, s := range []*serving{strict, s} {
		if log := s.text(); strings.Contains(log, "panic") {
			t.Errorf("it panicked: %s", log)
		}
	}
}
