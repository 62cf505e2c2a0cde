package pprof

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/symlake/symlake/formats/demangle"
	"github.com/symlake/symlake/formats/samples"
)

// writer writes samples as a profile.
type writer struct {
	from      *samples.Profile
	out       io.Writer
	message   []byte
	field     []byte
	strings   map[string]uint64
	table     []string
	functions map[[3]string]uint64
	shorts    map[string]string // of linkage names
	mappings  map[string]uint64
	places    map[string]uint64 // by the numbers of their frames, outermost last
	stacks    []step            // by the numbers of stacks: what begins there
	err       error
}

// step is the location that a stack begins with, and the stack that called it.
type step struct {
	location uint64 // 0: not known yet
	caller   int32
}

// write writes samples as a profile of pprof, compressed. Samples of one stack and thread become one.
func write(out io.Writer, from *samples.Profile) error {
	z := gzip.NewWriter(out)
	w := &writer{from: from, out: z, strings: map[string]uint64{"": 0}, table: []string{""}, functions: map[[3]string]uint64{}, shorts: map[string]string{},
		mappings: map[string]uint64{}, places: map[string]uint64{}, stacks: make([]step, len(from.Stacks))}
	w.types()
	w.mapping(w.program())
	w.samples()
	w.locations()
	for _, s := range w.table {
		w.put(profileString, []byte(s))
	}
	return errors.Join(w.err, z.Close())
}

// program returns the module of the main program, which stands first: the one of the profile's name, else the one of most
// stacks that is no library.
func (w *writer) program() string {
	frames := make([]int, len(w.from.Frames))
	for i := range w.from.Stacks {
		frames[w.from.Stacks[i].Frame]++
	}
	modules := map[string]int{}
	for i := range w.from.Frames {
		modules[w.from.Frames[i].Module] += frames[i]
	}
	best, most := "", 0
	for m, n := range modules {
		name := baseOf(m)
		switch {
		case name == "":
			continue
		case name == w.from.Name:
			return m
		case name[0] == '[' || name[0] == '<', strings.HasSuffix(name, ".so") || strings.Contains(name, ".so."), strings.HasSuffix(name, ".dll"):
			n = 1
		default:
			n += len(w.from.Stacks)
		}
		if n > most || n == most && m < best {
			best, most = m, n
		}
	}
	return best
}

// put writes a field with a length.
func (w *writer) put(number uint32, b []byte) {
	if w.err == nil {
		w.field = appendMessage(w.field[:0], number, b)
		_, w.err = w.out.Write(w.field)
	}
}

// number writes a field that is no zero.
func (w *writer) number(number uint32, v uint64) {
	if w.err == nil {
		_, w.err = w.out.Write(appendNumber(w.field[:0], number, v))
	}
}

func (w *writer) string(s string) uint64 {
	at, known := w.strings[s]
	if !known {
		at = uint64(len(w.table))
		w.strings[s] = at
		w.table = append(w.table, s)
	}
	return at
}

// types writes what samples count.
func (w *writer) types() {
	types := w.from.Types
	if len(types) == 0 {
		types = []samples.Type{{Name: "samples", Unit: "count"}}
	}
	made := func(t samples.Type) []byte {
		return appendNumber(appendNumber(nil, typeName, w.string(t.Name)), typeUnit, w.string(t.Unit))
	}
	for _, t := range types {
		w.put(profileType, made(t))
	}
	if w.from.Period != 0 && w.from.Default < len(types) {
		w.put(profileUnit, made(types[w.from.Default]))
		w.number(profilePeriod, uint64(w.from.Period))
	}
	w.number(profileTime, uint64(w.from.Start))
	w.number(profileDuration, uint64(w.from.Duration))
	if w.from.Default < len(types)-1 {
		w.number(profileDefault, w.string(types[w.from.Default].Name))
	}
}

// samples writes samples, each stack of a thread once.
func (w *writer) samples() {
	order := make([]int32, len(w.from.Samples))
	for i := range order {
		order[i] = int32(i)
	}
	all := w.from.Samples
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(all[a].Stack, all[b].Stack), cmp.Compare(all[a].Thread, all[b].Thread))
	})
	sums := make([]int64, max(len(w.from.Types), 1))
	for from := 0; from < len(order); {
		s := &all[order[from]]
		clear(sums)
		to := from
		for ; to < len(order) && all[order[to]].Stack == s.Stack && all[order[to]].Thread == s.Thread; to++ {
			for k := range sums {
				sums[k] = plus(sums[k], w.from.Value(int(order[to]), k))
			}
		}
		from = to
		w.sample(s, sums)
	}
}

// plus adds, up to the greatest number.
func plus(a, b int64) int64 {
	if sum := a + b; (sum > a) == (b > 0) {
		return sum
	}
	if b > 0 {
		return math.MaxInt64
	}
	return math.MinInt64
}

