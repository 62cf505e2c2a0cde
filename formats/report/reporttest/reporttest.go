// Package reporttest holds the tests that every dialect of reports passes.
package reporttest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Fixture is a text that a dialect reads without the help of others.
type Fixture struct {
	Name    string
	Text    string
	Options report.Options
	Frames  int // in all threads of all reports
}

// Run tests a dialect on reports of all its forms of text:
//
//   - every frame of a fixture is found, and has a form of the dialect;
//   - the texts that Split hands out are the input, byte for byte, also when the input ends anywhere, and
//     Print without answers writes them;
//   - line ends of two bytes or of one "\r", and a reader that returns single bytes, change no frame;
//   - marks of a byte order, UTF-16, spaces of pages, and escapes in place of line ends change no frame;
//   - spans lie in the text and do not overlap, and no thread is empty;
//   - Print writes the answer of every frame, and JSON stays JSON;
//   - inputs that are read at the same time do not disturb each other: a dialect has no state;
//   - twice the text takes at most about twice the allocations.
func Run(t *testing.T, d report.Dialect, fixtures ...Fixture) {
	t.Helper()
	if d.Name == "" || len(d.Forms) == 0 || len(fixtures) == 0 {
		t.Fatalf("dialect %q with %d forms and %d fixtures", d.Name, len(d.Forms), len(fixtures))
	}
	for _, f := range d.Forms {
		if f.Name == "" || f.Frame0 == report.AsFormat || f.Lines == "" {
			t.Errorf("%+v: every form says what its values are", f)
		}
	}
	for _, f := range fixtures {
		s := suite{d, f}
		t.Run(f.Name, func(t *testing.T) {
			want := s.frames(t, s.split(t, f.Text))
			if len(want) != f.Frames {
				t.Fatalf("%d frames, want %d:\n%s", len(want), f.Frames, strings.Join(want, "\n"))
			}
			t.Run("forms", s.forms)
			t.Run("cuts", s.cuts)
			t.Run("line ends", func(t *testing.T) {
				crlf := strings.ReplaceAll(f.Text, "\n", "\r\n")
				s.same(t, want, s.frames(t, s.split(t, crlf)))
			})
			t.Run("pieces", func(t *testing.T) {
				s.same(t, want, s.frames(t, s.read(t, iotest.OneByteReader(strings.NewReader(f.Text)), f.Text)))
			})
			t.Run("encodings", func(t *testing.T) { s.encodings(t, want) })
			t.Run("quoted", func(t *testing.T) { s.split(t, "> "+strings.ReplaceAll(f.Text, "\n", "\n> ")) })
			t.Run("answers", s.answers)
			t.Run("at once", func(t *testing.T) { s.atOnce(t, want) })
			t.Run("linear", s.linear)
		})
	}
}

// suite is the tests of a dialect on one fixture.
type suite struct {
	dialect report.Dialect
	fixture Fixture
}

// split reads a text, and fails unless it comes out unchanged.
func (s suite) split(t *testing.T, text string) []*report.Report {
	t.Helper()
	return s.read(t, strings.NewReader(text), text)
}

func (s suite) read(t *testing.T, r io.Reader, text string) (all []*report.Report) {
	t.Helper()
	all, out := s.decode(t, r)
	if out != text {
		t.Fatalf("%q\nwas split and printed as\n%q", text, out)
	}
	return all
}

