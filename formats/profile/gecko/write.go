package gecko

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
)

// writer copies a profile, with the changes of the plans.
type writer struct {
	doc   *document
	plans map[*tables]*plan // of tables that change
	text  []byte            // of the value at hand
}

// reason says in one sentence why a profile is read up to a place only.
func reason(err error) string {
	if errors.Is(err, errCut) {
		return errCut.Error()
	}
	var e *formats.Error
	if errors.As(err, &e) {
		return "the profile is no JSON from there on: want " + e.Want
	}
	return err.Error()
}

// where names a place of the input.
func where(at int64) string { return "byte 0x" + strconv.FormatInt(at, 16) }

// meta says that the profile is symbolicated, where it says otherwise.
func (w *writer) meta(s *stream, p *process) error {
	answered := false
	for t := range w.plans {
		answered = answered || t.process == p
	}
	return s.object(func(key string) error {
		if key == "symbolicated" && answered {
			return s.replace([]byte("true"))
		}
		return s.skip()
	})
}

func (w *writer) libs(s *stream, _ *process, _ *tables) error { return s.skip() }
func (w *writer) word(s *stream, _ *thread, _ string) error   { return s.skip() }

// strings appends the strings that answers have.
func (w *writer) strings(s *stream, t *tables) error {
	l := t.strings
	if l == nil {
		return s.skip()
	}
	return s.array(func(int) error { return s.skip() }, func(n int) error {
		for i, text := range l.more {
			b := w.text[:0]
			if n+i > 0 {
				b = append(b, ',')
			}
			w.text = append(append(append(b, '"'), json.Quote(text)...), '"')
			if err := s.write(w.text); err != nil {
				return err
			}
		}
		return nil
	})
}

// table writes a table with its changes.
func (w *writer) table(s *stream, t *tables, name string) error {
	if name == "sources" {
		return w.sources(s, t)
	}
	of := w.plans[t]
	if of == nil {
		return s.skip()
	}
	switch name {
	case "frameTable":
		return of.frameEdit().write(s, t.of(name))
	case "funcTable":
		return of.funcEdit().write(s, t.of(name))
	case "nativeSymbols":
		return of.symbolEdit().write(s, t.of(name))
	case "sourceLocationTable":
		return of.locationEdit().write(s, t.of(name))
	case "stackTable":
		if of.stacks != nil {
			return w.stacks(s, t.of(name), of.stacks)
		}
	}
	return s.skip()
}

// sources appends the files that answers name.
func (w *writer) sources(s *stream, t *tables) error {
	more := t.process.sources
	if len(more) == 0 || t != t.process.shared {
		return s.skip()
	}
	e := &edit{more: len(more), base: func(int) int32 { return null }, fresh: func(column string, i int) string {
		switch column {
		case "filename":
			return strconv.Itoa(int(more[i]))
		case "startLine", "startColumn":
			return "1"
		}
		return "null"
	}}
	return e.write(s, t.of("sources"))
}

// stacks writes a new table of stacks. A row of an old one's other columns stands for each that is made of it.
func (w *writer) stacks(s *stream, old *table, made *stackPlan) error {
	value := func(column string, row int) (string, bool) {
		switch column {
		case "frame":
			return strconv.Itoa(int(made.frame[row])), true
		case "prefix":
			if made.caller[row] < 0 {
				return "null", true
			}
			return strconv.Itoa(int(made.caller[row])), true
		case "prefixOffset":
			if made.caller[row] < 0 {
				return "0", true
			}
			return strconv.Itoa(row - int(made.caller[row])), true
		}
		return "", false
	}
	if old.rowwise {
		return w.stackRows(s, old, made, value)
	}
	return s.object(func(key string) error {
		if key == "length" {
			return s.replace(strconv.AppendInt(w.text[:0], int64(len(made.frame)), 10))
		}
		return s.array(func(i int) error {
			if i >= old.rows {
				return s.skip()
			}
			var was []byte
			if err := s.drop(func() error {
				b, err := s.raw()
				was = append(was, b...)
				return err
			}); err != nil {
				return err
			}
			b := w.text[:0]
			for row := int(made.base[i]); row < int(made.base[i+1]); row++ {
				if row > int(made.base[i]) {
					b = append(b, ',')
				}
				if v, is := value(key, row); is {
					b = append(b, v...)
				} else {
					b = append(b, was...)
				}
			}
			w.text = b
			return s.write(b)
		}, nil)
	})
}

// stackRows writes the rows of a new table of stacks.
func (w *writer) stackRows(s *stream, old *table, made *stackPlan, value func(column string, row int) (string, bool)) error {
	return s.object(func(key string) error {
		if key != "data" {
			return s.skip()
		}
		return s.array(func(i int) error {
			if i >= old.rows {
				return s.skip()
			}
			var cells [][]byte
			if err := s.drop(func() error {
				b, err := s.raw()
				cells = elements(bytes.Clone(b))
				return err
			}); err != nil {
				return err
			}
			b := w.text[:0]
			for row := int(made.base[i]); row < int(made.base[i+1]); row++ {
				if row > int(made.base[i]) {
					b = append(b, ',')
				}
				b = appendRow(b, old, cells, func(column string) (string, bool) { return value(column, row) })
			}
			w.text = b
			return s.write(b)
		}, nil)
	})
}

// samples moves samples, markers and allocations to the new stacks.
func (w *writer) samples(s *stream, t *thread, name string) error {
	of := w.plans[t.tables()]
	if of == nil || of.stacks == nil {
		return s.skip()
	}
	return eachStack(s, name, t.own.schemas[name], func(sync bool) error {
		return s.look(func(b []byte) []byte {
			v, ok := integer(b)
			if !ok || v < 0 || v >= int64(len(of.stacks.leaf)) {
				return nil
			}
			to := of.stacks.leaf[v]
			if sync {
				to = of.stacks.other[v]
			}
			w.text = strconv.AppendInt(w.text[:0], int64(to), 10)
			return w.text
		})
	})
}
