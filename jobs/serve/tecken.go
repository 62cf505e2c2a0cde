package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lookup"
)

// The protocol of POST /symbolicate/v5, as Eliot speaks it: jobs of a memory map ([file name, debug id] each)
// and stacks of [index into the map, offset from the image's base]; -1 stands for what is not known. Members that are
// not known are passed over, as there.
type teckenRequest struct {
	Jobs *[]teckenJob `json:"jobs"` // or one job stands in its place
	teckenJob
}

type teckenJob struct {
	MemoryMap *[][]*string      `json:"memoryMap"`
	Stacks    *[][]teckenFrames `json:"stacks"`
}

// teckenFrames is one frame; a type of its own, because an array of any length would be taken for one of two numbers.
type teckenFrames struct {
	module int
	offset uint64
	none   bool // the offset is -1
}

var errFrame = errors.New("want [index into memoryMap or -1, offset or -1]")

// UnmarshalJSON reads [module, offset].
func (f *teckenFrames) UnmarshalJSON(text []byte) error {
	text = bytes.TrimSpace(text)
	if len(text) < 2 || text[0] != '[' || text[len(text)-1] != ']' {
		return failed(http.StatusBadRequest, "a frame: %v", errFrame)
	}
	first, second, ok := bytes.Cut(text[1:len(text)-1], []byte{','})
	if !ok {
		return failed(http.StatusBadRequest, "a frame: %v", errFrame)
	}
	f.module = -1
	if !isMinusOne(first) {
		module, err := integer(first)
		if err != nil || module > math.MaxInt32 {
			return failed(http.StatusBadRequest, "a frame's module: %v", errFrame)
		}
		f.module = int(module)
	}
	if f.none = isMinusOne(second); f.none {
		return nil
	}
	var err error
	if f.offset, err = integer(second); err != nil {
		return failed(http.StatusBadRequest, "a frame's offset: want -1 to 2^64-1")
	}
	return nil
}

// isMinusOne: the number stands for what is not known.
func isMinusOne(text []byte) bool {
	s := string(bytes.TrimSpace(text))
	return s == "-1" || s == "-1.0"
}

// module is one of a memory map, with what it leads to.
type module struct {
	name, id string
	asked    bool
	found    lookup.Resolution
}

// known: there is something to look up in.
func (m *module) known() bool {
	if !m.asked || m.found.Status != symbol.Found {
		return false
	}
	kind := m.found.Record.Published.Artifact.Kind
	return kind != symbol.R8 && kind != symbol.SourceMap
}

// maxModules bounds a memory map: processes have some hundreds of images.
const maxModules = 10_000

// tecken answers a request of that protocol.
func (s *Server) tecken(c *call) error {
	var req teckenRequest
	if err := c.parse(&req, false); err != nil {
		return err
	}
	jobs := []teckenJob{req.teckenJob}
	if req.Jobs != nil {
		jobs = *req.Jobs
	}
	if len(jobs) > s.o.Limits.Jobs {
		return failed(http.StatusBadRequest, "%d jobs: at most %d are answered at once", len(jobs), s.o.Limits.Jobs)
	}
	for i := range jobs {
		if err := s.check(c, &jobs[i]); err != nil {
			return failed(status(err), "job %d: %v", i, err)
		}
	}
	known := map[[2]string]*module{}
	var queries []lookup.Query
	modules := make([][]*module, len(jobs))
	for i := range jobs {
		for _, pair := range *jobs[i].MemoryMap {
			key := [2]string{*pair[0], *pair[1]}
			if known[key] == nil {
				known[key] = &module{name: key[0], id: key[1]}
			}
			modules[i] = append(modules[i], known[key])
		}
		for _, frames := range *jobs[i].Stacks {
			for _, f := range frames {
				if f.module < 0 {
					continue
				}
				m := modules[i][f.module]
				if !m.asked && m.name != "" && m.id != "" {
					m.asked = true
					m.found = s.o.Client.Resolve(c.ctx, m.id, lookup.Narrow{File: m.name})
					if m.known() {
						c.used(m.found.Record.ID)
					}
				}
				if m.known() && !f.none {
					queries = append(queries, f.query(m))
				}
			}
		}
	}
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if unreachable(known) {
		return failed(http.StatusServiceUnavailable, "the store does not answer")
	}
	answers := make([]symbol.Answer, len(queries))
	if err := s.o.Client.Frames(c.ctx, queries, func(i int, a symbol.Answer) { answers[i] = a }); err != nil {
		return err
	}
	out := append(make([]byte, 0, 1024+192*len(queries)), `{"results":[`...)
	for i := range jobs {
		if i > 0 {
			out = append(out, ',')
		}
		out, answers = s.result(c, out, &jobs[i], modules[i], answers)
	}
	if err := c.ctx.Err(); err != nil {
		return err
	}
	c.send(http.StatusOK, "application/json", append(out, "]}\n"...))
	return nil
}

// unreachable: modules were asked for, and of none is known whether it is stored.
func unreachable(known map[[2]string]*module) bool {
	asked, lost := 0, 0
	for _, m := range known {
		if m.asked {
			asked++
			if m.found.Status == symbol.Unavailable {
				lost++
			}
		}
	}
	return asked > 0 && lost == asked
}

