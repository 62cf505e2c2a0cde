package gecko

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/profile"
)

// reader makes the tables of a profile.
type reader struct {
	doc  *document
	room *room
	seen map[*tables]map[string]bool // tables and strings
}

// isFirst reports whether a member comes for the first time. A table that comes twice is none.
func (r *reader) isFirst(t *tables, name string) bool {
	if r.seen[t] == nil {
		r.seen[t] = map[string]bool{}
	}
	first := !r.seen[t][name]
	r.seen[t][name] = true
	return first
}

// walk goes through a profile, and returns why it ends before its end. Other errors are of reading and writing.
func walk(ctx context.Context, in *profile.Input, out io.Writer, d *document, v visitor, making bool) (damage error, at int64, err error) {
	from, err := in.Open()
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	s := newStream(from, out)
	s.stop = d.at // later walks go as far as the first one
	w := &walker{visitor: v, ctx: ctx, doc: d, making: making}
	err = w.profile(s, 0)
	if err != nil && (errors.Is(err, errCut) || errors.Is(err, formats.ErrCorrupt)) {
		damage, at, err = err, s.base+int64(s.pos), nil
		s.held, s.quiet = -1, 0
	}
	if err == nil && out != nil {
		err = s.rest()
	}
	return damage, at, err
}

// read reads the tables of a profile, and then the strings that need says.
func read(ctx context.Context, in *profile.Input, memory int64, need func(d *document)) (*document, error) {
	d := &document{}
	r := &reader{doc: d, room: &room{left: memory}, seen: map[*tables]map[string]bool{}}
	damage, at, err := walk(ctx, in, nil, d, r, true)
	if err == nil && d.late {
		if _, _, err = walk(ctx, in, nil, d, &schemas{}, false); err == nil {
			d.samples, r.seen = 0, map[*tables]map[string]bool{}
			damage, at, err = walk(ctx, in, nil, d, r, false)
		}
	}
	if err != nil {
		return nil, err
	}
	if damage != nil {
		d.damage, d.at = damage, at
	}
	for _, p := range d.processes {
		p.processed = p.version >= 0 || p.shared.named["funcTable"] != nil
		slices.SortStableFunc(p.libs, func(a, b *lib) int { return byStart(p, a, b) })
	}
	for _, t := range d.threads {
		t.process.processed = t.process.processed || t.own.named["funcTable"] != nil
	}
	need(d)
	_, _, err = walk(ctx, in, nil, d, &namer{room: r.room}, false)
	return d, err
}

// byStart sorts the libraries of the browser's profiles by address. Other profiles number them.
func byStart(p *process, a, b *lib) int {
	if p.processed {
		return 0
	}
	return cmp.Compare(a.start, b.start)
}

func (r *reader) meta(s *stream, p *process) error {
	return s.object(func(key string) (err error) {
		switch key {
		case "preprocessedProfileVersion":
			v, ok, err := s.number()
			if ok && v >= 0 {
				p.version = v
			}
			return err
		case "product":
			p.product, err = s.text()
		case "platform", "toolkit":
			text, err := s.text()
			p.android = p.android || strings.EqualFold(text, "android")
			return err
		case "interval":
			p.interval, err = s.real()
		case "startTime":
			p.start, err = s.real()
		case "sampleUnits":
			return s.object(func(key string) error {
				unit, err := s.text()
				p.bytes = p.bytes || key == "time" && unit == "bytes"
				return err
			})
		default:
			return s.skip()
		}
		return err
	})
}

// real reads a number; 0 for any other value.
func (s *stream) real() (float64, error) {
	b, err := s.raw()
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return 0, nil
	}
	return v, nil
}

func (r *reader) libs(s *stream, p *process, t *tables) error {
	libs, err := readLibs(s, r.room)
	if t != nil {
		t.libs = libs
	} else {
		p.libs = libs
	}
	return err
}

func (r *reader) strings(s *stream, t *tables) error {
	l := &list{need: map[int32]bool{}, texts: map[int32]string{}}
	t.strings = l
	err := s.array(func(i int) error { l.count = i + 1; return s.skip() }, nil)
	l.whole = err == nil && r.isFirst(t, "strings")
	return err
}

