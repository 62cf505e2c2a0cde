package retrace_test

import (
	"context"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/r8"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/symbol"
)

// Frames a second, the classes in memory and the lines read: the rest is R8's rules.
func BenchmarkRetrace(b *testing.B) {
	text := readGzip(b, "proguard-live/r8-9.5-dex26/mapping.txt.gz")
	classes := formattest.Classes(b, &r8.Format, formattest.InputOf("mapping.txt", []byte(text), formats.Limits{}))
	made := map[string]*retrace.Class{}
	for name, c := range classes {
		made[name] = retrace.NewClass(c, c)
	}
	d := newDrawing(1, classes)
	var lines strings.Builder
	for range 2000 {
		for _, line := range d.plain(10) {
			lines.WriteString(line + "\n")
		}
	}
	var stacks []*report.Report
	var answers [][]symbol.Answer
	frames := 0
	err := report.Split(context.Background(), strings.NewReader(lines.String()), all.Dialects, report.Options{}, func(s *report.Report) error {
		for t := range s.Threads {
			frames += len(s.Threads[t].Frames)
			stacks = append(stacks, &report.Report{Threads: s.Threads[t : t+1]})
			answers = append(answers, make([]symbol.Answer, len(s.Threads[t].Frames)))
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	class := func(name string) *retrace.Class { return made[name] }
	b.ReportAllocs()
	for b.Loop() {
		for i, s := range stacks {
			retrace.Retrace(&s.Threads[0], class, retrace.Options{}, answers[i])
		}
	}
	b.ReportMetric(float64(frames)*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}
