package cpuprofile

import (
	"bytes"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/samples"
)

// samples reads the samples of a profile: ids of nodes, or samples of Hermes.
func (s *sampler) samples(t *stacks) error {
	t.first, t.got = len(s.to.Samples), 0
	return s.r.Array(func(i int) error {
		text, whole, err := s.r.Take(mostNode)
		if err != nil || !whole {
			return err
		}
		if text[0] == '{' {
			return s.sampled(text)
		}
		return s.sample(t, text)
	})
}

// sample adds a sample of a node.
func (s *sampler) sample(t *stacks, text []byte) error {
	t.count++
	if !s.second || s.heap {
		return nil
	}
	id, _ := strconv.ParseInt(string(text), 10, 64)
	stack, known := t.byID[id]
	if !known || stack == samples.None {
		stack = samples.None
		s.to.Lost++
	}
	t.got++
	return s.to.Add(samples.Sample{Stack: stack, Thread: t.thread, Time: -1}, 1, 0)
}

// deltas reads the microseconds from each sample's predecessor to it.
func (s *sampler) deltas(t *stacks) error {
	s.timed = true
	if !s.second {
		return s.r.Skip()
	}
	return s.r.Array(func(i int) error {
		return s.number(func(v float64) { s.delta(t, i, int64(v*1000)) })
	})
}

// delta gives sample i behind the profile's first its time, and the sample before it its length.
func (s *sampler) delta(t *stacks, i int, by int64) {
	if s.heap || i >= t.got {
		return
	}
	t.at += by
	at := t.first + i
	s.to.Samples[at].Time = max(0, t.at)
	if t.last >= 0 && by > 0 && len(s.to.Types) == 2 {
		s.to.Values[2*t.last+1] = by
	}
	t.last = at
}

// event is an event of a trace.
type event struct {
	name, phase, id string
	pid, tid        int64
	args            []byte
}

// member reads a member of an event.
func (s *sampler) member(e *event, key string) error {
	switch key {
	case "name", "ph", "id", "pid", "tid", "args":
	default:
		return nil
	}
	text, whole, err := s.r.Take(mostNode)
	if err != nil || !whole {
		return err
	}
	switch key {
	case "name":
		e.name = json.String(text)
	case "ph":
		e.phase = json.String(text)
	case "id":
		e.id = json.String(text)
	case "pid":
		e.pid, _ = strconv.ParseInt(json.String(text), 10, 64)
	case "tid":
		e.tid, _ = strconv.ParseInt(json.String(text), 10, 64)
	case "args":
		if len(text) < 1024 || bytes.Contains(text, []byte(`"cpuProfile"`)) {
			e.args = bytes.Clone(text)
		}
	}
	return nil
}

// event takes an event in that is a part of a profile, or names a thread.
func (s *sampler) event(e *event) error {
	j := &json.Walker{Bytes: e.args}
	switch {
	case e.name == "thread_name" && e.phase == "M" && !s.second:
		j.Object(func(key string) {
			if key == "name" {
				n := s.thread(e.pid, e.tid)
				s.to.Threads[n].Name = j.Text()
			}
		})
	case e.name == "Profile":
		if !s.second {
			s.chunk(e).thread = s.thread(e.pid, e.tid)
		}
	case e.name == "ProfileChunk" || len(e.args) > 1024:
		return s.part(s.chunk(e), j)
	}
	return nil
}

// thread returns the number of a thread.
func (s *sampler) thread(pid, tid int64) int32 {
	n, known := s.threads[[2]int64{pid, tid}]
	if !known {
		n = int32(len(s.to.Threads))
		s.threads[[2]int64{pid, tid}] = n
		s.to.Threads = append(s.to.Threads, samples.Thread{PID: pid, TID: tid})
	}
	return n
}

// chunk returns the profile that an event belongs to.
func (s *sampler) chunk(e *event) *stacks {
	key := strconv.FormatInt(e.pid, 10) + " " + e.id
	t := s.chunks[key]
	if t == nil {
		t = &stacks{last: samples.None, thread: samples.None}
		s.chunks[key] = t
		s.parts = append(s.parts, t)
	}
	return t
}

