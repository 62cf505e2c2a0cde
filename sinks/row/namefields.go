package row

import (
	"encoding/hex"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/compact"
)

// NameContext is what the names of an artifact are told against, since most of them repeat it.
type NameContext struct {
	Canonical string
	Base      string // last part of the member's name, or else of the URL
}

// The ways to write a name. Durable.
const (
	nameText      = 0 // the text
	nameCanonical = 1 // the canonical id
	nameUUID      = 2 // UUID of the canonical id: its first 16 bytes, the first three numbers little endian
	nameBase      = 3 // the first bytes of the base, their number, and the text behind them
	nameWays      = 4
)

// nameKinds are the kinds of names. Durable: a new kind goes to the end. 0: the kind's text follows.
var nameKinds = []symbol.NameKind{"", symbol.NameBuildID, symbol.NameDebugID, symbol.NameFile, symbol.NameApp, symbol.NameCodeID,
	symbol.NameGoBuildID, symbol.NameMVID, symbol.NameHash, symbol.NameDebugLink, "path", "map-id", "dart-build"}

// Write appends names.
func (c NameContext) Write(w *compact.Writer, names []symbol.Name) {
	uuid := c.uuid()
	w.Uint(uint64(len(names)))
	for _, n := range names {
		kind := max(slices.Index(nameKinds, n.Kind), 0)
		same := common(c.Base, n.Text)
		way := nameText
		switch {
		case n.Text == c.Canonical:
			way = nameCanonical
		case n.Text == uuid && uuid != "":
			way = nameUUID
		case same > 1:
			way = nameBase
		}
		w.Uint(uint64(kind*nameWays + way))
		if kind == 0 {
			w.Text(string(n.Kind))
		}
		switch way {
		case nameText:
			w.Text(n.Text)
		case nameBase:
			w.Uint(uint64(same))
			w.Text(n.Text[same:])
		}
	}
}

// Read reads what Write wrote; nil for no names.
func (c NameContext) Read(r *compact.Reader) []symbol.Name {
	n := r.Count()
	if n == 0 {
		return nil
	}
	names := make([]symbol.Name, n)
	for i := range names {
		v := r.Small(uint64(len(nameKinds)*nameWays - 1))
		name := &names[i]
		if name.Kind = nameKinds[v/nameWays]; v/nameWays == 0 {
			name.Kind = symbol.NameKind(r.Text())
		}
		switch v % nameWays {
		case nameText:
			name.Text = r.Text()
		case nameCanonical:
			name.Text = c.Canonical
		case nameUUID:
			name.Text = c.uuid()
		case nameBase:
			name.Text = c.Base[:r.Small(uint64(len(c.Base)))] + r.Text()
		}
		if r.Err() != nil {
			return nil
		}
	}
	return names
}

// uuid is the UUID of a canonical id in hex digits; "" if there is none.
func (c NameContext) uuid() string {
	if len(c.Canonical) < 32 {
		return ""
	}
	var b [16]byte
	if _, err := hex.Decode(b[:], []byte(c.Canonical[:32])); err != nil {
		return ""
	}
	slices.Reverse(b[:4])
	slices.Reverse(b[4:6])
	slices.Reverse(b[6:8])
	return compact.UUID(b)
}

// common counts the bytes with which both texts begin.
func common(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
