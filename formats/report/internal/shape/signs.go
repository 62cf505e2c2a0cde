package shape

import (
	"bytes"
	"strings"
	"sync"

	"github.com/symlake/symlake/formats/internal/json"
)

// group is a kind of facts that frames have.
type group uint8

const (
	noFact group = iota
	functions
	classes
	files
	lines
	places
)

// frameWords are names of members, without marks and in small letters, by the facts that they say of a frame.
var frameWords = [...]string{
	functions: "function functionname func fn method methodname symbol symbolname rawfunction routine procedure callee",
	classes:   "class classname declaringclass module modulename package namespace library libraryname binary binaryname image imagename",
	files:     "file filename source sourcefile sourcename script scriptname abspath filepath sourceurl",
	lines:     "line lineno linenumber linenum ln column columnnumber col colno",
	places:    "address addr pc ip instructionaddr instructionaddress instruction offset returnaddress frameaddress programcounter absoluteaddress relativeaddress",
}

// longestName of a member is looked at.
const longestName = 64

// groups are the words of frameWords.
var groups = sync.OnceValue(func() map[string]group {
	all := map[string]group{}
	for g, words := range frameWords {
		for word := range strings.FieldsSeq(words) {
			all[word] = group(g)
		}
	}
	return all
})

// groupOf returns the kind of facts that a name of a member says.
func groupOf(key []byte, known map[string]group) group {
	if len(key) > longestName {
		return noFact
	}
	var room [longestName]byte
	word := room[:0]
	for _, c := range key {
		switch {
		case c == '_' || c == '-' || c == '.' || c == ' ':
		case 'A' <= c && c <= 'Z':
			word = append(word, c|0x20)
		default:
			word = append(word, c)
		}
	}
	return known[string(word)]
}

// looksLikeFrame reports whether an object with facts of these kinds looks like a frame.
func looksLikeFrame(has *[places + 1]bool) bool {
	return (has[functions] || has[places]) && (has[classes] || has[files] || has[lines] || has[functions] && has[places])
}

// mostSigns bounds the different signs of a table.
const mostSigns = 256

// signSet is a set of signs.
type signSet [mostSigns / 64]uint64

func (s *signSet) add(i int) { s[i>>6] |= 1 << (i & 63) }

// meets reports whether two sets have a sign in common.
func (s *signSet) meets(o *signSet) bool {
	for i := range s {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// signs are the signs of a table by their words.
type signs struct {
	numbers map[string]int
	groups  [][]signSet // of shapes
}

// signsOf numbers the signs of a table.
func signsOf(table []*Shape) *signs {
	s := &signs{numbers: map[string]int{}}
	for _, row := range table {
		var sets []signSet
		for _, words := range row.Signs {
			var set signSet
			for word := range strings.FieldsSeq(words) {
				n, known := s.numbers[word]
				if !known {
					n = len(s.numbers)
					s.numbers[word] = n
				}
				set.add(n)
			}
			sets = append(sets, set)
		}
		s.groups = append(s.groups, sets)
	}
	return s
}

// read looks at all short strings of a text, and returns the signs among them. strange: there are names of members as
// frames have them.
func (s *signs) read(text []byte) (met signSet, strange bool) {
	known := groups()
	var has [places + 1]bool
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], '"')
		if i < 0 {
			break
		}
		from := at + i + 1
		end := json.StringEnd(text, from)
		if end < 0 {
			break
		}
		at = end + 1
		if end-from > longestName {
			continue
		}
		word := text[from:end]
		if n, ok := s.numbers[string(word)]; ok {
			met.add(n)
		}
		if g := groupOf(word, known); g != noFact {
			has[g] = true
		}
	}
	return met, looksLikeFrame(&has)
}
