package trace

import "math"

// Long is a call that took long, and the longest in it.
type Long struct {
	Name       *Name
	Start, End int64 // of the call, as far as it lies in the window
	Inner      *Long // nil: none in it took long
}

// Jank finds the stack of a jank: on each level the longest call of at least
// a threshold, in the longest such call of the level above. Of several that
// are equally long it is the first.
//
// Memory holds the open calls and the long ones in them.
type Jank struct {
	threshold, from, to int64
	threads             []*jankThread // by Track.Index; nil: no thread
}

type jankThread struct {
	track *Track
	open  []jankCall
	best  *Long
}

type jankCall struct {
	name  *Name
	start int64
	best  *Long
}

// NewJank looks for calls of at least threshold nanoseconds within [from, to)
// of the trace's clock; to 0: to the end. Calls count with the part that lies
// in the window.
func NewJank(threshold, from, to int64) *Jank {
	if to == 0 {
		to = math.MaxInt64
	}
	return &Jank{threshold: max(threshold, 1), from: from, to: to}
}

// Event takes the next event of a trace.
func (j *Jank) Event(e *Event) error {
	switch e.Kind {
	case NewTrack:
		var t *jankThread
		if e.Track.Kind == Thread {
			t = &jankThread{track: e.Track}
		}
		j.threads = append(j.threads, t)
	case Begin:
		if t := j.threads[e.Track.Index]; t != nil {
			t.open = append(t.open, jankCall{name: e.Name, start: e.Time})
		}
	case End:
		if t := j.threads[e.Track.Index]; t != nil {
			j.end(t, e.Time)
		}
	}
	return nil
}

func (j *Jank) end(t *jankThread, at int64) {
	top := len(t.open) - 1
	c := t.open[top]
	t.open = t.open[:top]
	start, end := max(c.start, j.from), min(at, j.to)
	if end-start < j.threshold {
		return
	}
	best := &t.best
	if top > 0 {
		best = &t.open[top-1].best
	}
	if *best == nil || end-start > (*best).End-(*best).Start {
		*best = &Long{Name: c.name, Start: start, End: end, Inner: c.best}
	}
}

// Threads shows the longest call of each thread that has one, in order of appearance.
func (j *Jank) Threads(show func(t *Track, l *Long) error) error {
	for _, t := range j.threads {
		if t != nil && t.best != nil {
			if err := show(t.track, t.best); err != nil {
				return err
			}
		}
	}
	return nil
}
