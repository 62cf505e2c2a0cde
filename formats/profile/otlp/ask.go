package otlp

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/otlp/internal/method"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/scripts"
	"github.com/symlake/symlake/formats/symbol"
)

// place is a place that is asked for once, and its answer.
type place struct {
	first, lines int32 // of tables.out
	found        bool
}

// outLine is a line of an answer.
type outLine struct {
	function     int32 // of names
	line, column uint32
}

// question is a place that a location or a line leads to.
type question struct {
	image   int32 // of code: the number of the names; of others none
	space   symbol.Space
	mapped  int32  // the mapping that a file offset was found in
	value   uint64 // of code the address, of others the function
	at      uint64 // of others line and column
	of      int32  // the location
	line    int32  // of tables.lines; none: the location's code
	managed bool
}

const (
	questionBytes = 48
	placeBytes    = 16
	// pileFrames are asked for at once.
	pileFrames = 4 << 10
)

// same reports whether two questions are for one place.
func (q *question) same(p *question) bool {
	return q.image == p.image && q.space == p.space && q.value == p.value && q.at == p.at && q.managed == p.managed
}

// before is the order in which questions are asked: image by image, in the order of addresses.
func (q *question) before(p *question) int {
	return cmp.Or(cmp.Compare(q.image, p.image), cmp.Compare(q.space, p.space), cmp.Compare(q.value, p.value), cmp.Compare(q.at, p.at),
		cmp.Compare(asInt(q.managed), asInt(p.managed)))
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ask finds the places of all locations, and has them answered.
func (t *tables) ask(ctx context.Context, o *profile.Options) error {
	images := t.images()
	var all []question
	for i := range t.locations {
		before := len(all)
		all = t.questions(all, int32(i))
		if err := t.m.take(questionBytes * (len(all) - before)); err != nil {
			return err
		}
	}
	slices.SortStableFunc(all, func(a, b question) int { return a.before(&b) })
	mapped := make([]*symbol.Mapping, len(t.mappings))
	pile := pile{t: t, frames: make([]report.Frame, 0, min(len(all), pileFrames))}
	for i := 0; i < len(all); i++ {
		q, n := &all[i], int32(none)
		if err := t.m.take(placeBytes); err != nil {
			return err
		}
		key := t.key(q, images)
		if known, ok := t.m.run.known[key]; ok {
			n = int32(len(t.places))
			if err := t.again(known); err != nil {
				return err
			}
		} else if f, ok := t.frame(q, images, mapped); ok {
			n = int32(len(t.places))
			t.places = append(t.places, place{})
			pile.add(f, key, n)
		}
		for t.lead(q, n); i+1 < len(all) && q.same(&all[i+1]); i++ {
			t.lead(&all[i+1], n)
		}
		if len(pile.frames) == pileFrames || i+1 == len(all) {
			if err := pile.ask(ctx, o); err != nil {
				return err
			}
		}
	}
	t.m.left += int64(questionBytes * len(all)) // they are gone
	return nil
}

// pile are frames that are asked for at once.
type pile struct {
	t      *tables
	frames []report.Frame
	keys   []placeKey
	places []int32
}

func (p *pile) add(f report.Frame, key placeKey, n int32) {
	p.frames, p.keys, p.places = append(p.frames, f), append(p.keys, key), append(p.places, n)
}

// ask asks for the frames of the pile, and empties it.
func (p *pile) ask(ctx context.Context, o *profile.Options) error {
	if len(p.frames) == 0 {
		return nil
	}
	var full error
	err := o.Look(ctx, p.frames, func(i int, a *symbol.Answer) {
		var lines []answerLine
		if a.Status == symbol.Found && len(a.Frames) > 0 {
			lines = linesOf(&p.frames[i], a)
		}
		p.t.m.run.keep(p.keys[i], lines)
		if full == nil {
			full = p.t.answered(p.places[i], lines)
		}
	})
	p.frames, p.keys, p.places = p.frames[:0], p.keys[:0], p.places[:0]
	if err == nil {
		err = full
	}
	return err
}

// again has a place that an earlier message, or an equal entry of a table, led to.
func (t *tables) again(lines []answerLine) error {
	t.places = append(t.places, place{})
	return t.answered(int32(len(t.places)-1), lines)
}

// key returns the key of a question in all messages of an input.
func (t *tables) key(q *question, images []image) placeKey {
	k := placeKey{space: q.space, at: q.at, managed: q.managed}
	if q.image != none {
		k.value, k.image = q.value, images[q.image].key
		if q.space == symbol.FileOffset {
			m := &t.mappings[q.mapped]
			k.offset, k.size = m.offset, m.limit-m.start
		}
		return k
	}
	fn := &t.functions[q.value]
	k.image = t.string(fn.file) + "\x00" + t.functionName(fn)
	if t.m.agent {
		k.size = 1 // columns mean something else
	}
	return k
}

// functionName returns a name of a function.
func (t *tables) functionName(fn *function) string {
	if name := t.string(fn.name); name != "" {
		return name
	}
	return t.string(fn.system)
}

// lead notes the place that a question leads to.
func (t *tables) lead(q *question, to int32) {
	if q.line == none {
		t.locations[q.of].place = to
	} else {
		t.lines[q.line].place = to
	}
}

// image is a file that mappings name.
type image struct {
	file  string
	names []string // by which its artifact is asked for
	key   string   // of both
}

// images gives each mapping the number of its names, and returns the names.
func (t *tables) images() []image {
	var all []image
	known := map[string]int32{}
	for i := range t.mappings {
		m := &t.mappings[i]
		if !m.named {
			continue
		}
		file := t.string(m.file)
		names := namesOf(m, file)
		key := file + "\x00" + strings.Join(names, "\x00")
		n, ok := known[key]
		if !ok {
			n = int32(len(all))
			known[key] = n
			all = append(all, image{file, names, key})
		}
		m.image = n
	}
	return all
}

// namesOf returns the names by which a mapping's artifact is asked for, best first. An id decides: behind it no file name is tried.
func namesOf(m *mapping, file string) (names []string) {
	if m.gnu != "" {
		names = append(names, strings.ToLower(m.gnu))
	}
	if m.golang != "" {
		names = append(names, m.golang)
	}
	if base := file[strings.LastIndexAny(file, `/\`)+1:]; base != "" && m.golang == "" {
		names = append(names, base)
	}
	return names
}

// questions appends what a location asks for.
func (t *tables) questions(to []question, i int32) []question {
	l := &t.locations[i]
	if int(l.mapping) >= len(t.mappings) && (l.mapping > 0 || len(t.mappings) > 0) {
		t.m.o.Counts.Keep("a location names a mapping that the message does not have", t.m.where("location", int(i)))
		return to
	}
	for k := l.first; k < l.first+l.lines; k++ {
		if int(t.lines[k].function) >= len(t.functions) && (t.lines[k].function > 0 || len(t.functions) > 0) {
			t.m.o.Counts.Keep("a line names a function that the message does not have", t.m.where("location", int(i)))
			return to
		}
	}
	before := len(to)
	named := t.isNamed(l)
	switch {
	case named && l.frame != machine && l.frame != interpreted:
		for k := l.first; k < l.first+l.lines; k++ {
			to = t.script(to, i, k)
		}
	case !named && l.frame <= machine:
		return t.code(to, i)
	}
	if named && len(to) == before {
		t.m.o.Counts.Named++
	}
	return to
}

// code appends the question for a location of machine code.
func (t *tables) code(to []question, i int32) []question {
	l := &t.locations[i]
	if l.mapping < 0 || int(l.mapping) >= len(t.mappings) {
		return to
	}
	m := &t.mappings[l.mapping]
	if m.image == none {
		return to
	}
	q := question{image: m.image, space: symbol.Unslid, value: l.address, of: i, line: none}
	if !t.m.agent && m.start <= l.address && l.address < m.limit {
		q.space, q.value, q.mapped = symbol.FileOffset, l.address-m.start+m.offset, l.mapping
	}
	return append(to, q)
}

// script appends the question for a line of Java, Kotlin or JavaScript.
func (t *tables) script(to []question, i, k int32) []question {
	ln := &t.lines[k]
	if int(ln.function) >= len(t.functions) {
		return to
	}
	q := question{image: none, value: uint64(ln.function), at: uint64(ln.line)<<32 | uint64(ln.column), of: i, line: k}
	file := t.string(t.functions[ln.function].file)
	switch t.locations[i].frame {
	case jvm:
		q.managed = true
	case v8:
	default:
		q.managed = isManaged(file)
		if !q.managed && !isScript(file) {
			return to
		}
	}
	if q.managed {
		q.at = uint64(ln.line) << 32
	}
	return append(to, q)
}

// isManaged reports whether a file name is as in frames of Java and Kotlin.
func isManaged(file string) bool {
	return strings.HasSuffix(file, ".java") || strings.HasSuffix(file, ".kt") || file == "SourceFile" || report.MapID(file) != ""
}

// scriptEnds are the endings of bundled scripts.
var scriptEnds = []string{".js", ".mjs", ".cjs", ".bundle", ".jsbundle", ".hbc"}

// isScript reports whether a file name is one of a script that may have a source map.
func isScript(file string) bool {
	if end := strings.IndexAny(file, "?#"); end >= 0 {
		file = file[:end]
	}
	return slices.ContainsFunc(scriptEnds, func(end string) bool { return strings.HasSuffix(file, end) })
}

// frame makes the frame by which a question is asked; ok is false if no artifact can answer it.
func (t *tables) frame(q *question, images []image, mapped []*symbol.Mapping) (f report.Frame, ok bool) {
	if q.image != none {
		f = report.Frame{File: images[q.image].file, Image: images[q.image].names, At: symbol.Where{Space: q.space, Value: q.value}}
		if q.space == symbol.FileOffset {
			f.At.Mapped = t.mapped(q.mapped, f.File, mapped)
		}
		return f, true
	}
	fn := &t.functions[q.value]
	name, file := t.functionName(fn), t.string(fn.file)
	if q.managed {
		m := method.Parse(name)
		if m == nil {
			return f, false
		}
		m.File, m.Filed, m.Lined, m.Line = file, true, true, -1
		if line := q.at >> 32; line > 0 {
			m.Line = int(line)
		}
		f = report.Frame{Managed: &m.Managed, Detail: m}
		if id := report.MapID(file); id != "" {
			f.Image = []string{id}
		}
		return f, true
	}
	column := q.at & (1<<32 - 1)
	if column > 0 && !t.m.agent {
		column--
	}
	f, ok = scripts.Place(name, file, q.at>>32, column)
	return f, ok
}

// mapped returns a mapping in the form of questions.
func (t *tables) mapped(i int32, file string, all []*symbol.Mapping) *symbol.Mapping {
	if all[i] == nil {
		m := &t.mappings[i]
		all[i] = &symbol.Mapping{Offset: m.offset, Size: m.limit - m.start, Within: isArchive(file)}
	}
	return all[i]
}

// isArchive reports whether a file may hold the image, as packages of Android do.
func isArchive(file string) bool {
	name, _, _ := strings.Cut(file, "!")
	return strings.HasSuffix(name, ".apk")
}
