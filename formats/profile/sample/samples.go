package sample

import (
	"context"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/samples"
)

// maker makes samples of trees.
type maker struct {
	*reader
	to      *samples.Profile
	of      int // of reader.kind: the lines that count
	threads map[samples.Thread]int32
}

// samplesOf reads the samples of a text, with the names that it has.
func samplesOf(ctx context.Context, in *profile.Input, to *samples.Profile) error {
	count := &reader{}
	if err := count.all(ctx, in); err != nil {
		return err
	}
	to.Types = []samples.Type{{Name: "samples", Unit: "count"}}
	m := &maker{reader: &reader{}, to: to, threads: map[samples.Thread]int32{}}
	if count.sums[0] == 0 {
		m.of = 1
	}
	m.sample = m.add
	return m.all(ctx, in)
}

// all reads a text.
func (r *reader) all(ctx context.Context, in *profile.Input) error {
	err := each(ctx, in, func(line []byte, begins bool) error {
		if !begins {
			return nil
		}
		return r.line(trimmed(line))
	})
	if err != nil {
		return err
	}
	return r.up(0)
}

// add adds the samples that end in the last node.
func (m *maker) add(nodes []node, self uint64) error {
	if m.kind() != m.of {
		return nil
	}
	stack, from := int32(samples.None), len(nodes)
	for from > 0 && !nodes[from-1].pushed {
		from--
	}
	if from > 0 {
		stack = nodes[from-1].stack
	}
	for i := from; i < len(nodes); i++ {
		n := &nodes[i]
		for k := len(n.frames) - 1; k >= 0; k-- {
			frame, err := m.to.Frame(n.frames[k].shown(k < len(n.frames)-1))
			if err == nil {
				stack, err = m.to.Push(stack, frame)
			}
			if err != nil {
				return err
			}
		}
		n.stack, n.pushed = stack, true
	}
	if stack == samples.None {
		m.to.Lost += self
		return nil
	}
	n, known := m.threads[m.thread]
	if !known {
		n = int32(len(m.to.Threads))
		m.threads[m.thread] = n
		m.to.Threads = append(m.to.Threads, m.thread)
	}
	if m.to.Name == "" {
		m.to.Name = m.thread.Process
	}
	return m.to.Add(samples.Sample{Stack: stack, Thread: n, Time: -1}, int64(self))
}
