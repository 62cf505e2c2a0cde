package collapsed

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/internal/named"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/samples"
)

// samplesOf reads stacks. Of a difference the second count is read.
func samplesOf(ctx context.Context, in *profile.Input, to *samples.Profile) error {
	to.Types = []samples.Type{{Name: "samples", Unit: "count"}}
	return eachLine(ctx, in, func(line []byte, _ int64, long bool) (err error) {
		stack, rest := cutLine(line, long)
		if stack == nil {
			return nil
		}
		counts := bytes.Fields(rest)
		count, _ := strconv.ParseFloat(string(counts[len(counts)-1]), 64)
		at := int32(samples.None)
		each(stack, report.Stepped, func(name string, _ bool) {
			if err != nil || name == "" {
				return
			}
			var frame int32
			if frame, err = to.Frame(frameOf(name)); err == nil {
				at, err = to.Push(at, frame)
			}
		})
		if err != nil {
			return err
		}
		return to.Add(samples.Sample{Stack: at, Thread: samples.None, Time: -1}, int64(min(math.Round(count), 1<<62)))
	})
}

// frameOf is the frame of a name.
func frameOf(text string) samples.Frame {
	name, mark := named.Suffix(text)
	f := samples.Frame{Function: name, Inlined: mark == inlined}
	p := named.Parse(text, false)
	switch p.Kind {
	case named.Script:
		f.Function, f.File = p.Function, p.Frame.File
		f.Line, f.Column = uint32(p.Frame.Raw>>32), uint32(p.Frame.Raw)
		if f.Function == "" {
			f.Function = "(anonymous)"
		}
	case named.Native:
		f.Module, f.Address = path.Base(p.Frame.File), p.Frame.Raw
	}
	if f.Function == "" {
		f.Function = text
	}
	return f
}

// write writes the stacks of samples, each once, in the order of their first sample.
func write(out io.Writer, from *samples.Profile) error {
	counts := make([]int64, len(from.Stacks))
	var order []int32
	for i := range from.Samples {
		s := from.Samples[i].Stack
		v := from.Value(i, from.Default)
		if s < 0 || v == 0 {
			continue
		}
		if counts[s] == 0 {
			order = append(order, s)
		}
		counts[s] += v
	}
	w := bufio.NewWriterSize(out, 64<<10)
	var stack []int32
	for _, s := range order {
		if counts[s] <= 0 {
			continue
		}
		stack = stack[:0]
		for at := s; at >= 0; at = from.Stacks[at].Caller {
			stack = append(stack, from.Stacks[at].Frame)
		}
		for i := len(stack) - 1; i >= 0; i-- {
			f := &from.Frames[stack[i]]
			name := clean(f.Function)
			if space := strings.LastIndexByte(name, ' '); i == 0 && space >= 0 && isCount([]byte(name[space+1:])) {
				name = name[:space] + "_" + name[space+1:] // it is no count
			}
			_, _ = w.WriteString(name)
			if f.Inlined {
				_, _ = w.WriteString(inlined)
			}
			if i > 0 {
				_ = w.WriteByte(';')
			}
		}
		_ = w.WriteByte(' ')
		_, _ = w.WriteString(strconv.FormatInt(counts[s], 10))
		_ = w.WriteByte('\n')
		counts[s] = 0
	}
	return w.Flush()
}
