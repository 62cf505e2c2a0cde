package gecko

// uses say how stacks are used. In profiles of the browser, and in old processed ones, the frame of a sample's stack
// has the address that the processor was at; all other frames, and all of stacks that a program took of itself, have return
// addresses.
type uses struct{ leaf, caller bits }

// bits is a set of numbers.
type bits []uint64

func (b *bits) set(i int) {
	for i>>6 >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[i>>6] |= 1 << (i & 63)
}

func (b bits) has(i int) bool { return i>>6 < len(b) && b[i>>6]>>(i&63)&1 == 1 }

// eachStack calls visit with each number of a stack at hand in a table of samples or markers; visit reads or skips it. sync says
// that the program took the stack of itself. schema is known from before, or nil.
func eachStack(s *stream, name string, schema map[string]int, visit func(sync bool) error) error {
	sync, column := name != "samples", "stack"
	value := func() error { return visit(sync) }
	if name == "markers" {
		column, value = "data", func() error { return markerStack(s, visit) }
	}
	at := columnAt(schema, column)
	return s.object(func(key string) error {
		switch {
		case key == "schema":
			schema, err := readSchema(s)
			at = columnAt(schema, column)
			return err
		case key == column && at < 0:
			return s.array(func(int) error { return value() }, nil)
		case key == "data" && at >= 0:
			return s.array(func(int) error {
				return s.array(func(k int) error {
					if k == at {
						return value()
					}
					return s.skip()
				}, nil)
			}, nil)
		}
		return s.skip()
	})
}

// columnAt returns where a column of rows stands; null: the schema does not say it.
func columnAt(schema map[string]int, column string) int {
	if at, known := schema[column]; known {
		return at
	}
	return null
}

// backtrace is the schema of a marker's stack where the rows stand before it.
var backtrace = map[string]int{"stack": 0}

// markerStack visits the stack of a marker's data: {"cause": {"stack": 7}}, or in profiles of the browser {"stack": {"samples":
// {"schema": {"stack": 0}, "data": [[7, …]]}}}.
func markerStack(s *stream, visit func(sync bool) error) error {
	return s.object(func(key string) error {
		c, err := s.peek()
		switch {
		case err != nil || c != '{':
		case key == "cause":
			return s.object(func(key string) error {
				if key == "stack" {
					return visit(true)
				}
				return s.skip()
			})
		case key == "stack":
			return s.object(func(key string) error {
				if key == "samples" {
					return eachStack(s, "backtrace", backtrace, visit)
				}
				return s.skip()
			})
		}
		return s.skip()
	})
}

// prefix returns the caller of a stack, null if it has none. ok is false if the caller does not stand before it.
func (t *table) prefix(stack int) (caller int, ok bool) {
	if t.has("prefixOffset") {
		offset := int(t.at("prefixOffset", stack))
		if offset <= 0 {
			return null, true
		}
		return stack - offset, offset <= stack
	}
	caller = int(t.at("prefix", stack))
	return caller, caller < stack
}

// isTree reports whether each stack stands behind its caller, and has a frame.
func (t *table) isTree(frames *table) bool {
	for i := range t.rows {
		if _, ok := t.prefix(i); !ok || t.index("frame", i, frames) < 0 {
			return false
		}
	}
	return true
}
