package otlp

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/internal/json"
)

// behindTable returns the offset behind the last element of a table, or at the end of the message that should have one.
func (t *tables) behindTable(of table) int32 {
	if t.ends[of] > 0 {
		return t.ends[of]
	}
	home := t.homes[len(t.homes)-1]
	if !t.m.json {
		return home.to
	}
	if at := t.emptyTable(of); at > 0 {
		return at
	}
	end := home.to - 1
	for end > home.from && t.m.b[end] != '}' {
		end--
	}
	return end
}

// emptyTable returns the offset behind the bracket of a table in JSON that has no element; 0: there is no such table.
func (t *tables) emptyTable(of table) (at int32) {
	home := t.homes[len(t.homes)-1]
	camel, snake := of.keys()
	j := &json.Walker{Bytes: t.m.b[:home.to], Pos: int(home.from)}
	j.Object(func(key string) {
		if (key == camel || key == snake) && j.Peek() == '[' {
			at = int32(j.Pos) + 1
		}
	})
	return at
}

// keys returns the names of a table in JSON.
func (of table) keys() (camel, snake string) {
	if of == functionTable {
		return "functionTable", "function_table"
	}
	return "stringTable", "string_table"
}

// number returns the field's number in the message that has the table.
func (t *tables) number(of table) protowire.Number {
	name := nFunctions
	if of == stringTable {
		name = nStrings
	}
	return numbersOf(t.m.version, t.kind).number(name)
}

// opens begins a list in JSON behind the elements of a table.
func (t *tables) opens(to []byte, of table) (list []byte, closing string) {
	switch {
	case t.ends[of] > 0:
		return append(to, ','), ""
	case t.emptyTable(of) > 0:
		return to, ""
	}
	if at := int(t.behindTable(of)); !isOpen(t.m.b[:at]) {
		to = append(to, ',')
	} else if of == stringTable && t.ends[functionTable] == 0 && len(t.names.newFunctions) > 0 && t.emptyTable(functionTable) == 0 {
		to = append(to, ',') // behind the functions, which go to the same place
	}
	return append(append(append(to, '"'), t.m.key(of.keys())...), `":[`...), "]"
}

// isOpen reports whether an object has no member before its end.
func isOpen(b []byte) bool {
	for i := len(b) - 1; i >= 0; i-- {
		switch b[i] {
		case ' ', '\t', '\r', '\n':
		case '{':
			return true
		default:
			return false
		}
	}
	return true
}

// appendFunctions appends the functions of answers.
func (t *tables) appendFunctions(to []byte) []byte {
	n := &t.names
	if t.m.json {
		to, closing := t.opens(to, functionTable)
		if len(t.functions) == 0 {
			to = append(to, "{},"...)
		}
		for i, at := range n.newFunctions {
			if i > 0 {
				to = append(to, ',')
			}
			fn := t.final(n.functions[at])
			to = append(to, '{')
			first := true
			for _, m := range [...]struct {
				camel, snake string
				v            int32
			}{{"nameStrindex", "name_strindex", fn.name}, {"systemNameStrindex", "system_name_strindex", fn.system}, {"filenameStrindex", "filename_strindex", fn.file}} {
				if m.v == 0 {
					continue
				}
				if !first {
					to = append(to, ',')
				}
				first = false
				to = append(append(append(to, '"'), t.m.key(m.camel, m.snake)...), `":`...)
				to = strconv.AppendInt(to, int64(m.v), 10)
			}
			to = append(to, '}')
		}
		return append(to, closing...)
	}
	number := t.number(functionTable)
	put := func(body []byte) {
		to = protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), body)
	}
	if len(t.functions) == 0 {
		put(nil)
	}
	var body []byte
	for _, at := range n.newFunctions {
		fn := t.final(n.functions[at])
		body = appendNumber(body[:0], 1, uint64(fn.name))
		body = appendNumber(body, 2, uint64(fn.system))
		put(appendNumber(body, 3, uint64(fn.file)))
	}
	return to
}

// appendStrings appends the texts of answers.
func (t *tables) appendStrings(to []byte) []byte {
	n := &t.names
	if t.m.json {
		to, closing := t.opens(to, stringTable)
		if len(t.strings) == 0 {
			to = append(to, `"",`...)
		}
		for i, at := range n.newTexts {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(append(append(to, '"'), json.Quote(n.texts[at])...), '"')
		}
		return append(to, closing...)
	}
	number := t.number(stringTable)
	if len(t.strings) == 0 {
		to = protowire.AppendString(protowire.AppendTag(to, number, protowire.BytesType), "")
	}
	for _, at := range n.newTexts {
		to = protowire.AppendString(protowire.AppendTag(to, number, protowire.BytesType), n.texts[at])
	}
	return to
}
