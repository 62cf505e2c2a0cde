package apple

import (
	"bufio"
	"bytes"
	"slices"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	callStackRoots  = "callStackRootFrames"
	offsetInSegment = "offsetIntoBinaryTextSegment"
	// maxMetricDepth bounds the nesting of frames, and of what they are found in.
	maxMetricDepth = 4096
)

// metricKit reads the diagnostics that MetricKit hands to programs, and what App Store Connect
// gives of them: call stacks as frames within frames, at any place of the value.
type metricKit struct {
	*json.Walker
	r *crash.Loaded
}

func readMetricKit(text []byte, o report.Options) *report.Report {
	if !bytes.Contains(text, []byte(callStackRoots)) {
		return nil
	}
	m := metricKit{&json.Walker{Bytes: text}, &crash.Loaded{Form: appleMetric}}
	m.value(0)
	if m.Failed {
		return nil
	}
	return m.r.Report(text, o)
}

// value looks for call stacks in the value at hand. Whether they begin with the innermost frame
// is said beside them: stacks of one thread each do, stacks of several threads together are trees.
func (m metricKit) value(depth int) {
	if depth > maxMetricDepth {
		return
	}
	switch m.Peek() {
	case '[':
		m.Array(func(int) { m.value(depth + 1) })
	case '{':
		from, perThread := len(m.r.Threads), false
		m.Object(func(key string) {
			switch key {
			case "callStackPerThread":
				perThread = m.IsTrue()
			case "platformArchitecture":
				m.r.Arch = report.AppleArch(m.Text())
			case callStackRoots:
				m.Array(func(int) { m.frame(true, depth+1) })
			default:
				m.value(depth + 1)
			}
		})
		if perThread {
			for i := from; i < len(m.r.Threads); i++ {
				slices.Reverse(m.r.Threads[i].Frames)
			}
		}
		if depth == 0 { // all were taken for trees
			for i := range m.r.Threads {
				slices.Reverse(m.r.Threads[i].Frames)
			}
		}
	}
}

// frame reads a frame and those within it: the first of them goes on with its thread, the others
// begin one.
func (m metricKit) frame(fresh bool, depth int) {
	if depth > maxMetricDepth || m.Peek() != '{' {
		return
	}
	if fresh {
		m.r.Threads = append(m.r.Threads, crash.LoadedThread{})
	}
	t := len(m.r.Threads) - 1
	at := len(m.r.Threads[t].Frames)
	m.r.Threads[t].Frames = append(m.r.Threads[t].Frames, crash.LoadedFrame{}) // its place: it may say what it is behind what it holds
	f := crash.LoadedFrame{Image: -1, Number: -1, Span: [2]int{m.Pos, m.Pos}}
	answered := false // by an earlier run
	m.Object(func(key string) {
		switch key {
		case "binaryName":
			f.Name = []byte(m.Text())
		case "binaryUUID":
			s := m.Text()
			f.UUID, _, _ = scan.UUID([]byte(s), 0)
		case "address":
			f.Addr = m.Number()
		case offsetInSegment:
			f.Span[0] = m.Pos
			near := max(0, m.Pos-len(offsetInSegment)-16)
			if i := bytes.LastIndex(m.Bytes[near:m.Pos], []byte(`"`+offsetInSegment)); i >= 0 {
				f.Span[0] = near + i
			}
			f.Offset = m.Number()
			f.Span[1] = m.Pos
			f.Based = true
		case ipsKeys.Function:
			answered = true
		case "subFrames":
			m.Array(func(i int) { m.frame(i > 0, depth+1) })
		}
	})
	if answered {
		f.Span[1] = f.Span[0]
	}
	if f.Addr < f.Offset {
		f.Addr = f.Offset
	}
	f.Load = f.Addr - f.Offset
	m.r.Threads[t].Frames[at] = f
}

// printMetricKit writes answers behind where a frame says its place, under the names that .ips
// reports use; what the function is inlined into is a list beside it.
func printMetricKit(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer) {
	done := 0
	report.Each(s, answers, func(f *report.Frame, chain []symbol.Frame) {
		if f.Span[0] == f.Span[1] {
			return // it does not say its place, or it was answered
		}
		out.Write(s.Text[done:f.Span[1]])
		done = f.Span[1]
		for i := range chain {
			switch i {
			case 0:
				out.WriteString(", ")
			case 1:
				out.WriteString(`, "inlinedInto": [{`)
			default:
				out.WriteString(", {")
			}
			ipsKeys.Write(out, &chain[i])
			if i > 0 {
				out.WriteByte('}')
			}
		}
		if len(chain) > 1 {
			out.WriteByte(']')
		}
	})
	out.Write(s.Text[done:])
}
