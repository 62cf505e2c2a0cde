package gecko

import (
	"slices"

	"github.com/symlake/symlake/formats"
)

// null is a value of a table that is null, missing, or no number that fits.
const null = -1

// table is the columns of a table that are numbers, and the names of all others. Profiles that were processed have a list
// a column. The browser's have a list a row, with a schema.
type table struct {
	whole   bool // it was read to its end
	rows    int
	rowwise bool
	schema  map[string]int
	names   []string // of the columns
	ints    map[string][]int32
	wide    []int64 // of the column "address"
	length  int64   // as the table says; null: it does not
}

// has reports whether the table has a column.
func (t *table) has(column string) bool { return t != nil && slices.Contains(t.names, column) }

// at returns a value of a column.
func (t *table) at(column string, row int) int32 {
	if c := t.ints[column]; row >= 0 && row < len(c) {
		return c[row]
	}
	return null
}

// address returns the address of a row, null if it has none.
func (t *table) address(row int) int64 {
	if row < len(t.wide) {
		return t.wide[row]
	}
	return null
}

// index returns a value of a column that is a row of another table, null if that does not have it.
func (t *table) index(column string, row int, of *table) int {
	if v := int(t.at(column, row)); of != nil && v >= 0 && v < of.rows {
		return v
	}
	return null
}

// wanted are the columns of numbers that are kept, by the name of the table.
var wanted = map[string][]string{
	"frameTable":          {"address", "func", "lib", "nativeSymbol", "inlineDepth", "line", "column", "location", "originalLocation"},
	"funcTable":           {"name", "isJS", "resource", "fileName", "source", "lineNumber", "columnNumber", "originalLocation"},
	"resourceTable":       {"lib", "name", "type"},
	"stackTable":          {"frame", "prefix", "prefixOffset"},
	"nativeSymbols":       {"name"},
	"sources":             {"filename", "sourceMapURL"},
	"sourceLocationTable": {"source", "line", "column"},
}

// room bounds the memory of what a profile needs.
type room struct{ left int64 }

func (r *room) take(s *stream, n int64) error {
	if r.left -= n; r.left < 0 {
		return s.fail("a profile with smaller tables", formats.ErrLimit)
	}
	return nil
}

// readTable reads a table of either shape. schema is known from before, or nil.
func readTable(s *stream, name string, schema map[string]int, r *room) (t *table, late bool, err error) {
	t = &table{ints: map[string][]int32{}, length: null}
	if schema != nil {
		t.rowwise, t.schema = true, schema
		for column := range schema {
			t.names = append(t.names, column)
		}
	}
	longest := 0
	err = s.object(func(key string) (err error) {
		switch {
		case key == "length":
			if v, ok, err := s.number(); err != nil || ok {
				t.length = v
				return err
			}
			return nil
		case key == "schema" && schema != nil:
			return s.skip()
		case key == "schema":
			t.schema, err = readSchema(s)
			for column := range t.schema {
				t.names = append(t.names, column)
			}
			t.rowwise = true
			return err
		case key == "data" && t.rowwise:
			longest, err = t.readRows(s, name, r)
			return err
		case key == "data":
			late = true
			return s.skip()
		}
		t.names = append(t.names, key)
		n := 0
		switch {
		case key == "address":
			t.wide = t.wide[:0]
			n, err = readColumn(s, func(v int64) error { t.wide = append(t.wide, v); return r.take(s, 16) })
		case slices.Contains(wanted[name], key):
			var c []int32
			n, err = readColumn(s, func(v int64) error { c = append(c, narrow(v)); return r.take(s, 8) })
			t.ints[key] = c
		default:
			n, err = readColumn(s, nil)
		}
		longest = max(longest, n)
		return err
	})
	t.rows = longest
	if t.length >= 0 && !t.rowwise {
		t.rows = int(min(t.length, int64(longest)))
	}
	t.whole = err == nil && (t.length < 0 || t.rowwise || t.length == int64(longest))
	return t, late, err
}

// readSchema reads where the columns of rows stand.
func readSchema(s *stream) (map[string]int, error) {
	schema := map[string]int{}
	return schema, s.object(func(column string) error {
		v, ok, err := s.number()
		if ok && v >= 0 && v < 256 {
			schema[column] = int(v)
		}
		return err
	})
}

// narrow returns a value as the tables keep it.
func narrow(v int64) int32 {
	if v < 0 || v > 1<<31-1 {
		return null
	}
	return int32(v)
}

// readColumn reads a list of numbers. keep gets each, or null; nil: they are only counted. Truth values are 1 and 0.
func readColumn(s *stream, keep func(v int64) error) (n int, err error) {
	err = s.array(func(i int) error {
		n = i + 1
		if keep == nil {
			return s.skip()
		}
		v, err := s.cell()
		if err != nil {
			return err
		}
		return keep(v)
	}, nil)
	return n, err
}

// cell reads a value of a table: a number, or null for all others but truth values.
func (s *stream) cell() (int64, error) {
	b, err := s.raw()
	if err != nil {
		return null, err
	}
	if v, ok := integer(b); ok {
		return v, nil
	}
	switch string(b) {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	return null, nil
}

// readRows reads rows behind their schema.
func (t *table) readRows(s *stream, name string, r *room) (n int, err error) {
	at := map[int]string{}
	for column, i := range t.schema {
		if slices.Contains(wanted[name], column) {
			at[i] = column
		}
	}
	last := make([]string, 0, len(at))
	for _, column := range at {
		last = append(last, column)
	}
	err = s.array(func(i int) error {
		n = i + 1
		if err := r.take(s, int64(8*len(last))); err != nil {
			return err
		}
		for _, column := range last {
			t.ints[column] = append(t.ints[column], null)
		}
		return s.array(func(k int) error {
			column, is := at[k]
			if !is {
				return s.skip()
			}
			v, err := s.cell()
			t.ints[column][i] = narrow(v)
			return err
		}, nil)
	}, nil)
	return n, err
}
