package serve

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lookup"
)

// module is one of a memory map, with what it leads to.
type module struct {
	name, id string
	asked    bool
	status   symbol.Status
	known    bool // there is something to look up in
	artifact symbol.ID
}

// ask resolves a module. Its record is not kept.
func (m *module) ask(c *call) {
	m.asked = true
	r := c.s.o.Client.Resolve(c.ctx, m.id, lookup.Narrow{File: m.name})
	if m.status = r.Status; r.Status != symbol.Found {
		return
	}
	kind := r.Record.Published.Artifact.Kind
	if m.known = kind != symbol.R8 && kind != symbol.SourceMap; m.known {
		m.artifact = r.Record.ID
		c.used(m.artifact)
	}
}

// tecken answers a request of that protocol.
func (s *Server) tecken(c *call) error {
	jobs, err := s.parseTecken(c)
	if err != nil {
		return err
	}
	modules, err := resolve(c, jobs)
	if err != nil {
		return err
	}
	j := wire.NewJSON(c.answer("application/json"))
	j.Begin("", '{')
	j.Begin("results", '[')
	for i := range jobs {
		r := teckenResult{c: c, j: j, stacks: *jobs[i].Stacks, modules: modules[i]}
		if err = r.write(); err != nil {
			break
		}
	}
	if err == nil {
		j.End()
		j.End()
	}
	return c.finish(j, err)
}

// resolve finds the artifacts of the modules that frames name, by job and place in its memory map.
func resolve(c *call, jobs []teckenJob) ([][]*module, error) {
	known := map[[2]string]*module{}
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
				if m := modules[i][f.module]; !m.asked && m.name != "" && m.id != "" {
					m.ask(c)
				}
			}
		}
	}
	if err := c.done(); err != nil {
		return nil, err
	}
	c.turn.fresh()
	asked, lost := 0, 0
	for _, m := range known {
		if m.asked {
			asked++
			if m.status == symbol.Unavailable {
				lost++
			}
		}
	}
	if asked > 0 && lost == asked { // of none is known whether it is stored
		return nil, failed(http.StatusServiceUnavailable, "the store does not answer")
	}
	return modules, nil
}

// teckenResult is the result of a job on its way.
type teckenResult struct {
	c       *call
	j       *wire.JSON
	stacks  [][]teckenFrames
	modules []*module
}

// module returns the module of a frame, nil if it names none.
func (r *teckenResult) module(f *teckenFrames) *module {
	if f.module < 0 {
		return nil
	}
	return r.modules[f.module]
}

// query returns the query of a frame, false if there is nothing to ask.
func (r *teckenResult) query(f *teckenFrames) (lookup.Query, bool) {
	m := r.module(f)
	if m == nil || !m.known || f.none {
		return lookup.Query{}, false
	}
	return lookup.Query{Artifact: m.artifact, Where: symbol.Where{Space: symbol.Position, Value: f.offset}}, true
}

// write answers the stacks, some frames at once, and says which modules were found.
func (r *teckenResult) write() error {
	r.j.Begin("", '{')
	r.j.Begin("stacks", '[')
	for stack, frame := 0, 0; stack < len(r.stacks); {
		var err error
		if stack, frame, err = r.some(stack, frame); err != nil {
			return err
		}
	}
	r.j.End()
	r.j.Begin("found_modules", '{')
	seen := map[*module]bool{}
	for _, m := range r.modules {
		if seen[m] {
			continue
		}
		seen[m] = true
		r.j.Value(m.name+"/"+m.id, func(to []byte) []byte {
			if !m.asked || m.status == symbol.Unavailable {
				return append(to, "null"...)
			}
			return strconv.AppendBool(to, m.known)
		})
	}
	r.j.End()
	r.j.End()
	return r.j.Err()
}

// some answers frames from one of a stack on, across stacks, and says where the next ones begin.
func (r *teckenResult) some(stack, frame int) (nextStack, nextFrame int, err error) {
	var queries []lookup.Query
	nextStack, nextFrame = stack, frame
	for n := 0; n < answeredAtOnce && nextStack < len(r.stacks); n++ {
		if nextFrame == len(r.stacks[nextStack]) {
			nextStack, nextFrame = nextStack+1, 0
			continue
		}
		if q, asked := r.query(&r.stacks[nextStack][nextFrame]); asked {
			queries = append(queries, q)
		}
		nextFrame++
	}
	answers := make([]symbol.Answer, len(queries))
	if err := r.c.s.o.Client.Frames(r.c.ctx, queries, func(i int, a symbol.Answer) { answers[i] = a }); err != nil {
		return 0, 0, err
	}
	if err := r.c.done(); err != nil {
		return 0, 0, err
	}
	for ; stack < nextStack || stack < len(r.stacks) && frame < nextFrame; frame++ {
		if frame == 0 {
			r.j.Begin("", '[')
		}
		if frame == len(r.stacks[stack]) {
			r.j.End()
			stack, frame = stack+1, -1
			continue
		}
		f := &r.stacks[stack][frame]
		q, asked := r.query(f)
		var a *symbol.Answer
		if asked {
			a, answers = &answers[0], answers[1:]
		}
		r.frame(frame, f, q, a)
	}
	if err := r.j.Err(); err != nil {
		return 0, 0, err
	}
	r.c.turn.fresh()
	return nextStack, nextFrame, r.c.turn.yield()
}

// frame writes a frame: function, function_offset, file and line of the outermost function. Functions inlined into it
// stand in inlines, innermost first. a is nil if there was nothing to ask.
func (r *teckenResult) frame(k int, f *teckenFrames, q lookup.Query, a *symbol.Answer) {
	r.j.Begin("", '{')
	r.j.Members(func(to []byte) []byte {
		to = append(fmt.Appendf(to, `"frame":%d,"module":`, k), ""...)
		if m := r.module(f); m == nil || m.name == "" {
			to = append(to, `"<unknown>"`...)
		} else {
			to = wire.AppendString(to, m.name)
		}
		if f.none {
			to = append(to, `,"module_offset":"-0x1"`...)
		} else {
			to = fmt.Appendf(to, `,"module_offset":"%#x"`, f.offset)
		}
		if a != nil && a.Status.Retry() {
			to = fmt.Appendf(to, `,"status":%q,"retry":true`, a.Status)
		}
		return to
	})
	if a != nil && a.Status == symbol.Found && len(a.Frames) > 0 {
		r.chain(q, a.Frames)
	}
	r.j.End()
}

func (r *teckenResult) chain(q lookup.Query, frames []symbol.Frame) {
	r.j.Members(func(to []byte) []byte {
		to = appendPlace(to, &frames[len(frames)-1])
		if entry, ok := r.c.s.o.Client.Entry(r.c.ctx, q); ok && entry <= q.Where.Value {
			to = fmt.Appendf(to, `,"function_offset":"%#x"`, q.Where.Value-entry)
		}
		return to
	})
	if len(frames) == 1 {
		return
	}
	r.j.Begin("inlines", '[')
	for i := range frames[:len(frames)-1] {
		r.j.Value("", func(to []byte) []byte { return append(appendPlace(append(to, '{'), &frames[i]), '}') })
	}
	r.j.End()
}

func appendPlace(out []byte, f *symbol.Frame) []byte {
	out = append(out, `"function":`...)
	out = wire.AppendString(out, f.Readable())
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
