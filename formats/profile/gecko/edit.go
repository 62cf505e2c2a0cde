package gecko

import (
	"bytes"
	"strconv"
)

// edit is how a table changes: values of rows, and rows behind the last one.
type edit struct {
	// value returns a new value of a row; ok is false if it stays. Nil: all stay.
	value func(column string, row int) (text string, ok bool)
	// rows that change.
	changes func(row int) bool
	more    int
	// base returns the row that added row i takes the other columns from; null: none.
	base func(i int) int32
	// fresh returns a value of added row i; "": its base's.
	fresh func(column string, i int) string

	text []byte // of the value at hand
}

// write writes a table with its changes.
func (e *edit) write(s *stream, t *table) error {
	bases := map[int32]bool{}
	for i := range e.more {
		bases[e.base(i)] = true
	}
	if t.rowwise {
		return e.writeRows(s, t, bases)
	}
	return s.object(func(key string) error {
		if key == "length" {
			return s.replace(strconv.AppendInt(e.text[:0], int64(t.rows+e.more), 10))
		}
		kept := map[int32][]byte{}
		return s.array(func(i int) error {
			changes := e.value != nil && e.changes(i)
			if !changes && !bases[int32(i)] {
				return s.skip()
			}
			return s.look(func(b []byte) []byte {
				if bases[int32(i)] {
					kept[int32(i)] = bytes.Clone(b)
				}
				if changes {
					if v, ok := e.value(key, i); ok {
						return append(e.text[:0], v...)
					}
				}
				return nil
			})
		}, func(n int) error {
			b := e.text[:0]
			for ; n < t.rows && e.more > 0; n++ { // a column may be shorter than its table
				b = append(comma(b, n), "null"...)
			}
			for i := range e.more {
				b = comma(b, n+i)
				if v := e.fresh(key, i); v != "" {
					b = append(b, v...)
				} else if was := kept[e.base(i)]; was != nil {
					b = append(b, was...)
				} else {
					b = append(b, "null"...)
				}
			}
			e.text = b
			return s.write(b)
		})
	})
}

// comma parts an element from those before it.
func comma(b []byte, before int) []byte {
	if before > 0 {
		b = append(b, ',')
	}
	return b
}

// writeRows writes a table of rows with its changes.
func (e *edit) writeRows(s *stream, t *table, bases map[int32]bool) error {
	kept := map[int32][]byte{}
	return s.object(func(key string) error {
		if key != "data" {
			return s.skip()
		}
		return s.array(func(i int) error {
			changes := e.value != nil && e.changes(i)
			if !changes && !bases[int32(i)] {
				return s.skip()
			}
			return s.look(func(b []byte) []byte {
				if bases[int32(i)] {
					kept[int32(i)] = bytes.Clone(b)
				}
				if !changes {
					return nil
				}
				e.text = appendRow(e.text[:0], t, elements(b), func(column string) (string, bool) { return e.value(column, i) })
				return e.text
			})
		}, func(n int) error {
			b := e.text[:0]
			for i := range e.more {
				b = appendRow(comma(b, n+i), t, elements(kept[e.base(i)]), func(column string) (string, bool) {
					v := e.fresh(column, i)
					return v, v != ""
				})
			}
			e.text = b
			return s.write(b)
		})
	})
}

// appendRow appends a row with new values.
func appendRow(b []byte, t *table, cells [][]byte, value func(column string) (string, bool)) []byte {
	b = append(b, '[')
	last := len(cells)
	columns := map[int]string{}
	for column, at := range t.schema {
		if v, ok := value(column); ok {
			columns[at] = v
			if v != "null" {
				last = max(last, at+1)
			}
		}
	}
	for i := range last {
		b = comma(b, i)
		switch v, is := columns[i]; {
		case is:
			b = append(b, v...)
		case i < len(cells):
			b = append(b, cells[i]...)
		default:
			b = append(b, "null"...)
		}
	}
	return append(b, ']')
}

// elements returns the elements of a list as they are spelled. They are a part of b.
func elements(b []byte) (cells [][]byte) {
	if len(b) < 2 || b[0] != '[' {
		return nil
	}
	from, deep, quoted := 1, 0, false
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			deep++
		case deep > 0 && (c == ']' || c == '}'):
			deep--
		case deep == 0 && (c == ',' || c == ']'):
			cell := bytes.TrimSpace(b[from:i])
			if len(cell) > 0 || c == ',' {
				cells = append(cells, cell)
			}
			from = i + 1
		}
	}
	return cells
}