// decode splits what r reads, and returns the texts as well.
func (s suite) decode(t *testing.T, r io.Reader) (all []*report.Report, text string) {
	t.Helper()
	var texts, printed bytes.Buffer
	err := report.Split(t.Context(), r, []report.Dialect{s.dialect}, s.fixture.Options, func(r *report.Report) error {
		all = append(all, r)
		texts.Write(r.Text)
		return report.Print(&printed, r, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	if texts.String() != printed.String() {
		t.Fatalf("%q\nwas printed as\n%q", texts.String(), printed.String())
	}
	for _, r := range all {
		s.spans(t, r)
	}
	return all, texts.String()
}

// spans fails if a report's threads and spans are not as the package says.
func (s suite) spans(t *testing.T, r *report.Report) {
	t.Helper()
	var spans [][2]int
	for _, th := range r.Threads {
		if len(th.Frames) == 0 || len(th.Frames) > report.MaxFrames {
			t.Fatalf("a thread of %d frames", len(th.Frames))
		}
		for _, f := range th.Frames {
			if f.Span[0] < 0 || f.Span[1] < f.Span[0] || f.Span[1] > len(r.Text) {
				t.Fatalf("span %v of %d bytes", f.Span, len(r.Text))
			}
			spans = append(spans, f.Span)
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) }) // callers of trees stand above
	for i := range len(spans) - 1 {
		if spans[i+1][0] < spans[i][1] {
			t.Fatalf("span %v within %v", spans[i+1], spans[i])
		}
	}
	if (len(r.Threads) > 0) != (r.Form != nil) {
		t.Fatalf("%d threads of %q", len(r.Threads), r.Format())
	}
}

// frames tells the frames apart by everything but their place in the text.
func (s suite) frames(t *testing.T, all []*report.Report) (lines []string) {
	t.Helper()
	for _, r := range all {
		for i, th := range r.Threads {
			for _, f := range th.Frames {
				line := fmt.Sprintf("%s %s thread %d %d %q: %q %s %q %s %v %v %#x", r.Format(), r.Arch, i, th.ID, th.Name, f.Image, f.Kind, f.File, f.Arch, f.At, f.Or, f.Raw)
				if f.Managed != nil {
					line += fmt.Sprintf(" %+v", *f.Managed)
				}
				lines = append(lines, line)
			}
		}
	}
	return lines
}

func (s suite) same(t *testing.T, want, got []string) {
	t.Helper()
	if !slices.Equal(want, got) {
		t.Errorf("want\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

func (s suite) forms(t *testing.T) {
	for _, r := range s.split(t, s.fixture.Text) {
		own := func(f *report.Form) bool { return f == r.Form || f.Quoted == r.Form }
		if r.Form != nil && !slices.ContainsFunc(s.dialect.Forms, own) {
			t.Errorf("%q is no form of %s", r.Format(), s.dialect.Name)
		}
	}
}

// cuts ends the input behind each of its bytes, and behind each line of long ones.
func (s suite) cuts(t *testing.T) {
	text := s.fixture.Text
	for n := range len(text) {
		if len(text) < 2<<10 || n > 0 && text[n-1] == '\n' {
			s.split(t, text[:n])
		}
	}
}

// answers prints an answer for each frame.
func (s suite) answers(t *testing.T) {
	for _, r := range s.split(t, s.fixture.Text) {
		var names []string
		var answers [][]symbol.Answer
		for _, th := range r.Threads {
			var list []symbol.Answer
			for range th.Frames {
				name := fmt.Sprintf("toy.Answer%d.call", len(names))
				names = append(names, fmt.Sprintf("Answer%d", len(names)))
				list = append(list, symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: name, File: "toy.c", Line: 7, Column: 3}}})
			}
			answers = append(answers, list)
		}
		var out bytes.Buffer
		if err := report.Print(&out, r, answers); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if !strings.Contains(out.String(), name) {
				t.Errorf("%s is not in\n%s", name, out.String())
			}
		}
		if json.Valid(r.Text) && !json.Valid(out.Bytes()) {
			t.Errorf("%s\nis no JSON", out.String())
		}
	}
}

// atOnce reads the fixture several times at once; the race detector sees what is shared.
func (s suite) atOnce(t *testing.T, want []string) {
	got := make([][]*report.Report, 4)
	var wait sync.WaitGroup
	for i := range got {
		wait.Go(func() {
			_ = report.Split(t.Context(), strings.NewReader(s.fixture.Text), []report.Dialect{s.dialect}, s.fixture.Options, func(r *report.Report) error {
				got[i] = append(got[i], r)
				return nil
			})
		})
	}
	wait.Wait()
	for _, all := range got {
		s.same(t, want, s.frames(t, all))
	}
}

// linear counts allocations, which do not depend on the speed of the host.
func (s suite) linear(t *testing.T) {
	allocations := func(times int) float64 {
		text := strings.Repeat(s.fixture.Text, times)
		return testing.AllocsPerRun(1, func() {
			err := report.Split(t.Context(), strings.NewReader(text), []report.Dialect{s.dialect}, s.fixture.Options, func(*report.Report) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	if once, twice := allocations(64), allocations(128); twice > 2.5*once+64 {
		t.Errorf("%v allocations for a text, %v for twice as much", once, twice)
	}
}
