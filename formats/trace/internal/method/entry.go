package method

const (
	lebBytes = 10 // of a number at most

	// EntryBytes is the length of a packed entry at most.
	EntryBytes = 3 * lebBytes

	actions = 3 // the bits of a time that say what happens; 0 enters a method
)

// Entry is an entry of a block of packed entries, of versions 4 and 5 of a trace. The zero Entry stands before the first.
type Entry struct {
	Time   uint64 // above the action's two bits
	Method uint64 // entered last
}

// Next returns the entry behind e that b begins with, and its size: 0 if b ends in it, or a number is too long. An exit does
// not name its method. dual: the thread's CPU time stands behind the time.
func (e Entry) Next(b []byte, dual bool) (next Entry, size int) {
	diff, n := SignedLEB(b)
	if n == 0 {
		return e, 0
	}
	e.Time += uint64(diff)
	if dual {
		_, size := SignedLEB(b[n:])
		if size == 0 {
			return e, 0
		}
		n += size
	}
	if e.Time&actions == 0 {
		diff, size := SignedLEB(b[n:])
		if size == 0 {
			return e, 0
		}
		e.Method += uint64(diff)
		n += size
	}
	return e, n
}

// SignedLEB returns the signed LEB128 number that b begins with, and its size: 0 if b ends in it, or if it has more
// than ten bytes.
func SignedLEB(b []byte) (value int64, size int) {
	var n uint64
	for i, c := range b[:min(len(b), lebBytes)] {
		shift := 7 * i
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 && shift+7 < 64 {
				n |= ^uint64(0) << (shift + 7)
			}
			return int64(n), i + 1
		}
	}
	return 0, 0
}
