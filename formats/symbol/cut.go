package symbol

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"strings"
	"unicode/utf8"
)

const (
	// keptBytes is how much of a name that is too long is kept.
	keptBytes = 4000
	// CutBytes bounds a cut name, with its mark.
	CutBytes = keptBytes + maxMark
	maxMark  = 80
	markHead = "…[cut, "
)

// CutName returns the name that stands for a longer name: its first 4,000 bytes, fewer where a character would be
// split, and a mark with the name's length and the first 8 bytes of its SHA-256:
//
//	_ZN4game…[cut, 127041 bytes, sha256 1f3a5c7e9b2d4f60]
//
// Names that differ anywhere stay apart, and one name is cut the same way in every format and run.
func CutName(name string) string {
	var c Cutter
	c.WriteString(name)
	return c.Name()
}

// ShortName returns the name itself if it has at most most bytes, else its cut form. The result may share the memory of
// name.
func ShortName(name string, most int64) string {
	if int64(len(name)) <= most {
		return name
	}
	return CutName(name)
}

// IsCut reports whether CutName made a name. It is no mangled name any more.
func IsCut(name string) bool {
	if len(name) < keptBytes-utf8.UTFMax || name[len(name)-1] != ']' {
		return false
	}
	return strings.Contains(name[max(0, len(name)-maxMark):], markHead)
}

// Cutter makes the cut form of a name that comes in pieces. The zero value is ready.
type Cutter struct {
	kept []byte
	size int64
	sum  hash.Hash
}

// Write takes the next piece. It never fails.
func (c *Cutter) Write(piece []byte) (int, error) {
	if c.sum == nil {
		c.sum = sha256.New()
	}
	c.sum.Write(piece)
	c.size += int64(len(piece))
	if room := keptBytes - len(c.kept); room > 0 {
		c.kept = append(c.kept, piece[:min(room, len(piece))]...)
	}
	return len(piece), nil
}

// WriteString takes the next piece. It never fails.
func (c *Cutter) WriteString(piece string) { c.Write([]byte(piece)) }

// Name returns the cut form of all that was written.
func (c *Cutter) Name() string {
	c.Write(nil)
	kept := c.kept
	for cut := len(kept); cut > 0 && cut > len(kept)-utf8.UTFMax; cut-- {
		if utf8.RuneStart(kept[cut-1]) {
			if !utf8.FullRune(kept[cut-1:]) {
				kept = kept[:cut-1]
			}
			break
		}
	}
	return fmt.Sprintf("%s%s%d bytes, sha256 %x]", kept, markHead, c.size, c.sum.Sum(nil)[:8])
}