// part reads a part of a profile.
func (s *sampler) part(t *stacks, j *json.Walker) (err error) {
	note := func(bad error) {
		if err == nil {
			err = bad
		}
	}
	t.first, t.got = len(s.to.Samples), 0
	deltas := func() {
		s.timed = true
		if s.second {
			j.Array(func(i int) { s.delta(t, i, int64(j.Number())*1000) })
		}
	}
	var at span // of deltas that stand before their samples
	j.Object(func(key string) {
		if key != "data" || j.Peek() != '{' {
			return
		}
		walk(j, func(key string, value *span) {
			switch {
			case key == "cpuProfile" && j.Peek() == '{':
				j.Object(func(key string) {
					switch key {
					case "nodes":
						if !s.second {
							j.Array(func(int) { note(s.node(t, j)) })
						}
					case "samples":
						j.Array(func(int) {
							j.Peek()
							from := j.Pos
							j.Skip()
							note(s.sample(t, j.Bytes[from:j.Pos]))
						})
					}
				})
			case key == "timeDeltas":
				j.Skip()
				at = span{value.from, j.Pos}
			}
		})
	})
	if at.to > 0 {
		j.Failed, j.Pos = false, at.from
		deltas()
	}
	return err
}

// stackFrames reads the frames of Hermes's sampling profiler.
func (s *sampler) stackFrames() error {
	if s.second {
		return s.r.Skip()
	}
	if s.hermes == nil {
		s.hermes = &stacks{last: samples.None, thread: samples.None, count: 1}
	}
	return s.r.Object(func(key string) error {
		text, whole, err := s.r.Take(mostNode)
		if err != nil || !whole {
			return err
		}
		f := sampledFrame(text)
		id, bad := strconv.ParseInt(key, 10, 64)
		if bad != nil {
			return nil
		}
		c := counted{id: id}
		if c.up, bad = strconv.ParseInt(f.parent, 10, 64); bad == nil {
			c.upped = true
		}
		c.frame = samples.None
		if f.category != "root" && f.name != "[root]" {
			if c.frame, err = s.to.Frame(f.sample()); err != nil {
				return err
			}
		}
		s.hermes.nodes = append(s.hermes.nodes, c)
		return nil
	})
}

// sample returns the frame of samples: NAME(FILE:LINE:COLUMN) says all of it.
func (f *sampled) sample() samples.Frame {
	to := samples.Frame{Function: f.name}
	if name, file, line, column, ok := placed(f.name); ok {
		to = samples.Frame{Function: name, File: file, Line: line, Column: column}
	}
	if to.Function == "" {
		to.Function = "(anonymous)"
	}
	return to
}

// placed takes NAME(FILE:LINE:COLUMN) apart.
func placed(text string) (name, file string, line, column uint32, ok bool) {
	open := bytes.IndexByte([]byte(text), '(')
	if open < 0 || text[len(text)-1] != ')' {
		return text, "", 0, 0, false
	}
	rest := text[open+1 : len(text)-1]
	numbers := [2]uint32{}
	for i := range numbers {
		colon := bytes.LastIndexByte([]byte(rest), ':')
		if colon < 0 {
			return text, "", 0, 0, false
		}
		v, err := strconv.ParseUint(rest[colon+1:], 10, 32)
		if err != nil {
			return text, "", 0, 0, false
		}
		numbers[i], rest = uint32(v), rest[:colon]
	}
	return text[:open], rest, numbers[1], numbers[0], true
}

// sampled adds a sample of Hermes's sampling profiler.
func (s *sampler) sampled(text []byte) error {
	if !s.second {
		s.hermesTimed = s.hermesTimed || bytes.Contains(text, []byte(`"ts"`)) && bytes.Contains(text, []byte(`"sf"`))
		return nil
	}
	if s.hermes == nil {
		return nil
	}
	var at, frame, tid, pid int64
	weight := int64(1)
	j := &json.Walker{Bytes: text}
	j.Object(func(key string) {
		switch key {
		case "ts":
			at = int64(j.Number()) * 1000
		case "sf":
			frame = int64(j.Number())
		case "tid":
			tid = int64(j.Number())
		case "pid":
			pid = int64(j.Number())
		case "weight":
			weight = max(1, int64(j.Number()))
		}
	})
	t := s.hermes
	stack, known := t.byID[frame]
	if !known || stack == samples.None {
		stack = samples.None
		s.to.Lost++
	}
	if t.last == samples.None {
		t.at = at
	}
	if t.last >= 0 && len(s.to.Types) == 2 {
		s.to.Values[2*t.last+1] = max(0, at-s.before)
	}
	s.before, t.last = at, len(s.to.Samples)
	return s.to.Add(samples.Sample{Stack: stack, Thread: s.thread(pid, tid), Time: max(0, at-t.at)}, weight, 0)
}
