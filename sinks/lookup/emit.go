package lookup

import "github.com/symlake/symlake/formats/symbol"

// emits passes the answers of a batch on as they come to hand.
type emits struct {
	emit   func(i int, a *symbol.Answer) error
	first  int           // what question 0 of the batch is to the caller
	failed error         // what emit said; it is not called again
	one    symbol.Answer // the answer being emitted
	frames []symbol.Frame
	// held: rows are being read that others may wait for, so that emit, which may ask for one of them, is not called.
	held bool
	late []lateAnswer
}

// lateAnswer came to hand while answers were held.
type lateAnswer struct {
	to int32
	a  symbol.Answer
}

// pass emits the answer to question to, now or after the trip.
func (e *emits) pass(to int32, s symbol.Status, frames []symbol.Frame, why error) {
	switch {
	case e.held:
		e.late = append(e.late, lateAnswer{to, symbol.Answer{Status: s, Frames: frames, Err: why}})
	case e.failed == nil:
		e.one = symbol.Answer{Status: s, Frames: frames, Err: why}
		e.failed = e.emit(e.first+int(to), &e.one)
	}
}

// passHeld emits what came late.
func (e *emits) passHeld() {
	for i := range e.late {
		if l := &e.late[i]; e.failed == nil {
			e.failed = e.emit(e.first+int(l.to), &l.a)
		}
	}
	clear(e.late)
	e.late = e.late[:0]
}

// end forgets the caller and its answers, but not the memory.
func (e *emits) end() {
	clear(e.frames)
	*e = emits{frames: e.frames, late: e.late}
}