func (f *teckenFrames) query(m *module) lookup.Query {
	return lookup.Query{Artifact: m.found.Record.ID, Where: symbol.Where{Space: symbol.Position, Value: f.offset}}
}

// check refuses a job that is not formed as it should be.
func (s *Server) check(c *call, j *teckenJob) error {
	if j.Stacks == nil {
		return failed(http.StatusBadRequest, "no stacks specified")
	}
	if j.MemoryMap == nil {
		return failed(http.StatusBadRequest, "no memoryMap specified")
	}
	if len(*j.Stacks) == 0 {
		return failed(http.StatusBadRequest, "no stacks specified")
	}
	if len(*j.MemoryMap) > maxModules {
		return failed(http.StatusRequestEntityTooLarge, "more than %d modules", maxModules)
	}
	for i, m := range *j.MemoryMap {
		if len(m) != 2 || m[0] == nil || m[1] == nil {
			return failed(http.StatusBadRequest, "module %d: want [file name, debug id]", i)
		}
		for _, r := range *m[1] {
			if r < '0' || r > '9' && r < 'A' || r > 'F' && r < 'a' || r > 'f' {
				return failed(http.StatusBadRequest, "module %d: want a debug id of hex digits", i)
			}
		}
	}
	c.stacks += len(*j.Stacks)
	if c.stacks > s.o.Limits.Stacks {
		return failed(http.StatusRequestEntityTooLarge, "more than %d stacks", s.o.Limits.Stacks)
	}
	for i, frames := range *j.Stacks {
		if frames == nil {
			return failed(http.StatusBadRequest, "stack %d: want an array of frames", i)
		}
		if c.frames += len(frames); c.frames > s.o.Limits.Frames {
			return failed(http.StatusRequestEntityTooLarge, "more than %d frames", s.o.Limits.Frames)
		}
		for k := range frames {
			if frames[k].module >= len(*j.MemoryMap) {
				return failed(http.StatusBadRequest, "stack %d, frame %d: its module is not in memoryMap", i, k)
			}
		}
	}
	return nil
}

func status(err error) int {
	if f := (*fail)(nil); errors.As(err, &f) {
		return f.code
	}
	return http.StatusBadRequest
}

// result appends the result of a job, and returns the answers that are left.
func (s *Server) result(c *call, out []byte, j *teckenJob, modules []*module, answers []symbol.Answer) ([]byte, []symbol.Answer) {
	out = append(out, `{"stacks":[`...)
	for i, frames := range *j.Stacks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, '[')
		for k := range frames {
			f := &frames[k]
			if k > 0 {
				out = append(out, ',')
			}
			out = fmt.Appendf(out, `{"frame":%d,"module":`, k)
			var m *module
			if f.module >= 0 {
				m = modules[f.module]
			}
			switch {
			case m == nil || m.name == "":
				out = append(out, `"<unknown>"`...)
			default:
				out = wire.AppendString(out, m.name)
			}
			if f.none {
				out = append(out, `,"module_offset":"-0x1"`...)
			} else {
				out = fmt.Appendf(out, `,"module_offset":"%#x"`, f.offset)
			}
			if m != nil && m.known() && !f.none {
				out = s.frame(c, out, f.query(m), &answers[0])
				answers = answers[1:]
			}
			out = append(out, '}')
		}
		out = append(out, ']')
	}
	out = append(out, `],"found_modules":{`...)
	seen := map[*module]bool{}
	for _, m := range modules {
		if seen[m] {
			continue
		}
		if len(seen) > 0 {
			out = append(out, ',')
		}
		seen[m] = true
		out = append(wire.AppendString(out, m.name+"/"+m.id), ':')
		switch {
		case !m.asked || m.found.Status == symbol.Unavailable:
			out = append(out, "null"...)
		default:
			out = strconv.AppendBool(out, m.known())
		}
	}
	return append(out, "}}"...), answers
}

// frame appends what a frame is, from the outermost function in: function, function_offset, file, line; what was inlined
// into it stands in inlines, the innermost first.
func (s *Server) frame(c *call, out []byte, q lookup.Query, a *symbol.Answer) []byte {
	if a.Status.Retry() {
		return fmt.Appendf(out, `,"status":%q,"retry":true`, a.Status)
	}
	if a.Status != symbol.Found || len(a.Frames) == 0 {
		return out
	}
	outer := &a.Frames[len(a.Frames)-1]
	out = appendPlace(append(out, ','), outer)
	if entry, ok := s.o.Client.Entry(c.ctx, q); ok && entry <= q.Where.Value {
		out = fmt.Appendf(out, `,"function_offset":"%#x"`, q.Where.Value-entry)
	}
	if len(a.Frames) == 1 {
		return out
	}
	out = append(out, `,"inlines":[`...)
	for i := range a.Frames[:len(a.Frames)-1] {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendPlace(append(out, '{'), &a.Frames[i]), '}')
	}
	return append(out, ']')
}

func appendPlace(out []byte, f *symbol.Frame) []byte {
	out = append(out, `"function":`...)
	out = wire.AppendString(out, wire.FunctionOf(*f))
	if f.File != "" {
		out = append(out, `,"file":`...)
		out = wire.AppendString(out, f.File)
		if f.Line != 0 {
			out = append(out, `,"line":`...)
			out = strconv.AppendUint(out, uint64(f.Line), 10)
		}
	}
	return out
}

var _ json.Unmarshaler = (*teckenFrames)(nil)