func (w *writer) sample(s *samples.Sample, values []int64) {
	var packed []byte
	for at := s.Stack; at >= 0 && int(at) < len(w.stacks); {
		st := w.step(at)
		packed = binary.AppendUvarint(packed, st.location)
		at = st.caller
	}
	b := appendMessage(w.message[:0], sampleLocation, packed)
	packed = packed[:0]
	for _, v := range values {
		packed = binary.AppendUvarint(packed, uint64(v))
	}
	b = appendMessage(b, sampleValue, packed)
	if s.Thread >= 0 && int(s.Thread) < len(w.from.Threads) {
		t := &w.from.Threads[s.Thread]
		for _, l := range []struct {
			key, text string
			number    int64
		}{{"thread", t.Name, 0}, {"thread_id", "", t.TID}, {"process", t.Process, 0}, {"process_id", "", t.PID}} {
			if l.text == "" && l.number == 0 {
				continue
			}
			label := appendNumber(nil, labelKey, w.string(l.key))
			label = appendNumber(label, labelString, w.string(l.text))
			label = appendNumber(label, labelNumber, uint64(l.number))
			b = appendMessage(b, sampleLabel, label)
		}
	}
	w.message = b
	w.put(profileSample, b)
}

// step returns the location that a stack begins with: its innermost frame, and behind inlined frames their callers.
func (w *writer) step(stack int32) step {
	st := &w.stacks[stack]
	if st.location != 0 {
		return *st
	}
	var frames []byte
	at := stack
	for inlined := true; inlined && at >= 0; {
		s := &w.from.Stacks[at]
		frames = binary.AppendUvarint(frames, uint64(s.Frame))
		inlined = w.from.Frames[s.Frame].Inlined
		at = s.Caller
	}
	id, known := w.places[string(frames)]
	if !known {
		id = uint64(len(w.places) + 1)
		w.places[string(frames)] = id
	}
	st.location, st.caller = id, at
	return *st
}

// locations writes the locations that samples have, their functions and their mappings.
func (w *writer) locations() {
	order := make([]string, len(w.places))
	for frames, id := range w.places {
		order[id-1] = frames
	}
	for i, frames := range order {
		b := appendNumber(w.message[:0], locationID, uint64(i+1))
		var lines []byte
		var module string
		var address uint64
		for rest := []byte(frames); len(rest) > 0; {
			n, used := binary.Uvarint(rest)
			rest = rest[used:]
			f := &w.from.Frames[n]
			module, address = f.Module, f.Address
			if f.Address != 0 {
				continue // it has no name
			}
			l := line{function: w.function(f), line: int64(f.Line), column: int64(f.Column)}
			lines = appendLine(lines, l, nil)
		}
		b = appendNumber(b, locationMapping, w.mapping(module))
		b = appendNumber(b, locationAddress, address)
		w.message = append(b, lines...)
		w.put(profileLocation, w.message)
	}
	w.writeFunctions()
	w.writeMappings()
}

// function returns the id of a function.
func (w *writer) function(f *samples.Frame) uint64 {
	key := [3]string{f.Function, cmp.Or(f.Linkage, f.Function), f.File}
	if f.Linkage != "" {
		key[0] = w.short(f)
	}
	id, known := w.functions[key]
	if !known {
		id = uint64(len(w.functions) + 1)
		w.functions[key] = id
	}
	return id
}

// short returns the name of a frame with a linkage name, as answers have it.
func (w *writer) short(f *samples.Frame) string {
	name, known := w.shorts[f.Linkage]
	if !known {
		if name = demangle.Short(f.Linkage); name == f.Linkage {
			name = f.Function
		}
		w.shorts[f.Linkage] = name
	}
	return name
}

// mapping returns the id of the mapping of a file; 0: none.
func (w *writer) mapping(file string) uint64 {
	if file == "" {
		return 0
	}
	id, known := w.mappings[file]
	if !known {
		id = uint64(len(w.mappings) + 1)
		w.mappings[file] = id
	}
	return id
}

func (w *writer) writeFunctions() {
	order := make([][3]string, len(w.functions))
	for key, id := range w.functions {
		order[id-1] = key
	}
	for i, key := range order {
		b := appendNumber(w.message[:0], functionID, uint64(i+1))
		b = appendNumber(b, functionName, w.string(key[0]))
		b = appendNumber(b, functionSystem, w.string(key[1]))
		w.message = appendNumber(b, functionFile, w.string(key[2]))
		w.put(profileFunction, w.message)
	}
}

func (w *writer) writeMappings() {
	order := make([]string, len(w.mappings))
	for file, id := range w.mappings {
		order[id-1] = file
	}
	for i, file := range order {
		b := appendNumber(w.message[:0], mappingID, uint64(i+1))
		b = appendNumber(b, mappingFile, w.string(file))
		for number := uint32(mappingFunctions); number <= mappingInlined; number++ {
			b = appendNumber(b, number, 1)
		}
		w.message = b
		w.put(profileMapping, b)
	}
}
