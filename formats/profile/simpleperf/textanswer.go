package simpleperf

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/internal/places"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// textAnswers are the places of a text, and their names.
type textAnswers struct {
	o       *profile.Options
	room    int64
	images  []file
	numbers map[string]uint32 // of images, by path, inside of an APK too
	asked   *places.Set
	named   *places.Set
	lines   []string          // of asked places: names, innermost first, a line each
	methods map[string]string // names of Java in the source; "": not known
}

// answerText writes a text with answers.
func answerText(ctx context.Context, in *profile.Input, out io.Writer, o *profile.Options) error {
	room := o.Room() / 4
	a := &textAnswers{o: o, room: room, numbers: map[string]uint32{}, asked: places.New(room), named: places.New(room), methods: map[string]string{}}
	read := &textReader{sample: a.note}
	if err := read.each(ctx, in); err != nil {
		return err
	}
	o.Counts.Named += uint64(a.named.Len())
	if err := a.ask(ctx); err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, 64<<10)
	write := &textReader{
		sample: func(s *textSample) error { return a.write(w, s) },
		other:  func(line []byte) error { _, err := w.Write(line); return err },
	}
	if err := write.each(ctx, in); err != nil {
		return err
	}
	return w.Flush()
}

// note notes the places of a sample.
func (a *textAnswers) note(s *textSample) error {
	a.o.Counts.Samples++
	if s.cut {
		a.o.Counts.Keep("a sample has more lines than memory holds, and the last ones stay", "samples")
	}
	for i := range s.entries {
		e := &s.entries[i]
		if e.named == 0 {
			continue
		}
		f := &file{path: e.file}
		ok := true
		switch {
		case f.isImage():
			var p places.Place
			if p, ok = a.place(f, e.address); !ok {
				break
			}
			if isUnnamed(e.symbol) {
				_, ok = a.asked.Add(p)
			} else {
				a.named.Add(p)
			}
		case f.isDex() && !f.isSystem():
			ok = a.method(e.symbol)
		}
		if !ok {
			a.o.Counts.Keep("the text has more places than memory holds, and the last frames stay", "samples")
		}
	}
	return nil
}

// place returns the place of an address. ok is false if there is no room for its image.
func (a *textAnswers) place(f *file, address uint64) (p places.Place, ok bool) {
	path := f.path
	if i := strings.IndexByte(path, '!'); i > 0 && i < len(path)-1 {
		path = path[i+1:]
	}
	n, known := a.numbers[path]
	if !known {
		if a.room -= int64(2*len(f.path) + 128); a.room < 0 {
			return p, false
		}
		n = uint32(len(a.images))
		a.numbers[path] = n
		a.images = append(a.images, *f)
	}
	return places.Place{Image: n, Address: address}, true
}

// isUnnamed reports whether a symbol of a text is none.
func isUnnamed(name string) bool { return name == "" || name == "unknown" || isPlace(name) }

// method notes a method of Java, which a mapping may have renamed.
func (a *textAnswers) method(name string) bool {
	if _, known := a.methods[name]; known {
		return true
	}
	if _, _, _, ok := managed(name); !ok {
		return true
	}
	if a.room -= int64(2*len(name) + 128); a.room < 0 {
		return false
	}
	a.methods[name] = ""
	return true
}

// ask asks for all places.
func (a *textAnswers) ask(ctx context.Context) error {
	a.lines = make([]string, a.asked.Len())
	known := map[string]string{}
	question := func(p places.Place) (report.Frame, bool) { return a.images[p.Image].native(p.Address), true }
	err := a.asked.Ask(ctx, a.o, places.Asking{Question: question, Answer: func(id int, _ places.Place, found *symbol.Answer) error {
		if found.Status != symbol.Found || len(found.Frames) == 0 {
			return nil
		}
		names := make([]string, len(found.Frames))
		for i := range found.Frames {
			names[i] = oneLine(found.Frames[i].Readable())
		}
		text := strings.Join(names, "\n")
		if _, is := known[text]; !is {
			if a.room -= int64(2*len(text) + 128); a.room < 0 {
				a.o.Counts.Keep("the names take more than memory holds, and the last frames stay", "samples")
				return nil
			}
			known[text] = text
		}
		a.lines[id] = known[text]
		return nil
	}})
	if err != nil {
		return err
	}
	return a.askMethods(ctx)
}

