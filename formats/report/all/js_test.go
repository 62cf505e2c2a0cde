package all

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// liveCase is a failure of a real engine, with the positions that two source
// map libraries looked up for it.
type liveCase struct {
	Name   string
	Stack  string
	Frames []struct {
		Line       string
		GenLine    uint64 `json:"gen_line"`
		GenColumn0 uint64 `json:"gen_column0"`
	}
}

func liveCases(t *testing.T, file string) []liveCase {
	t.Helper()
	b, err := os.ReadFile(formattest.Fixture(t, file))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []liveCase }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all.Cases
}

// allFrames splits text and gives every frame of scripts.
func allFrames(t testing.TB, text string) (frames []report.Frame, lines []string) {
	t.Helper()
	var whole bytes.Buffer
	err := report.Split(context.Background(), strings.NewReader(text), Dialects, report.Options{}, func(s *report.Report) error {
		whole.Write(s.Text)
		for _, th := range s.Threads {
			for _, f := range th.Frames {
				frames = append(frames, f)
				lines = append(lines, string(s.FrameText(&f)))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if whole.String() != text {
		t.Fatal("the text came out changed")
	}
	return frames, lines
}

// Every frame that an engine printed of the program's own script is found, at
// the position that the libraries looked up; other frames name other scripts.
func TestLiveStacks(t *testing.T) {
	for _, file := range []string{"rn-live/hermes.json", "rn-live/v8.json", "rn-live/jsc.json", "rn-live/sm.json", "web-live/chrome.json", "web-live/firefox.json", "web-live/jsc.json"} {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			count := 0
			for _, c := range liveCases(t, file) {
				frames, lines := allFrames(t, c.Stack)
				i := 0
				for _, want := range c.Frames {
					for i < len(frames) && lines[i] != strings.TrimSpace(want.Line) {
						i++
					}
					if i == len(frames) {
						t.Errorf("%s: %q is no frame among %q", c.Name, want.Line, lines)
						break
					}
					f := &frames[i]
					i++
					count++
					pos, _ := symbol.ScriptPosition(0, uint32(want.GenLine-1), uint32(want.GenColumn0))
					if f.At.Value != pos || f.Kind != symbol.SourceMap || f.Raw>>32 != want.GenLine {
						t.Errorf("%s: %q: at %#x, want %#x", c.Name, want.Line, f.At.Value, pos)
					}
				}
			}
			if count == 0 {
				t.Fatal("no frames")
			}
			t.Log(count, "frames")
		})
	}
}

// peer is what a parser of npm makes of a captured string.
type peer struct {
	File         *string
	LineNumber   *uint64
	Column       *uint64
	FileName     *string
	ColumnNumber *uint64
}

// Captured strings of two parsers' suites: each place with line and column that
// either finds in a script is found here.
func TestCapturedErrors(t *testing.T) {
	b, err := os.ReadFile(formattest.Fixture(t, "web-live/captured-errors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Name, Source, Stack string
		ErrorStackParser    json.RawMessage `json:"error_stack_parser"`
		StacktraceParser    json.RawMessage `json:"stacktrace_parser"`
	}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 27 {
		t.Fatalf("%d strings", len(all))
	}
	for _, c := range all {
		frames, lines := allFrames(t, c.Stack)
		for _, raw := range []json.RawMessage{c.ErrorStackParser, c.StacktraceParser} {
			var peers []peer
			if json.Unmarshal(raw, &peers) != nil {
				continue // it gave up
			}
			for _, p := range peers {
				file, column := p.File, p.Column
				if file == nil {
					file = p.FileName
				}
				if column == nil {
					column = p.ColumnNumber
				}
				if file == nil || p.LineNumber == nil || column == nil || notScripts(*file) {
					continue
				}
				found := false
				for _, f := range frames {
					found = found || f.Raw>>32 == *p.LineNumber && f.Raw&(1<<32-1) == *column
				}
				if !found {
					t.Errorf("%s (%s): %s:%d:%d is not among %q", c.Name, c.Source, *file, *p.LineNumber, *column, lines)
				}
			}
		}
	}
}

// notScripts: code that was evaluated from a string, and the engine's own. No
// map knows it; the place that evaluated it is a frame.
func notScripts(file string) bool {
	for _, own := range []string{"<anonymous>", "eval code", " > ", "eval at", "native", "internal/", "node:"} {
		if strings.Contains(file, own) {
			return true
		}
	}
	return file == ""
}
