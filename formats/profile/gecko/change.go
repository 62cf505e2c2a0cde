package gecko

import "strconv"

// number spells a value of a table.
func number(v int32) string {
	if v < 0 {
		return "null"
	}
	return strconv.Itoa(int(v))
}

// lineText spells a line or a column.
func lineText(v uint32) string {
	if v == 0 {
		return "null"
	}
	return strconv.FormatUint(uint64(v), 10)
}

// frameEdit is how the table of frames changes.
func (p *plan) frameEdit() *edit {
	value := func(r *frameRow, column string) (string, bool) {
		switch column {
		case "location":
			return number(r.location), r.withLocation
		case "func":
			return number(r.fn), r.withFunc
		case "nativeSymbol":
			return number(r.symbol), !r.keepSymbol
		case "line":
			return lineText(r.line), !r.keepPlace
		case "column":
			return lineText(r.column), !r.keepPlace
		case "originalLocation":
			return number(r.original), r.original >= 0
		case "inlineDepth":
			return strconv.Itoa(r.depth), true
		}
		return "", false
	}
	return &edit{
		value: func(column string, row int) (string, bool) {
			r := p.frames[int32(row)]
			if r == nil || column == "inlineDepth" && r.depth == 0 {
				return "", false
			}
			return value(r, column)
		},
		changes: func(row int) bool { return p.frames[int32(row)] != nil },
		more:    len(p.framed),
		base:    func(i int) int32 { return p.framed[i].base },
		fresh: func(column string, i int) string {
			v, _ := value(p.framed[i], column)
			return v
		},
	}
}

// funcEdit is how the table of functions changes.
func (p *plan) funcEdit() *edit {
	value := func(r *funcRow, column string) (string, bool) {
		switch column {
		case "name":
			return number(r.name), r.name >= 0
		case "fileName", "source":
			return number(r.file), !r.keepFile
		case "lineNumber":
			return lineText(r.at[0]), !r.keepPlace
		case "columnNumber":
			return lineText(r.at[1]), !r.keepPlace
		case "originalLocation":
			return number(r.original), r.original >= 0
		}
		return "", false
	}
	return &edit{
		value: func(column string, row int) (string, bool) {
			r := p.funcs[int32(row)]
			if r == nil {
				return "", false
			}
			return value(r, column)
		},
		changes: func(row int) bool { return p.funcs[int32(row)] != nil },
		more:    len(p.funced),
		base:    func(i int) int32 { return p.funced[i].base },
		fresh: func(column string, i int) string {
			v, _ := value(p.funced[i], column)
			return v
		},
	}
}

// symbolEdit is how the table of native symbols changes.
func (p *plan) symbolEdit() *edit {
	return &edit{more: len(p.symbols), base: func(int) int32 { return null }, fresh: func(column string, i int) string {
		switch s := &p.symbols[i]; column {
		case "libIndex":
			return number(s.lib)
		case "address":
			return strconv.FormatUint(s.address, 10)
		case "name":
			return number(s.name)
		}
		return "null"
	}}
}

// locationEdit is how the table of places in sources changes.
func (p *plan) locationEdit() *edit {
	return &edit{more: len(p.located), base: func(int) int32 { return null }, fresh: func(column string, i int) string {
		switch l := &p.located[i]; column {
		case "source":
			return number(l.source)
		case "line":
			return lineText(l.line)
		case "column":
			return lineText(l.column)
		}
		return "null"
	}}
}
