// Package records writes samples as lines of JSON, for tables and scripts: one record a sample.
package records

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/samples"
)

// Format is the records of a profile.
var Format = &profile.Format{
	Name:    "ndjson",
	Title:   "records",
	Endings: []string{".ndjson", ".jsonl"},
	Media:   []string{"application/x-ndjson"},
	Write:   write,
}

// record is a sample. All records of a profile have the same members, so that a table of them has the same columns.
type record struct {
	Profile string          `json:"profile"`
	Sample  int             `json:"sample"` // from 0
	Process string          `json:"process"`
	PID     int64           `json:"pid"`
	Thread  string          `json:"thread"`
	TID     int64           `json:"tid"`
	Time    *int64          `json:"time"` // nanoseconds from the beginning; null: not said
	Values  json.RawMessage `json:"values"`
	Frames  []frame         `json:"frames"` // innermost first
}

type frame struct {
	Function string `json:"function"`
	Linkage  string `json:"linkage"`
	File     string `json:"file"`
	Line     uint32 `json:"line"`
	Column   uint32 `json:"column"`
	Module   string `json:"module"`
	Inlined  bool   `json:"inlined"`
}

// mostFrames of a stack are written, the innermost ones.
const mostFrames = 4096

// write writes the records.
func write(out io.Writer, p *samples.Profile) error {
	w := bufio.NewWriterSize(out, 64<<10)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	names, err := valueNames(p)
	if err != nil {
		return err
	}
	var values []byte
	r := record{Profile: p.Name}
	for i := range p.Samples {
		s := &p.Samples[i]
		r.Sample, r.Time = i, nil
		r.Process, r.PID, r.Thread, r.TID = "", 0, "", 0
		if s.Thread != samples.None {
			t := &p.Threads[s.Thread]
			r.Process, r.PID, r.Thread, r.TID = t.Process, t.PID, t.Name, t.TID
		}
		if s.Time >= 0 {
			r.Time = &s.Time
		}
		values = append(values[:0], '{')
		for k, name := range names {
			if k > 0 {
				values = append(values, ',')
			}
			values = fmt.Appendf(append(values, name...), ":%d", p.Value(i, k))
		}
		r.Values = append(values, '}')
		r.Frames = frames(r.Frames[:0], p, s.Stack)
		if err := e.Encode(&r); err != nil {
			return fmt.Errorf("write record: %w", err)
		}
	}
	return w.Flush()
}

// valueNames returns the names of values, as JSON. Types that share a name are told apart by their units or numbers.
func valueNames(p *samples.Profile) (names [][]byte, err error) {
	if len(p.Types) == 0 {
		return [][]byte{[]byte(`"samples"`)}, nil
	}
	seen := map[string]bool{}
	for i, t := range p.Types {
		name := t.Name
		if name == "" || seen[name] {
			name += "_" + t.Unit
		}
		if seen[name] {
			name = fmt.Sprintf("%s_%d", name, i)
		}
		seen[name] = true
		text, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		names = append(names, text)
	}
	return names, nil
}

// frames appends the frames of a stack.
func frames(to []frame, p *samples.Profile, stack int32) []frame {
	for stack != samples.None && len(to) < mostFrames {
		s := p.Stacks[stack]
		f := &p.Frames[s.Frame]
		to = append(to, frame{f.Function, f.Linkage, f.File, f.Line, f.Column, f.Module, f.Inlined})
		stack = s.Caller
	}
	if to == nil {
		to = []frame{}
	}
	return to
}
