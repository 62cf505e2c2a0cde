package gecko

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/samples"
)

// taken is the samples of a thread.
type taken struct {
	stacks  []int32
	times   []float64 // milliseconds
	deltas  bool      // times count from the one before
	weights []float64 // none: each counts one
	kind    string    // of weights: "samples", "tracing-ms", "bytes"
}

// sampler reads samples.
type sampler struct {
	namer
	of map[*thread]*taken
}

func (*sampler) strings(s *stream, _ *tables) error { return s.skip() }

func (r *sampler) samples(s *stream, t *thread, name string) error {
	if name != "samples" {
		return s.skip()
	}
	made := &taken{}
	r.of[t] = made
	schema := turned(t.own.schemas[name])
	return s.object(func(key string) (err error) {
		switch {
		case key == "schema":
			made, err := readSchema(s)
			schema = turned(made)
			return err
		case key == "weightType":
			made.kind, err = s.text()
			return err
		case key == "data" && schema != nil:
			return s.array(func(int) error {
				made.stacks, made.times = append(made.stacks, null), append(made.times, math.NaN())
				if err := s.array(func(k int) error { return r.cell(s, made, schema[k], len(made.stacks)-1) }, nil); err != nil {
					return err
				}
				return r.room.take(s, 24)
			}, nil)
		}
		return s.array(func(i int) error {
			switch key {
			case "stack":
				made.stacks = append(made.stacks, null)
			case "time", "timeDeltas":
				made.times, made.deltas = append(made.times, math.NaN()), key == "timeDeltas"
			case "weight":
				made.weights = append(made.weights, 1)
			default:
				return s.skip()
			}
			if err := r.cell(s, made, key, i); err != nil {
				return err
			}
			return r.room.take(s, 12)
		}, nil)
	})
}

// turned returns the columns of a schema by their places.
func turned(schema map[string]int) map[int]string {
	if schema == nil {
		return nil
	}
	made := map[int]string{}
	for column, at := range schema {
		made[at] = column
	}
	return made
}

// cell reads a value of a sample.
func (r *sampler) cell(s *stream, to *taken, column string, i int) error {
	b, err := s.raw()
	if err != nil {
		return err
	}
	switch column {
	case "stack":
		if v, ok := integer(b); ok {
			to.stacks[i] = narrow(v)
		}
	case "time", "timeDeltas":
		if v, err := strconv.ParseFloat(string(b), 64); err == nil && i < len(to.times) {
			to.times[i] = v
		}
	case "weight":
		if v, err := strconv.ParseFloat(string(b), 64); err == nil && i < len(to.weights) {
			to.weights[i] = v
		}
	}
	return nil
}

// samplesOf reads the samples of a profile, with the names that it has.
func samplesOf(ctx context.Context, in *profile.Input, to *samples.Profile) error {
	memory := cmp.Or(to.Room, samples.RoomBytes) / 2
	d, err := read(ctx, in, memory, func(d *document) { d.need(true) })
	if err != nil {
		return err
	}
	r := &sampler{namer: namer{room: &room{left: memory}}, of: map[*thread]*taken{}}
	if _, _, err := walk(ctx, in, nil, d, r, false); err != nil {
		return err
	}
	m := &maker{d: d, to: to, of: r.of, done: map[*tables]*drawn{}}
	return m.all()
}

// maker makes samples of a document.
type maker struct {
	d    *document
	to   *samples.Profile
	of   map[*thread]*taken
	done map[*tables]*drawn
	wall int // of the types: time by the interval; null: there is none
	time int // "tracing-ms"
	size int // "bytes"
}

// drawn are the stacks and frames of tables, as the profile numbers them.
type drawn struct {
	stacks []int32 // of each stack; notYet: it is not made
	frames []int32
}

const notYet = -2

