package report

import (
	"bufio"
	"bytes"
	"slices"

	"github.com/symlake/symlake/formats/internal/scan"
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
	*jsonText
	r *appleReport
}

func readMetricKit(text []byte, o Options) *Report {
	if !bytes.Contains(text, []byte(callStackRoots)) {
		return nil
	}
	m := metricKit{&jsonText{b: text}, &appleReport{form: appleMetric}}
	m.value(0)
	if m.bad {
		return nil
	}
	return m.r.stack(text, o)
}

// value looks for call stacks in the value at hand. Whether they begin with the innermost frame
// is said beside them: those of one thread each do, those of several together are trees.
func (m metricKit) value(depth int) {
	if depth > maxMetricDepth {
		return
	}
	switch m.peek() {
	case '[':
		m.array(func(int) { m.value(depth + 1) })
	case '{':
		from, perThread := len(m.r.threads), false
		m.object(func(key string) {
			switch key {
			case "callStackPerThread":
				perThread = m.isTrue()
			case "platformArchitecture":
				m.r.arch = AppleArch(m.text())
			case callStackRoots:
				m.array(func(int) { m.frame(true, depth+1) })
			default:
				m.value(depth + 1)
			}
		})
		if perThread {
			for i := from; i < len(m.r.threads); i++ {
				slices.Reverse(m.r.threads[i].frames)
			}
		}
		if depth == 0 { // all were taken for trees
			for i := range m.r.threads {
				slices.Reverse(m.r.threads[i].frames)
			}
		}
	}
}

// frame reads a frame and those within it: the first of them goes on with its thread, the others
// begin one.
func (m metricKit) frame(fresh bool, depth int) {
	if depth > maxMetricDepth || m.peek() != '{' {
		return
	}
	if fresh {
		m.r.threads = append(m.r.threads, appleThread{})
	}
	t := len(m.r.threads) - 1
	at := len(m.r.threads[t].frames)
	m.r.threads[t].frames = append(m.r.threads[t].frames, appleFrame{}) // its place: it may say what it is behind what it holds
	f := appleFrame{image: -1, number: -1, span: [2]int{m.p, m.p}}
	answered := false // by an earlier run
	m.object(func(key string) {
		switch key {
		case "binaryName":
			f.name = []byte(m.text())
		case "binaryUUID":
			s := m.text()
			f.uuid, _, _ = scan.UUID([]byte(s), 0)
		case "address":
			f.addr = m.number()
		case offsetInSegment:
			f.span[0] = m.p
			near := max(0, m.p-len(offsetInSegment)-16)
			if i := bytes.LastIndex(m.b[near:m.p], []byte(`"`+offsetInSegment)); i >= 0 {
				f.span[0] = near + i
			}
			f.offset = m.number()
			f.span[1] = m.p
			f.based = true
		case ipsKeys.function:
			answered = true
		case "subFrames":
			m.array(func(i int) { m.frame(i > 0, depth+1) })
		}
	})
	if answered {
		f.span[1] = f.span[0]
	}
	if f.addr < f.offset {
		f.addr = f.offset
	}
	f.load = f.addr - f.offset
	m.r.threads[t].frames[at] = f
}

// printMetricKit writes answers behind where a frame says its place, under the names that .ips
// reports use; what the function is inlined into is a list beside it.
func printMetricKit(out *bufio.Writer, s *Report, answers [][]symbol.Answer) {
	done := 0
	each(s, answers, func(f *Frame, chain []symbol.Frame) {
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
			ipsKeys.write(out, &chain[i])
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
