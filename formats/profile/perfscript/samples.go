package perfscript

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/samples"
)

// maker makes samples of a text.
type maker struct {
	to      *samples.Profile
	events  []string
	threads map[samples.Thread]int32
	first   int64
	last    int64
	open    bool
	at      header
	chain   []samples.Frame // innermost first
	values  []int64
}

// mostEvents bounds the events that have values of their own.
const mostEvents = 32

// samplesOf reads the samples of a text, with the names that it has. Values are samples, then each event's counts.
func samplesOf(ctx context.Context, in *profile.Input, to *samples.Profile) error {
	m := &maker{to: to, threads: map[samples.Thread]int32{}, first: -1}
	err := each(ctx, in, &visitor{header: func(h *header) error {
		if h.event != "" && len(m.events) < mostEvents && !slices.Contains(m.events, h.event) {
			m.events = append(m.events, h.event)
		}
		return nil
	}})
	if err != nil {
		return err
	}
	to.Types = []samples.Type{{Name: "samples", Unit: "count"}}
	for _, event := range m.events {
		to.Types = append(to.Types, samples.Type{Name: event, Unit: unitOf(event)})
	}
	if len(m.events) > 0 {
		to.Default = 1
	}
	err = each(ctx, in, &visitor{
		header: func(h *header) error { err := m.end(); m.open, m.at = true, *h; return err },
		frame:  func(f *frame, _ bool) error { m.chain = append(m.chain, shown(f)); return nil },
		source: func(file string, line uint32) error {
			if n := len(m.chain); n > 0 && m.chain[n-1].File == "" {
				m.chain[n-1].File, m.chain[n-1].Line = file, line
			}
			return nil
		},
	})
	if err == nil {
		err = m.end()
	}
	if m.first >= 0 {
		to.Duration = m.last - m.first
	}
	return err
}

// unitOf returns what an event counts.
func unitOf(event string) string {
	if name, _, _ := strings.Cut(event, ":"); name == "cpu-clock" || name == "task-clock" {
		return "nanoseconds"
	}
	return "count"
}

// shown returns a frame as samples have it.
func shown(f *frame) samples.Frame {
	made := samples.Frame{Function: f.name, Module: f.file, Inlined: f.inlined}
	if made.Function == "" {
		at := f.address
		if f.isOffset {
			at = f.offset
		}
		made.Address, made.Function = at, "0x"+strconv.FormatUint(at, 16)
		if f.file != "" && f.file != "[unknown]" {
			made.Function = path.Base(f.file) + "+" + made.Function
		}
	}
	return made
}

// end adds the sample at hand.
func (m *maker) end() error {
	if !m.open {
		return nil
	}
	m.open = false
	stack := int32(samples.None)
	module := ""
	for i := len(m.chain) - 1; i >= 0; i-- {
		f := &m.chain[i]
		if f.Inlined { // the line does not say its file
			f.Module = module
		}
		module = f.Module
		n, err := m.to.Frame(*f)
		if err == nil {
			stack, err = m.to.Push(stack, n)
		}
		if err != nil {
			return err
		}
	}
	m.chain = m.chain[:0]
	if stack == samples.None {
		m.to.Lost++
		return nil
	}
	s := samples.Sample{Stack: stack, Thread: m.thread(), Time: -1}
	if m.at.time >= 0 {
		if m.first < 0 {
			m.first = m.at.time
		}
		s.Time = max(m.at.time-m.first, 0)
		m.last = max(m.last, m.at.time)
	}
	m.values = append(m.values[:0], 1)
	for _, event := range m.events {
		v := int64(0)
		if event == m.at.event {
			v = m.at.period
		}
		m.values = append(m.values, v)
	}
	return m.to.Add(s, m.values...)
}

// thread returns the number of the thread at hand.
func (m *maker) thread() int32 {
	t := samples.Thread{PID: max(m.at.pid, 0), TID: max(m.at.tid, 0), Name: m.at.comm}
	n, known := m.threads[t]
	if !known {
		n = int32(len(m.to.Threads))
		m.threads[t] = n
		m.to.Threads = append(m.to.Threads, t)
	}
	return n
}
