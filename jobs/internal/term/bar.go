package term

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

const (
	// barEvery is how often a bar is drawn.
	barEvery = 100 * time.Millisecond
	// barAfter is how long a job works before its bar is drawn without a step.
	barAfter = time.Second
	// rateOver is the time that rates are measured over.
	rateOver = 15 * time.Second
	// rateAfter is how long a job works before its rate and remaining time say something.
	rateAfter = time.Second
)

// Step says how far a job is.
type Step struct {
	Done  int64
	Total int64  // 0: not known
	Unit  string // the noun that is counted: "object". Its plural ends with an s. "": bytes
	Bytes int64  // done, for the rate; 0: the rate counts units
	Text  string // the thing at work
}

// sample is a step at a time.
type sample struct {
	at          time.Time
	done, bytes int64
}

// bar shows one step after the other in the last line of a screen, until stop.
type bar struct {
	screen *Screen
	view   View
	name   string
	began  time.Time
	now    func() time.Time

	mu      sync.Mutex
	step    Step
	samples []sample // of the last rateOver
	drawn   time.Time
	stepped bool // a step was given

	ended  chan struct{}
	silent chan struct{} // closed when the drawing goroutine has ended
}

// newBar starts a bar.
func newBar(s *Screen, v View, name string, now func() time.Time) *bar {
	b := &bar{screen: s, view: v, name: name, began: now(), now: now, ended: make(chan struct{}), silent: make(chan struct{})}
	go b.run()
	return b
}

// run draws the bar again and again: its clock goes on while a step takes long.
func (b *bar) run() {
	defer close(b.silent)
	tick := time.NewTicker(2 * barEvery)
	defer tick.Stop()
	for {
		select {
		case <-b.ended:
			return
		case <-tick.C:
			b.mu.Lock()
			if b.stepped || b.now().Sub(b.began) >= barAfter {
				b.draw()
			}
			b.mu.Unlock()
		}
	}
}

// at takes a step, and draws it unless the last one was drawn a moment ago.
func (b *bar) at(s Step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.step, b.stepped = s, true
	if b.now().Sub(b.drawn) >= barEvery {
		b.draw()
	}
}

// stop takes the bar away for good.
func (b *bar) stop() {
	close(b.ended)
	<-b.silent
	b.screen.clear()
}

func (b *bar) draw() {
	b.drawn = b.now()
	if n := len(b.samples); n > 0 && b.step.Done < b.samples[n-1].done {
		b.samples = nil // a new stage counts anew
	}
	b.samples = append(b.samples, sample{b.drawn, b.step.Done, b.step.Bytes})
	for len(b.samples) > 2 && b.drawn.Sub(b.samples[1].at) >= rateOver {
		b.samples = b.samples[1:]
	}
	line := b.line(b.view.Width() - 1) // a full last line would make some terminals scroll
	b.screen.draw(line, Columns(line))
}

// line returns the bar as a text of at most n columns.
func (b *bar) line(n int) string {
	s, now := b.step, b.samples[len(b.samples)-1]
	parts := []string{b.name}
	if s.Total > 0 {
		parts = append(parts, fmt.Sprintf("%3d %%", 100*min(s.Done, s.Total)/s.Total))
	}
	if s.Done > 0 || s.Total > 0 {
		parts = append(parts, b.amount(s))
	}
	first := b.samples[0]
	seconds := now.at.Sub(first.at).Seconds()
	rated := seconds > 0 && now.at.Sub(b.began) >= rateAfter
	if rated {
		if rate := float64(now.done-first.done) / seconds; s.Bytes > 0 {
			parts = append(parts, Size(int64(float64(now.bytes-first.bytes)/seconds))+"/s")
		} else if s.Unit == "" && s.Done > 0 {
			parts = append(parts, Size(int64(rate))+"/s")
		} else if s.Done > 0 {
			parts = append(parts, perSecond(rate))
		}
	}
	if left := float64(now.done-first.done) / max(seconds, 1e-9); rated && s.Total > 0 && left > 0 {
		parts = append(parts, clock(time.Duration(float64(max(s.Total-s.Done, 0))/left*float64(time.Second)))+" left")
	} else {
		parts = append(parts, clock(now.at.Sub(b.began)))
	}
	const gap = "  "
	line := strings.Join(parts, gap)
	if room := n - Columns(line); s.Total > 0 && room >= 14 {
		graph := min(room/3, 32)
		graph = max(graph, 10)
		full := int(int64(graph) * min(s.Done, s.Total) / s.Total)
		parts[0] += gap + "[" + strings.Repeat("=", full) + strings.Repeat(" ", graph-full) + "]"
		line = strings.Join(parts, gap)
	}
	if room := n - Columns(line) - len(gap); s.Text != "" && room >= 8 {
		line += gap + Shorten(OneLine(s.Text), room)
	}
	return Shorten(line, n)
}

// amount returns the units done, and all of them: 12/29 objects.
func (b *bar) amount(s Step) string {
	done, all := Count(s.Done), Count(s.Total)
	if s.Unit == "" {
		done, all = Size(s.Done), Size(s.Total)
	}
	text := done
	if s.Total > 0 {
		text += "/" + all
	}
	if s.Unit != "" {
		text += " " + s.Unit
		if max(s.Done, s.Total) != 1 {
			text += "s"
		}
	}
	return text
}

// perSecond returns a rate of units.
func perSecond(rate float64) string {
	if rate < 9.95 {
		return fmt.Sprintf("%.1f/s", rate)
	}
	return Count(int64(rate)) + "/s"
}
