package regions

import "bytes"

// Region is a part of a table, [Start, End), as it was when looked up. Read only.
type Region struct {
	Name       []byte // its whole name, and its key in hbase:meta
	Encoded    string // 32 hex digits
	Start, End []byte // End empty: no end
	Server     string // host:port
}

// Holds tells whether a row of that key is in the region.
func (r *Region) Holds(key []byte) bool { return within(r.Start, r.End, key) }

// within tells whether key is in [start, end); end empty: no end.
func within(start, end, key []byte) bool {
	return bytes.Compare(start, key) <= 0 && (len(end) == 0 || bytes.Compare(key, end) < 0)
}

// before tells whether r ends where o begins, or earlier.
func (r *Region) before(o *Region) bool {
	return len(r.End) > 0 && bytes.Compare(r.End, o.Start) <= 0
}
