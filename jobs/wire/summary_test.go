package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// counted returns the counts of a report with so many frames in each of n images, image i with i+1 frames.
func counted(n int) *Summary {
	s := new(Summary)
	for i := range n {
		r := report.Report{Threads: []report.Thread{{}}}
		answers := [][]symbol.Answer{nil}
		for range i + 1 {
			r.Threads[0].Frames = append(r.Threads[0].Frames, report.Frame{File: fmt.Sprintf("lib%d.so", i)})
			answers[0] = append(answers[0], symbol.Answer{Status: symbol.NoArtifact, Err: errors.New("ünknown")})
		}
		s.Add(&r, answers)
	}
	return s
}

// TestSummary counts more reasons than are listed, in one part and in parts that are merged.
func TestSummary(t *testing.T) {
	t.Parallel()
	const images = mostUnanswered + 5
	whole := counted(images)
	whole.End()
	merged := new(Summary)
	part := counted(images)
	part.End()
	merged.Merge(part)
	merged.End()
	for _, s := range []*Summary{whole, merged} {
		last := s.Unanswered[len(s.Unanswered)-1]
		if s.Recognized != images*(images+1)/2 || s.Answered != 0 || len(s.Unanswered) != mostUnanswered+1 || s.Unanswered[0].Frames != images || last.Reasons != 5 || last.Frames != 1+2+3+4+5 {
			t.Errorf("%+v", s)
		}
	}
	text := whole.Header()
	var short Summary
	if err := json.Unmarshal([]byte(text), &short); err != nil || short.Recognized != whole.Recognized || short.Unanswered[0] != whole.Unanswered[0] {
		t.Errorf("%v: %s", err, text)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 || r < ' ' }) {
		t.Errorf("the header has letters beyond ASCII: %s", text)
	}
}

// TestSummaryHeader gives a header more than it holds: lists get shorter, the counts stay.
func TestSummaryHeader(t *testing.T) {
	t.Parallel()
	s := &Summary{Recognized: 3, Answered: 1, Looks: strings.Repeat("ü", headerBytes)}
	for range 30 {
		s.Unread = append(s.Unread, Unread{Path: strings.Repeat("p", 500), Reason: "r"})
	}
	text := s.Header()
	var short Summary
	if err := json.Unmarshal([]byte(text), &short); err != nil || len(text) > headerBytes || short.Recognized != 3 || short.Answered != 1 {
		t.Errorf("%v: %d bytes, %+v", err, len(text), short)
	}
}

// TestSummaryNamed counts frames that have their names as recognized, and parts that are not read apart.
func TestSummaryNamed(t *testing.T) {
	t.Parallel()
	s := new(Summary)
	s.Add(&report.Report{Unread: []report.Unread{{Why: report.WhyNamed, Frames: 4, Named: true}, {Why: report.WhyShape, Path: ".calls", Frames: 2}}}, nil)
	s.End()
	if s.Recognized != 4 || len(s.Unanswered) != 1 || s.Unanswered[0].Status != "named" || !s.Unanswered[0].Final() || len(s.Unread) != 1 || s.Unread[0].Frames != 2 || !s.Notable() {
		t.Errorf("%+v", s)
	}
}
