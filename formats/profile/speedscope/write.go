package speedscope

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/samples"
)

// write writes samples: a sampled profile for each thread.
func write(out io.Writer, from *samples.Profile) error {
	w := &writer{Writer: bufio.NewWriterSize(out, 64<<10), from: from}
	w.text(`{"$schema":"`, schema, `","exporter":"symlake","name":"`, json.Quote(from.Name), `","activeProfileIndex":0,"shared":{"frames":[`)
	for i := range from.Frames {
		if i > 0 {
			w.text(",")
		}
		w.frame(&from.Frames[i])
	}
	w.text(`]},"profiles":[`)
	for i, some := range w.threads() {
		if i > 0 {
			w.text(",")
		}
		w.profile(some)
	}
	w.text("]}\n")
	return w.Flush()
}

type writer struct {
	*bufio.Writer
	from  *samples.Profile
	stack []int32
	b     []byte
}

func (w *writer) text(parts ...string) {
	for _, p := range parts {
		_, _ = w.WriteString(p) // Flush has the error
	}
}

func (w *writer) number(v int64) {
	w.b = strconv.AppendInt(w.b[:0], v, 10)
	_, _ = w.Write(w.b)
}

func (w *writer) frame(f *samples.Frame) {
	w.text("\n", `{"name":"`, json.Quote(f.Function), `"`)
	if f.File != "" {
		w.text(`,"file":"`, json.Quote(f.File), `"`)
	}
	if f.Line > 0 {
		w.text(`,"line":`)
		w.number(int64(f.Line))
	}
	if f.Column > 0 {
		w.text(`,"col":`)
		w.number(int64(f.Column))
	}
	w.text("}")
}

// threads are the numbers of the samples of each thread, in the order of the threads' first samples.
func (w *writer) threads() (all [][]int32) {
	known := map[int32]int{}
	for i := range w.from.Samples {
		s := &w.from.Samples[i]
		if s.Stack < 0 {
			continue
		}
		n, there := known[s.Thread]
		if !there {
			n = len(all)
			known[s.Thread] = n
			all = append(all, nil)
		}
		all[n] = append(all[n], int32(i))
	}
	if len(all) == 0 {
		all = append(all, nil) // the viewer wants one
	}
	return all
}

// profile writes the samples of a thread.
func (w *writer) profile(some []int32) {
	name, unit := w.from.Name, "none"
	if len(some) > 0 {
		if n := w.from.Samples[some[0]].Thread; n >= 0 {
			t := &w.from.Threads[n]
			if name = t.Name; name == "" {
				name = fmt.Sprint("thread ", t.TID)
			}
			if t.Process != "" {
				name = t.Process + " " + name
			}
		}
	}
	if len(w.from.Types) > 0 {
		switch u := w.from.Types[w.from.Default].Unit; u {
		case "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes":
			unit = u
		}
	}
	total := int64(0)
	for _, i := range some {
		total += max(0, w.from.Value(int(i), w.from.Default))
	}
	w.text("\n", `{"type":"sampled","name":"`, json.Quote(name), `","unit":"`, unit, `","startValue":0,"endValue":`)
	w.number(total)
	w.text(`,"samples":[`)
	for k, i := range some {
		w.stack = w.stack[:0]
		for at := w.from.Samples[i].Stack; at >= 0; at = w.from.Stacks[at].Caller {
			w.stack = append(w.stack, w.from.Stacks[at].Frame)
		}
		mark := ",\n["
		if k == 0 {
			mark = "\n["
		}
		w.text(mark)
		for at := len(w.stack) - 1; at >= 0; at-- {
			w.number(int64(w.stack[at]))
			if at > 0 {
				w.text(",")
			}
		}
		w.text("]")
	}
	w.text(`],"weights":[`)
	for k, i := range some {
		if k > 0 {
			w.text(",")
		}
		w.number(max(0, w.from.Value(int(i), w.from.Default)))
	}
	w.text("]}")
}
