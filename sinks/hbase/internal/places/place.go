package places

import (
	"bytes"
	"crypto/sha256"

	"github.com/symlake/symlake/sinks"
)

// Salts is how many parts the ledger has. Durable. Writers of one day heat as many regions, and a list reads as many
// parts side by side.
const Salts = 16

// The first bytes of the keys of records of artifacts, and of the ledger.
const (
	Artifacts = 'a'
	Ledger    = 'o'
)

// The ledger's keys are [ledgerFrom, ledgerStop), and its old rows [oldFrom, ledgerStop).
var (
	ledgerFrom = []byte{Ledger}
	ledgerStop = []byte{Ledger + 1}
	oldFrom    = []byte{Ledger, Salts}
)

// First is the key of records that each process reads first: the store's keys.
var First = []byte{'k'}

// isLedger reports whether a key is of the ledger.
func isLedger(key []byte) bool { return len(key) > 0 && key[0] == Ledger }

// Row returns the row of a key.
func Row(key []byte) []byte {
	if !isLedger(key) {
		return key
	}
	hash := sha256.Sum256(key[1:])
	return salted(hash[0]%Salts, key)
}

// salted returns the row of a ledger's key under a salt, whether it is the key's or not.
func salted(salt byte, key []byte) []byte {
	row := make([]byte, 0, len(key)+1)
	return append(append(row, Ledger, salt), key[1:]...)
}

// oldRow returns the row of a key in catalogs of older programs, or nil where no other row than Row's is possible.
func oldRow(key []byte) []byte {
	if len(key) < 2 || key[0] != Ledger || key[1] < Salts {
		return nil
	}
	return key
}

// Key undoes Row. The key of an old row is the row.
func Key(row []byte) []byte {
	if !isLedger(row) || bytes.Compare(row, oldFrom) >= 0 {
		return row
	}
	return append([]byte{Ledger}, row[min(2, len(row)):]...)
}

// Splits returns the boundaries of a new table beside a blocks table of so many regions. Records of
// artifacts, names and the ledger get a quarter each, the ledger at most a region a salt. All others share two.
func Splits(regions int) (rows [][]byte) {
	parts := max(1, regions/4)
	hashed := func(kind byte) {
		for i := 1; i < parts; i++ {
			n := i * 65536 / parts
			rows = append(rows, []byte{kind, byte(n >> 8), byte(n)})
		}
	}
	hashed(Artifacts)
	rows = append(rows, []byte{'b'}, []byte{'n'})
	hashed('n')
	rows = append(rows, ledgerFrom)
	salts := min(parts, Salts)
	for i := 1; i < salts; i++ {
		rows = append(rows, []byte{Ledger, byte(i * Salts / salts)})
	}
	return append(rows, ledgerStop)
}

// clip returns the part of s within [from, stop), and whether there is any.
func clip(s sinks.Span, from, stop []byte) (sinks.Span, bool) {
	if bytes.Compare(s.From, from) < 0 {
		s.From = from
	}
	if s.Stop == nil || stop != nil && bytes.Compare(s.Stop, stop) > 0 {
		s.Stop = stop
	}
	return s, s.Stop == nil || bytes.Compare(s.From, s.Stop) < 0
}

// under returns the rows under a salt of a span of the ledger's keys.
func under(salt byte, s sinks.Span) sinks.Span {
	out := sinks.Span{From: salted(salt, s.From), Stop: []byte{Ledger, salt + 1}}
	if !bytes.Equal(s.Stop, ledgerStop) {
		out.Stop = salted(salt, s.Stop)
	}
	return out
}
