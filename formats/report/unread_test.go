package report_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
)

// TestAddUnread adds parts that differ by an index, by a member, and more parts than are kept.
func TestAddUnread(t *testing.T) {
	t.Parallel()
	var parts []report.Unread
	for i := range 3 {
		parts = report.AddUnread(parts, report.Unread{Why: report.WhyShape, Path: fmt.Sprintf(".threads[%d].stack", i), Frames: 2})
	}
	parts = report.AddUnread(parts, report.Unread{Why: report.WhyNamed, Path: ".threads[0].stack", Frames: 1, Named: true})
	want := []report.Unread{{Why: report.WhyShape, Path: ".threads[0].stack", Frames: 6}, {Why: report.WhyNamed, Path: ".threads[0].stack", Frames: 1, Named: true}}
	if !reflect.DeepEqual(parts, want) {
		t.Errorf("%+v, want %+v", parts, want)
	}
	for i := range 2 * report.MaxUnread {
		parts = report.AddUnread(parts, report.Unread{Why: report.WhyShape, Path: fmt.Sprintf(".part%d", i), Frames: 1})
	}
	frames := 0
	for _, u := range parts {
		frames += u.Frames
	}
	if last := parts[len(parts)-1]; len(parts) != report.MaxUnread || last.Why != report.WhyMore || frames != 7+2*report.MaxUnread {
		t.Errorf("%d parts with %d frames, the last %+v", len(parts), frames, last)
	}
}

// TestSplitUnread splits a text with a document in which a dialect sees parts and reads none.
func TestSplitUnread(t *testing.T) {
	t.Parallel()
	sees := report.Dialect{Values: []report.Reader{func(text []byte, _ report.Options) *report.Report {
		if !strings.Contains(string(text), "odd") {
			return nil
		}
		return &report.Report{Unread: []report.Unread{{Why: report.WhyShape, Path: ".odd", Frames: 3}}}
	}}}
	var text string
	var parts []report.Unread
	input := "before\n{\"odd\": [1]}\nbehind\n"
	err := report.Split(context.Background(), strings.NewReader(input), []report.Dialect{sees}, report.Options{}, func(r *report.Report) error {
		text += string(r.Text)
		parts = append(parts, r.Unread...)
		return nil
	})
	if err != nil || text != input || len(parts) != 1 || parts[0].Path != ".odd" {
		t.Errorf("%v, text %q, parts %+v", err, text, parts)
	}
}
