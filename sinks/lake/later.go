package lake

import "sync"

// later does pieces of work in their order, beside its caller if it may start goroutines. After an error it does
// nothing more.
type later struct {
	start func(func()) // nil: in place
	work  chan func()
	ended sync.WaitGroup

	mu  sync.Mutex
	err error
}

// laterWork is how many pieces wait for the one at hand: what they hold is in memory.
const laterWork = 1

// do does a piece of work and then calls then, also after an error. It returns the error of the work so far.
func (l *later) do(piece func() error, then func()) error {
	run := func() {
		defer then()
		if l.error() != nil {
			return
		}
		if err := piece(); err != nil {
			l.mu.Lock()
			l.err = err
			l.mu.Unlock()
		}
	}
	switch {
	case l.start == nil:
		run()
	case l.work == nil:
		l.work = make(chan func(), laterWork)
		l.work <- run
		work := l.work
		l.ended.Add(1)
		l.start(func() {
			defer l.ended.Done()
			for f := range work {
				f()
			}
		})
	default:
		l.work <- run
	}
	return l.error()
}

func (l *later) error() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// end waits for all of it.
func (l *later) end() error {
	if l.work != nil {
		close(l.work)
		l.work = nil
		l.ended.Wait()
	}
	return l.error()
}
