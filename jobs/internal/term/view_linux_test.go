package term

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/term/termtest"
)

// plain removes what the terminal adds to the ends of lines.
func plain(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// Color follows the flag first, then NO_COLOR, CLICOLOR_FORCE, CLICOLOR and TERM; a file has none and is no person's.
func TestLook(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		env                   string
		color                 string
		terminal              bool
		people, colored, move bool
	}{
		{"", ColorAuto, true, true, true, true},
		{"", ColorNever, true, true, false, true},
		{"", ColorAuto, false, false, false, false},
		{"", ColorAlways, false, true, true, false},
		{"NO_COLOR=1", ColorAuto, true, true, false, true},
		{"NO_COLOR=1 CLICOLOR_FORCE=1", ColorAuto, true, true, false, true},
		{"NO_COLOR=1", ColorAlways, true, true, true, true},
		{"CLICOLOR=0", ColorAuto, true, true, false, true},
		{"CLICOLOR_FORCE=1 CLICOLOR=0", ColorAuto, true, true, true, true},
		{"CLICOLOR_FORCE=1", ColorAuto, false, false, false, false},
		{"TERM=dumb", ColorAuto, true, true, false, false},
		{"TERM=dumb", ColorAlways, true, true, true, false},
	} {
		t.Run(fmt.Sprintf("%s %s %t", c.env, c.color, c.terminal), func(t *testing.T) {
			for _, name := range []string{"NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"} {
				t.Setenv(name, "")
			}
			t.Setenv("TERM", "xterm")
			for _, set := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(set, "=")
				t.Setenv(name, value)
			}
			stream := file
			if c.terminal {
				stream = termtest.Open(t, 80).End
			}
			v := Look(stream, c.color)
			if v.People != c.people || v.Color != c.colored || v.Moves() != c.move {
				t.Errorf("for people %t, colored %t, moves %t", v.People, v.Color, v.Moves())
			}
		})
	}
}

// A table fits terminals of each width: it shortens long cells in the middle, then leaves out columns to spare.
func TestTable(t *testing.T) {
	columns := []Column{{Name: "ID", Least: 8}, {Name: "KIND"}, {Name: "FILE", Least: 12}, {Name: "BYTES", Right: true}, {Name: "APPS", Least: 6, Spare: 1}, {Name: "NOTE", Spare: 2}}
	id := strings.Repeat("0123456789", 4)
	for width, want := range map[int]string{
		60: "ID                 KIND  FILE                    BYTES\n" +
			"01234567…23456789  elf   lib/arm64-…cart.so  1.2 MiB\n" +
			"01234567…23456789  elf   漢字.so                 12 B\n",
		100: "ID                                        KIND  FILE                        BYTES  APPS\n" +
			id + "  elf   lib/arm64-v8a/libcart.so  1.2 MiB  shop@1234\n" +
			id + "  elf   漢字.so                      12 B\n",
	} {
		p := termtest.Open(t, width)
		table := NewTable(p.End, Look(p.End, ColorNever), columns...)
		table.Row(id, "elf", "lib/arm64-v8a/libcart.so", Size(1<<20+200_000), "shop@1234", "")
		table.Row(id, "elf", "漢字.so", Size(12), "", "")
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
		got := plain(p.Text())
		for _, line := range strings.Split(got, "\n") {
			if Columns(line) > width {
				t.Errorf("%d columns in a terminal of %d: %q", Columns(line), width, line)
			}
		}
		if width == 100 && got != want {
			t.Errorf("width %d:\n%s\nwant\n%s", width, got, want)
		}
		if width == 60 && (!strings.Contains(got, "…") || !strings.Contains(got, "1.2 MiB")) {
			t.Errorf("width %d:\n%s", width, got)
		}
	}
	// Rows beyond the first pile keep the widths, and an empty table says nothing.
	var out bytes.Buffer
	table := NewTable(&out, View{People: true}, Column{Name: "N", Right: true}, Column{Name: "TEXT", Least: 4})
	for i := range 2 * tablePile {
		table.Row(fmt.Sprint(i), strings.Repeat("x", 1+i))
	}
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if Columns(line) > defaultWidth {
			t.Fatalf("a line of %d columns: %q", Columns(line), line)
		}
	}
	out.Reset()
	if err := NewTable(&out, View{People: true}, columns...).Flush(); err != nil || out.Len() > 0 {
		t.Errorf("an empty table prints %q, %v", &out, err)
	}
}

// A bar shows share, amount, rate and time left within each width, and is gone when anything else is written.
func TestBar(t *testing.T) {
	for _, width := range []int{20, 60, 100, 180} {
		at := time.Unix(0, 0)
		p := termtest.Open(t, width)
		s := NewScreen(p.End)
		b := &bar{screen: s, view: Look(s, ColorAuto), name: "ingest", began: at, now: func() time.Time { return at }, ended: make(chan struct{}), silent: make(chan struct{})}
		close(b.silent)
		for i := range int64(11) {
			b.at(Step{Done: i, Total: 29, Unit: "object", Bytes: i << 20, Text: "s3://mobile-symbols/android/arm64-v8a/libcart.so"})
			at = at.Add(time.Second)
		}
		lines := termtest.Show(awaited(t, p, b.line(width-1)), width)
		line := lines[len(lines)-1]
		if len(lines) != 1 || Columns(line) >= width {
			t.Errorf("width %d: %d lines, the bar has %d columns: %q", width, len(lines), Columns(line), line)
		}
		if width >= 60 && (!strings.Contains(line, "34 %") || !strings.Contains(line, "10/29 objects") || !strings.Contains(line, "1.0 MiB/s") || !strings.Contains(line, "0:19 left")) {
			t.Errorf("width %d: %q", width, line)
		}
		if width >= 100 && (!strings.Contains(line, "[===") || !strings.HasSuffix(line, "cart.so")) {
			t.Errorf("width %d: %q", width, line)
		}
		fmt.Fprintln(s, "other words")
		b.at(Step{Done: 12, Total: 29, Unit: "object"})
		b.stop()
		if got := termtest.Show(p.Text(), width); len(got) != 1 || got[0] != "other words" {
			t.Errorf("width %d: the screen ends as %q", width, got)
		}
	}
}

