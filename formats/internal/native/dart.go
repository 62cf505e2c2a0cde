package native

import "github.com/symlake/symlake/formats/symbol"

// DartUnits is how many units a snapshot of Dart has at most: files with more
// need not be searched for its symbols.
const DartUnits = 1

// DartAnchors are the positions of the symbols that a snapshot of Dart is
// counted from, by the names that package symbol gives them; nil for any other image.
func (m *Image) DartAnchors() map[string]uint64 {
	var anchors map[string]uint64
	for i := range m.Symbols {
		s := &m.Symbols[i]
		a := symbol.DartAnchor(s.Name)
		if a == "" || s.Addr < m.Base {
			continue
		}
		if anchors == nil {
			anchors = map[string]uint64{}
		}
		if _, known := anchors[a]; !known {
			anchors[a] = s.Addr - m.Base
		}
	}
	return anchors
}

// IsDart reports whether a string table that goes on with names has there a name that only a snapshot of Dart has.
func IsDart(names []byte) bool {
	for _, a := range [...]string{symbol.DartIsolate, symbol.DartText} {
		if len(names) > len(a) && names[len(a)] == 0 && string(names[:len(a)]) == a {
			return true
		}
	}
	return false
}
