// Package walked makes reports of stopped processes, and walks their stacks.
package walked

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// Dump is a process, and what its rendering says besides stacks.
type Dump struct {
	Form    *report.Form
	Title   string   // "Minidump"
	Arch    string   // in the words of symbol.Artifact; "" for an unknown processor
	Notes   []string // lines behind the title
	Process *unwind.Process
}

// Report makes a report of the process; nil: no thread has frames. Its frames are from a walk without rules; the report's Walk
// finds more.
func (d *Dump) Report(o report.Options) *report.Report {
	frames, err := unwind.Walk(context.Background(), d.Process, nil)
	if err != nil {
		return nil
	}
	s := &report.Report{Form: d.Form, Arch: d.Arch}
	d.render(s, frames, &o)
	if len(s.Threads) == 0 {
		return nil
	}
	again := report.Options{Frame0: o.Frame0} // the room of Split is gone by then
	s.Walk = &report.Walk{Process: d.Process, Render: func(s *report.Report, frames [][]unwind.Frame) { d.render(s, frames, &again) }}
	return s
}

// render sets the text and the threads of a report.
func (d *Dump) render(s *report.Report, frames [][]unwind.Frame, o *report.Options) {
	var text bytes.Buffer
	s.Threads, s.Unread = nil, nil
	fmt.Fprintf(&text, "%s: %s, %d modules, %d threads\n", d.Title, cmp.Or(d.Arch, "an unknown processor"), len(d.Process.Modules), len(d.Process.Threads))
	for _, n := range d.Notes {
		text.WriteString(n)
		text.WriteByte('\n')
	}
	total := 0
	for t := range d.Process.Threads {
		thread := &d.Process.Threads[t]
		out := report.Thread{ID: thread.ID, Name: thread.Name, Crashed: thread.Crashed}
		mark := ""
		if thread.Crashed {
			mark = " (crashed)"
		}
		fmt.Fprintf(&text, "\nThread %d%s%s\n", thread.ID, strings.TrimRight(" "+out.Name, " "), mark)
		for i := range frames[t] {
			if total++; total > report.MaxDocumentFrames || !o.Takes(report.FrameRoom) {
				s.LeaveOut(len(frames[t]) - i)
				break
			}
			out.Frames = append(out.Frames, d.frame(&text, i, &frames[t][i], o))
		}
		s.AddThread(out)
	}
	text.WriteString("\nModules:\n")
	for i := range d.Process.Modules {
		m := &d.Process.Modules[i]
		id := ""
		if len(m.IDs) > 0 {
			id = m.IDs[0]
		}
		fmt.Fprintf(&text, "%#x - %#x %s <%s> %s\n", m.Base, m.Base+m.Size-1, m.Name(), id, m.Path)
	}
	s.Text = text.Bytes()
}

// frame writes a line and says what it means.
func (d *Dump) frame(text *bytes.Buffer, i int, walked *unwind.Frame, o *report.Options) report.Frame {
	f := report.Frame{Raw: walked.Raw, Arch: d.Arch, Layout: report.Layout{Indent: 4}, Trust: walked.Trust}
	fmt.Fprintf(text, "%2d  ", i)
	f.Span[0] = text.Len() - 4
	value := walked.At
	switch o.Frame0 {
	case report.Return:
		if i == 0 {
			value = report.Step(d.Arch, walked.PC)
		}
	case report.Stepped:
		value = walked.PC
	}
	m := (*unwind.Module)(nil)
	if k := d.Process.ModuleAt(value); k >= 0 {
		m = &d.Process.Modules[k]
	} else {
		m = d.Process.UnloadedAt(value)
	}
	if m == nil {
		fmt.Fprintf(text, "%#x", walked.PC)
		f.At = symbol.Where{Space: symbol.Loaded, Value: value, Load: report.Nowhere}
	} else {
		f.File, f.Kind, f.Image = m.Path, m.Kind, m.Names()
		f.At = symbol.Where{Space: symbol.Loaded, Value: value, Load: m.Base}
		if name := m.Name(); o.Takes(2 * len(name)) {
			fmt.Fprintf(text, "%s + %#x", name, walked.PC-m.Base)
		}
	}
	if walked.Trust != unwind.Untold {
		text.WriteString(" (" + string(walked.Trust) + ")")
	}
	f.Span[1] = text.Len()
	text.WriteByte('\n')
	return f
}