func (m *maker) all() error {
	to := m.to
	if len(m.d.processes) == 0 {
		return nil
	}
	first := m.d.processes[0]
	to.Name, to.Start = first.product, nanoseconds(first.start)
	to.Types = []samples.Type{{Name: "samples", Unit: "count"}}
	m.wall, m.time, m.size = null, null, null
	column := func(name, unit string) int {
		to.Types = append(to.Types, samples.Type{Name: name, Unit: unit})
		return len(to.Types) - 1
	}
	for _, t := range m.d.threads {
		if of := m.of[t]; of != nil && of.kind == "tracing-ms" && m.time < 0 {
			m.time = column("time", "nanoseconds")
			to.Default = m.time
		} else if of != nil && of.kind == "bytes" && m.size < 0 {
			m.size = column("space", "bytes")
			to.Default = m.size
		}
	}
	if first.interval > 0 && m.time < 0 && m.size < 0 {
		m.wall = column("wall", "nanoseconds")
		to.Default, to.Period = m.wall, nanoseconds(first.interval)
	}
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, t := range m.d.threads {
		at := int32(len(to.Threads))
		to.Threads = append(to.Threads, samples.Thread{PID: max(t.pid, 0), TID: max(t.tid, 0), Name: t.name, Process: t.inProcess})
		of := m.of[t]
		if of == nil {
			continue
		}
		shift := nanoseconds(t.process.start - first.start)
		sum := 0.0
		for i, stack := range of.stacks {
			s := samples.Sample{Stack: samples.None, Thread: at, Time: -1}
			if i < len(of.times) && !math.IsNaN(of.times[i]) {
				if sum += of.times[i]; !of.deltas {
					sum = of.times[i]
				}
				if !t.process.bytes {
					s.Time = max(nanoseconds(sum)+shift, 0)
					low, high = min(low, s.Time), max(high, s.Time)
				}
			}
			if stack < 0 {
				to.Lost++
				continue
			}
			var err error
			if s.Stack, err = m.stack(t.tables(), int(stack)); err != nil {
				return err
			}
			if err := to.Add(s, m.values(of, i, t.process.interval)...); err != nil {
				return err
			}
		}
	}
	to.Duration = max(high-low, 0)
	if high < low {
		to.Duration = 0
	}
	return nil
}

// nanoseconds returns milliseconds as nanoseconds.
func nanoseconds(ms float64) int64 {
	if v := math.Round(ms * 1e6); v > -1<<62 && v < 1<<62 {
		return int64(v)
	}
	return 0
}

// values returns the values of a sample.
func (m *maker) values(of *taken, i int, interval float64) []int64 {
	v := make([]int64, len(m.to.Types))
	weight := 1.0
	if i < len(of.weights) {
		weight = of.weights[i]
	}
	v[0] = 1
	switch {
	case of.kind == "tracing-ms" && m.time >= 0:
		v[m.time] = nanoseconds(weight)
	case of.kind == "bytes" && m.size >= 0:
		v[m.size] = int64(weight)
	default:
		v[0] = int64(weight)
	}
	if m.wall >= 0 {
		v[m.wall] = nanoseconds(weight * interval)
	}
	return v
}

// stack returns the number of a stack. Callers are made first; a stack that is its own caller ends there.
func (m *maker) stack(t *tables, at int) (int32, error) {
	of, stacks := m.drawn(t), t.of("stackTable")
	var way []int
	caller := int32(samples.None)
	for at >= 0 && at < len(of.stacks) {
		if of.stacks[at] != notYet {
			caller = of.stacks[at]
			break
		}
		of.stacks[at] = samples.None // until it is made
		way = append(way, at)
		at, _ = stacks.prefix(at)
	}
	for i := len(way) - 1; i >= 0; i-- {
		if row := stacks.index("frame", way[i], t.of("frameTable")); row >= 0 {
			frame, err := m.frame(t, of, row)
			if err == nil {
				caller, err = m.to.Push(caller, frame)
			}
			if err != nil {
				return caller, err
			}
		}
		of.stacks[way[i]] = caller
	}
	return caller, nil
}

// drawn returns the numbers of the tables' stacks and frames.
func (m *maker) drawn(t *tables) *drawn {
	if of := m.done[t]; of != nil {
		return of
	}
	of := &drawn{stacks: make([]int32, t.of("stackTable").rows), frames: make([]int32, t.of("frameTable").rows)}
	for i := range of.stacks {
		of.stacks[i] = notYet
	}
	for i := range of.frames {
		of.frames[i] = notYet
	}
	m.done[t] = of
	return of
}

// frame returns the number of a frame.
func (m *maker) frame(t *tables, of *drawn, row int) (n int32, err error) {
	if of.frames[row] != notYet {
		return of.frames[row], nil
	}
	f, _ := t.frame(row)
	frames := t.of("frameTable")
	made := samples.Frame{Function: strings.TrimSuffix(f.function, "()"), File: f.url, Line: f.line, Column: f.column, Inlined: frames.at("inlineDepth", row) > 0}
	if f.kind != managed {
		made.Function = f.function
	}
	if made.File == "" && f.fn >= 0 {
		made.File = t.text(t.file(f.fn))
	}
	if original := t.of("sourceLocationTable"); original.whole {
		if at := frames.index("originalLocation", row, original); at >= 0 {
			made.Line, made.Column = known(original.at("line", at)), known(original.at("column", at))
			if of := original.index("source", at, t.table("sources")); of >= 0 {
				made.File = t.text(t.table("sources").at("filename", of))
			}
		}
	}
	if f.lib != nil {
		made.Module = cmp.Or(f.lib.path, f.lib.name, f.lib.debugName)
		if !f.named {
			made.Address = f.address
			made.Function = cmp.Or(f.lib.name, f.lib.debugName, made.Module) + "+0x" + strconv.FormatUint(f.address, 16)
		}
	}
	made.Function = cmp.Or(made.Function, "(unknown)")
	of.frames[row], err = m.to.Frame(made)
	return of.frames[row], err
}