// askMethods asks for each method once. Names with other types or parameters are of one method.
func (a *textAnswers) askMethods(ctx context.Context) error {
	type method struct{ class, name string }
	names := map[method][]string{}
	for name := range a.methods {
		q, _, _, _ := managed(name)
		m := method{q.Managed.Class, q.Managed.Method}
		names[m] = append(names[m], name)
	}
	sorted := slices.SortedFunc(maps.Keys(names), func(x, y method) int {
		return cmp.Or(cmp.Compare(x.class, y.class), cmp.Compare(x.name, y.name))
	})
	for some := range slices.Chunk(sorted, askAtOnce) {
		questions := make([]report.Frame, len(some))
		for i, m := range some {
			questions[i], _, _, _ = managed(names[m][0])
		}
		err := a.o.Look(ctx, questions, func(i int, found *symbol.Answer) {
			renamed := original(questions[i].Managed, found)
			if renamed == "" {
				return
			}
			for _, name := range names[some[i]] {
				_, begin, end, _ := managed(name)
				a.methods[name] = oneLine(name[:begin] + renamed + name[end:])
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// oneLine is a name without bytes that would end its line.
func oneLine(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return '?'
		}
		return r
	}, name)
}

// names returns the names that an entry gets, innermost first; nil: it stays.
func (a *textAnswers) names(e *textEntry) []string {
	f := &file{path: e.file}
	if e.named == 0 {
		return nil
	}
	if f.isImage() && isUnnamed(e.symbol) {
		p, ok := a.place(f, e.address)
		if id := a.asked.Find(p); ok && id != places.None && a.lines[id] != "" {
			return strings.Split(a.lines[id], "\n")
		}
		return nil
	}
	if f.isDex() && !f.isSystem() && a.methods[e.symbol] != "" {
		return []string{a.methods[e.symbol]}
	}
	return nil
}

// write writes a sample.
func (a *textAnswers) write(w *bufio.Writer, s *textSample) error {
	var callers []byte // of the first entry: functions that it was inlined into
	done := 0
	copyTo := func(end int) {
		for ; done < end; done++ {
			line := s.line(done)
			w.Write(line)
			if done == s.chain && callers != nil {
				if line[len(line)-1] != '\n' {
					w.WriteByte('\n')
				}
				w.Write(callers)
				callers = nil
			}
		}
	}
	for i := range s.entries {
		e := &s.entries[i]
		names := a.names(e)
		if names == nil {
			continue
		}
		copyTo(e.named)
		old := s.line(e.named)
		end := old[len(bytes.TrimRight(old, "\r\n")):]
		blanks := old[:len(old)-len(bytes.TrimLeft(old, " \t"))]
		w.Write(append(append(append(bytes.Clone(blanks), "symbol: "...), names[0]...), end...))
		done++
		if len(names) == 1 {
			continue
		}
		if len(end) == 0 {
			end = []byte("\n")
		}
		first := i == 0 && (s.chain == 0 || s.chain > e.named)
		if first {
			blanks = append(bytes.Clone(blanks), blanks...)
		}
		var more []byte
		for _, name := range names[1:] {
			for k := e.from; k <= e.named; k++ {
				line := s.line(k)
				switch string(parseTextLine(line).key) {
				case "vaddr_in_file", "file":
					more = append(append(append(more, blanks...), bytes.TrimSpace(line)...), end...)
				}
			}
			more = append(append(append(append(more, blanks...), "symbol: "...), name...), end...)
		}
		if first && s.chain > 0 {
			callers = more
			continue
		}
		copyTo(e.to)
		if last := s.line(done - 1); last[len(last)-1] != '\n' {
			w.WriteByte('\n')
		}
		if first {
			w.Write(append(append(bytes.Clone(blanks[:len(blanks)/2]), "callchain:"...), end...))
		}
		w.Write(more)
	}
	copyTo(len(s.ends))
	_, err := w.Write(nil) // the error of all that was written
	return err
}