// A terminal that becomes narrower breaks the bar: all of its lines go.
func TestBarResized(t *testing.T) {
	p := termtest.Open(t, 100)
	s := NewScreen(p.End)
	fmt.Fprintln(s, "before")
	s.draw(strings.Repeat("=", 99), 99)
	p.Resize(40)
	fmt.Fprintln(s, "after")
	text := p.Text()
	if !strings.Contains(text, "\x1b[2A\x1b[J") { // the terminal shows 99 columns as three lines of 40
		t.Errorf("the bar was taken away by %q", text)
	}
}

// A bar does not follow text that has no line end yet: a question, for one.
func TestBarBehindQuestion(t *testing.T) {
	p := termtest.Open(t, 80)
	s := NewScreen(p.End)
	fmt.Fprint(s, "Go on? [y/N] ")
	s.draw("bar", 3)
	if got := p.Text(); strings.Contains(got, "bar") {
		t.Errorf("the terminal got %q", got)
	}
}

// A job without a terminal has log lines and no bar; so has one with --no-progress.
func TestProgress(t *testing.T) {
	p := termtest.Open(t, 80)
	s := NewScreen(p.End)
	for name, w := range map[string]*Progress{"pipe": NewProgress(new(bytes.Buffer), slog.Default(), "job", false), "hidden": NewProgress(s, slog.Default(), "job", true)} {
		if w.HasBar() {
			t.Errorf("%s: there is a bar", name)
		}
		var out bytes.Buffer
		w.log, w.last = NewLogger(&out, View{}, slog.LevelInfo), time.Time{}
		w.At(Step{Done: 1}, "words", "done", 1)
		w.At(Step{Done: 2}, "words", "done", 2)
		w.Stop()
		if got := out.String(); strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, `"level":"INFO","msg":"words","done":1}`+"\n") {
			t.Errorf("%s: the log is %q", name, got)
		}
	}
	w := NewProgress(s, nil, "verify", false)
	w.At(Step{Done: 3, Unit: "load"}, "")
	w.Stop()
	w.Stop()
	text := p.Text()
	if !strings.Contains(text, "verify  3 loads") || len(termtest.Show(text, 80)) != 0 {
		t.Errorf("the bar was %q", text)
	}
}

// The log of a person has a line a record; what would move the cursor is quoted.
func TestLogger(t *testing.T) {
	var out bytes.Buffer
	at := time.Date(2026, 11, 22, 15, 4, 5, 0, time.Local)
	h := NewLogger(&out, View{People: true}, slog.LevelInfo).Handler().WithAttrs([]slog.Attr{slog.String("run", "r1")}).WithGroup("s3")
	r := slog.NewRecord(at, slog.LevelWarn, "object rejected", 0)
	r.Add("url", "s3://a/b c", "bytes", 12, "why", "\x1b[2J", slog.Group("took", "ms", 1.23456))
	if err := h.Handle(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	want := "15:04:05  warn   object rejected run=r1 s3.url=\"s3://a/b c\" s3.bytes=12 s3.why=\"\\x1b[2J\" s3.took.ms=1.235\n"
	if out.String() != want {
		t.Errorf("the log is\n%q, want\n%q", &out, want)
	}
	if h.Enabled(context.Background(), slog.LevelDebug) {
		t.Error("debug is on")
	}
}

func TestUnits(t *testing.T) {
	for got, want := range map[string]string{
		Count(0): "0", Count(-1234): "-1,234", Count(uint64(1904113)): "1,904,113", Counted(1, "load"): "1 load", Counted(1200, "load"): "1,200 loads",
		Size(0): "0 B", Size(999): "999 B", Size(1023): "1.0 KiB", Size(1 << 20): "1.0 MiB", Size(310 << 20): "310 MiB", Size(int64(5) << 40): "5.0 TiB",
		Rough(119 * time.Second): "119 s", Rough(3 * time.Minute): "3 min", Rough(47 * time.Hour): "47 h", Rough(72 * time.Hour): "3 d",
		Seconds(0.31): "0.3 s", Seconds(59.4): "59 s", Seconds(245): "4 min 5 s", Seconds(3720): "1 h 2 min", Percent(0.966): "97 %",
		Shorten("s3://bucket/lib/libcart.so", 13): "s3://b…art.so", Shorten("abc", 3): "abc", Shorten("abc", 1): "…", Shorten("漢字漢字", 5): "漢…字",
		Wrap("one two three", 7): "one two\nthree", clock(3723 * time.Second): "1:02:03", clock(7 * time.Second): "0:07",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// awaited returns the text of a terminal once it has want.
func awaited(t *testing.T, p *termtest.Terminal, want string) string {
	t.Helper()
	formattest.Await(t, "the terminal has "+want, func() bool { return strings.Contains(p.SoFar(), want) })
	return p.SoFar()
}
