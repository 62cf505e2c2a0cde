package counts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks"
)

// world is a store in memory with processes. One process at a time does a step, drawn at random.
type world struct {
	*rand.Rand
	rows    map[string][]byte
	records map[string]int64 // by counter
	clock   time.Time
	faults  bool // some writes return an error, and half of those happen
}

func (w *world) now() time.Time { return w.clock }

// process is one process: it waits for its turn before each step.
type process struct {
	w       *world
	turn    chan bool     // false: it dies
	waits   chan struct{} // it waits for its turn
	done    chan struct{}
	counter *Counter
}

var errDead = errors.New("the process is dead")

// start runs a process. It stands still until step lets it go on.
func (w *world) start(work func(p *process)) *process {
	p := &process{w: w, turn: make(chan bool), waits: make(chan struct{}), done: make(chan struct{})}
	p.counter = New(p, w.now, func(context.Context, time.Duration) error { p.wait(); return nil })
	go func() {
		defer close(p.done)
		defer func() {
			if r := recover(); r != nil && r != errDead {
				panic(r)
			}
		}()
		p.wait()
		work(p)
	}()
	<-p.waits
	return p
}

// wait ends a step of the process, and waits for the next one.
func (p *process) wait() {
	p.waits <- struct{}{}
	if !<-p.turn {
		panic(errDead)
	}
}

// step lets a process do its next step; false: it has ended.
func (p *process) step(lives bool) bool {
	p.turn <- lives
	select {
	case <-p.waits:
		return true
	case <-p.done:
		return false
	}
}

func (p *process) Each(_ context.Context, emit func(string, []byte) error) error {
	for last, first := "", true; ; first = false {
		p.wait()
		next := slices.DeleteFunc(slices.Sorted(maps.Keys(p.w.rows)), func(id string) bool { return id < last || id == last && !first })
		if len(next) == 0 {
			return nil
		}
		last = next[0]
		if err := emit(last, p.w.rows[last]); err != nil {
			return err
		}
	}
}

func (p *process) Get(_ context.Context, id string) ([]byte, error) {
	p.wait()
	return p.w.rows[id], nil
}

func (p *process) Swap(_ context.Context, id string, old, new []byte) (bool, error) {
	p.wait()
	fault := p.w.faults && p.w.IntN(20) == 0
	if fault && p.w.IntN(2) == 0 {
		return false, errors.New("no answer")
	}
	if !bytes.Equal(p.w.rows[id], old) {
		return false, nil
	}
	p.w.rows[id] = new
	if fault {
		return false, errors.New("no answer, but it happened")
	}
	return true, nil
}

func (p *process) Remove(_ context.Context, ids []string) error {
	for _, id := range ids {
		p.wait()
		delete(p.w.rows, id)
	}
	return nil
}

func (p *process) Fresh(context.Context) (bool, error) {
	p.wait()
	return len(p.w.records) == 0, nil
}

// change changes records, as a batch of a catalog does.
func (p *process) change() {
	if p.counter.Begin(context.Background()) != nil {
		return
	}
	var happened []sinks.Count
	for range 1 + p.w.IntN(3) {
		p.wait()
		name, by := fmt.Sprint(p.w.IntN(3)), int64(1+p.w.IntN(5))
		p.w.records[name] += by
		happened = append(happened, sinks.Count{Name: name, By: by})
	}
	p.counter.End(context.Background(), happened, false)
}

// count counts all records, one after the other.
func (p *process) count(_ context.Context, add func([]sinks.Count)) error {
	for _, name := range slices.Sorted(maps.Keys(p.w.records)) {
		p.wait()
		add([]sinks.Count{{Name: name, By: p.w.records[name]}})
	}
	return nil
}

// run runs a process alone to its end.
func (w *world) run(work func(p *process)) {
	for p := w.start(work); p.step(true); {
	}
}

