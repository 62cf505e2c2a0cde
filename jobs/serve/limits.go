package serve

import (
	"runtime"
	"time"
)

// Limits bound what one request may cost; 0 means the default.
type Limits struct {
	BodyBytes   int64 // of a request, inflated: 16 MiB
	AnswerBytes int64 // 64 MiB
	Stacks      int   // of a request: 10,000
	Frames      int   // of a request, over all its stacks: 250,000
	Positions   int   // of a look-up request: 10,000
	Jobs        int   // of a request to /symbolicate/v5: 10, as Eliot has it
	// Time bounds the body's way here, and then the work on the answer, waiting for a turn included: 30 s each. The
	// answer's way back does not count.
	Time       time.Duration
	Concurrent int // requests at work at once: four a processor; the others wait
}

func (l *Limits) defaults() {
	set := func(v *int, n int) {
		if *v <= 0 {
			*v = n
		}
	}
	if l.BodyBytes <= 0 {
		l.BodyBytes = 16 << 20
	}
	if l.AnswerBytes <= 0 {
		l.AnswerBytes = 64 << 20
	}
	if l.Time <= 0 {
		l.Time = 30 * time.Second
	}
	set(&l.Stacks, 10_000)
	set(&l.Frames, 250_000)
	set(&l.Positions, 10_000)
	set(&l.Jobs, 10)
	set(&l.Concurrent, 4*runtime.GOMAXPROCS(0))
}

// last is the time in which a caller takes the whole of an answer.
func (l *Limits) last() time.Duration { return 2*l.Time + 10*time.Second }