func (r *reader) table(s *stream, t *tables, name string) error {
	made, late, err := readTable(s, name, t.schemas[name], r.room)
	r.doc.late = r.doc.late || late
	made.whole = made.whole && r.isFirst(t, name)
	t.named[name] = made
	return err
}

func (r *reader) samples(s *stream, t *thread, name string) error {
	if t.own.uses == nil {
		t.own.uses = &uses{}
	}
	of := t.own.uses
	return eachStack(s, name, t.own.schemas[name], func(sync bool) error {
		if name == "samples" {
			r.doc.samples++
		}
		if t.process.version >= nudged {
			return s.skip()
		}
		v, ok, err := s.number()
		if !ok || v < 0 || v > 1<<28 {
			return err
		}
		if sync {
			of.caller.set(int(v))
		} else {
			of.leaf.set(int(v))
		}
		return nil
	})
}

// nudged is the first version in which processing moves return addresses back into their calls.
const nudged = 38

func (r *reader) word(s *stream, t *thread, name string) (err error) {
	switch name {
	case "name":
		t.name, err = s.text()
	case "processName":
		t.inProcess, err = s.text()
	default:
		b, err := s.raw()
		if err != nil {
			return err
		}
		v, ok := integer([]byte(strings.Trim(string(b), `"`)))
		if !ok {
			v = null
		}
		if name == "pid" {
			t.pid = v
		} else {
			t.tid = v
		}
	}
	return err
}

// schemas reads the schemas of tables of rows.
type schemas struct{ namer }

func (*schemas) strings(s *stream, _ *tables) error { return s.skip() }
func (*schemas) table(s *stream, t *tables, name string) error {
	return s.object(func(key string) (err error) {
		if key != "schema" {
			return s.skip()
		}
		if t.schemas == nil {
			t.schemas = map[string]map[string]int{}
		}
		t.schemas[name], err = readSchema(s)
		return err
	})
}

func (r *schemas) samples(s *stream, t *thread, name string) error { return r.table(s, t.own, name) }

// namer keeps the strings that are needed.
type namer struct{ room *room }

func (n *namer) meta(s *stream, _ *process) error             { return s.skip() }
func (n *namer) libs(s *stream, _ *process, _ *tables) error  { return s.skip() }
func (n *namer) table(s *stream, _ *tables, _ string) error   { return s.skip() }
func (n *namer) samples(s *stream, _ *thread, _ string) error { return s.skip() }
func (n *namer) word(s *stream, _ *thread, _ string) error    { return s.skip() }
func (n *namer) strings(s *stream, t *tables) error {
	l := t.strings
	if l == nil {
		return s.skip()
	}
	return s.array(func(i int) error {
		if !l.need[int32(i)] {
			return s.skip()
		}
		text, err := s.text()
		l.texts[int32(i)] = text
		if err != nil {
			return err
		}
		return n.room.take(s, int64(64+len(text)))
	}, nil)
}

// tables returns all tables that have frames.
func (d *document) tables() (all []*tables) {
	for _, p := range d.processes {
		if p.shared.named["frameTable"] != nil {
			all = append(all, p.shared)
		}
	}
	for _, t := range d.threads {
		if t.own.named["frameTable"] != nil {
			all = append(all, t.own)
		}
	}
	return all
}

// need notes the strings that questions are made of; all: the strings of all frames too, for samples.
func (d *document) need(all bool) {
	for _, t := range d.tables() {
		l := t.list()
		if l == nil {
			continue
		}
		want := func(at int32) {
			if at >= 0 {
				l.need[at] = true
			}
		}
		frames, funcs, resources := t.of("frameTable"), t.of("funcTable"), t.of("resourceTable")
		if frames.rowwise {
			for row := range frames.rows {
				want(frames.at("location", row))
			}
			continue
		}
		for row := range funcs.rows {
			want(funcs.at("name", row))
			if all || funcs.at("isJS", row) == 1 {
				want(t.file(row))
			}
			if of := funcs.index("resource", row, resources); all && of >= 0 {
				want(resources.at("name", of))
			}
		}
		if sources := t.table("sources"); all {
			for row := range sources.rows {
				want(sources.at("filename", row))
			}
		}
	}
}