// Processes count, die, stand still for long and settle, in any order of their steps. Once all have ended, the counters are right
// or not whole. After one Settle more they are whole.
func TestProcesses(t *testing.T) {
	whole := 0
	for seed := range uint64(3000) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 1)), rows: map[string][]byte{}, records: map[string]int64{}, clock: time.Unix(1e9, 0)}
		w.faults = seed%3 == 0
		if seed%4 == 0 {
			w.records["0"] = 7 // records of an older program
		}
		var live []*process
		for range 2 + w.IntN(60) {
			switch w.IntN(12) {
			case 0, 6:
				live = append(live, w.start(func(p *process) { _, _ = p.counter.Settle(context.Background(), p.count) }))
			case 1, 2:
				w.clock = w.clock.Add([]time.Duration{Silent / 4, Silent, rest, 3 * rest}[w.IntN(4)] + time.Second)
			case 3:
				if n := len(live); n > 0 && w.IntN(3) == 0 {
					live[n-1].step(false)
					live = live[:n-1]
				}
			case 4, 5:
				live = append(live, w.start(func(p *process) {
					for range 6 {
						p.change()
					}
				}))
			}
			for range w.IntN(20) {
				if len(live) == 0 {
					break
				}
				if i := w.IntN(len(live)); !live[i].step(true) {
					live = slices.Delete(live, i, i+1)
				}
			}
		}
		for _, p := range live {
			for p.step(true) {
			}
		}
		w.faults = false
		check := func(when string, must bool) {
			w.run(func(p *process) {
				counts, is, err := p.counter.Counts(context.Background())
				if err != nil || must && !is || is && !maps.Equal(counts, w.records) {
					t.Errorf("seed %d, %s: %v, %v, %v; want %v", seed, when, counts, is, err, w.records)
				}
				if is {
					whole++
				}
			})
		}
		check("at the end", false)
		w.clock = w.clock.Add(time.Hour)
		settle := func() {
			w.run(func(p *process) {
				if is, err := p.counter.Settle(context.Background(), p.count); err != nil || !is {
					t.Errorf("seed %d: settle: %v, %v", seed, is, err)
				}
			})
		}
		settle()
		check("settled", true)
		w.run((*process).change)
		check("changed", true)
		w.clock = w.clock.Add(time.Hour)
		settle()
		settle()
		check("merged", true)
		if n := len(w.rows); n != 1 {
			t.Errorf("seed %d: %d rows are left", seed, n)
		}
		if t.Failed() {
			return
		}
	}
	if whole < 3*3000+300 {
		t.Errorf("the counters were whole %d times only", whole)
	}
}

// shelf is rows in memory for many goroutines. Some writes have no answer.
type shelf struct {
	mu   sync.Mutex
	rows map[string][]byte
	n    int
}

func (s *shelf) Each(_ context.Context, emit func(string, []byte) error) error {
	s.mu.Lock()
	rows := maps.Clone(s.rows)
	s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		if err := emit(id, rows[id]); err != nil {
			return err
		}
	}
	return nil
}

func (s *shelf) Get(_ context.Context, id string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows[id], nil
}

func (s *shelf) Swap(_ context.Context, id string, old, new []byte) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n++; s.n%101 == 100 {
		return false, errors.New("no answer")
	}
	if !bytes.Equal(s.rows[id], old) {
		return false, nil
	}
	s.rows[id] = new
	return true, nil
}

func (s *shelf) Remove(_ context.Context, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.rows, id)
	}
	return nil
}

func (s *shelf) Fresh(context.Context) (bool, error) { return true, nil }

// Goroutines of one process count side by side, and other processes settle meanwhile.
func TestGoroutines(t *testing.T) {
	s := &shelf{rows: map[string][]byte{}}
	pause := func(context.Context, time.Duration) error { return nil }
	c := New(s, time.Now, pause)
	var sum atomic.Int64
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				if c.Begin(t.Context()) != nil {
					continue
				}
				by := int64(g*1000 + i)
				sum.Add(by)
				c.End(t.Context(), []sinks.Count{{Name: "x", By: by}}, false)
			}
		})
	}
	count := func(_ context.Context, add func([]sinks.Count)) error {
		add([]sinks.Count{{Name: "x", By: sum.Load()}})
		return nil
	}
	other := New(s, func() time.Time { return time.Now().Add(time.Hour) }, pause) // it takes all rows for old ones
	for range 50 {
		_, _ = other.Settle(t.Context(), count) // a write may have no answer
	}
	wg.Wait()
	for {
		got, whole, err := c.Counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if whole {
			if got["x"] != sum.Load() {
				t.Errorf("%d, want %d", got["x"], sum.Load())
			}
			return
		}
		_, _ = other.Settle(t.Context(), count)
	}
}
