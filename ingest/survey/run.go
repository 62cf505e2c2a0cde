package survey

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/symlake/symlake/sinks/catalog"
)

const (
	// maxRuns bounds the runs that a survey tells of: the last ones.
	maxRuns = 2000
	// lagSamples of a run are kept for the median.
	lagSamples = 128
)

// Run is one run as the ledger tells of it: by the objects that no later run touched.
type Run struct {
	Run   string
	First time.Time // an object was tried first, and last
	Last  time.Time
	// Objects counts the objects by state.
	Objects map[string]int
	// Rejects counts the rejected objects by kind of reason.
	Rejects map[string]int
	Bytes   int64   // sizes of the objects
	Seconds float64 // of work on the objects; several may be at work side by side
	// Lag is the median time from an object's upload, or from its first listing, until it was done.
	Lag time.Duration
	// From and Until are the first and the last URL of its objects.
	From, Until string
	// Working counts the processes that have not closed their account: they work, or died.
	Working int
	// Untold counts the processes with a report that was not told yet.
	Untold int

	lags []time.Duration
	done int // objects with a lag
}

// runs are the runs of a survey on its way.
type runs struct {
	byName map[string]*Run
	floor  time.Time // runs that ended before were dropped
	random *rand.Rand
}

func newRuns() *runs {
	return &runs{byName: map[string]*Run{}, random: rand.New(rand.NewPCG(1, 2))}
}

// named returns the run of a name, which did something at a time; nil if the survey has dropped it.
func (l *runs) named(name string, at time.Time) *Run {
	if r := l.byName[name]; r != nil {
		return r
	}
	if at.Before(l.floor) {
		return nil
	}
	if len(l.byName) >= 2*maxRuns {
		sorted := l.sorted()
		for _, r := range sorted[maxRuns:] {
			delete(l.byName, r.Run)
		}
		l.floor = sorted[maxRuns].Last
	}
	r := &Run{Run: name, Objects: map[string]int{}, Rejects: map[string]int{}}
	l.byName[name] = r
	return r
}

// object counts a ledger entry.
func (l *runs) object(o *catalog.Object) {
	r := l.named(o.Run, o.Last)
	if r == nil {
		return
	}
	r.touch(o.Last)
	r.Objects[string(o.State)]++
	if o.State == catalog.ObjectRejected {
		r.Rejects[catalog.ReasonKind(o.Reason)]++
	}
	r.Bytes += o.Size
	r.Seconds += o.Seconds
	if r.From == "" || o.URL < r.From {
		r.From = o.URL
	}
	if o.URL > r.Until {
		r.Until = o.URL
	}
	switch o.State {
	case catalog.ObjectLoaded, catalog.ObjectKept, catalog.ObjectRejected, catalog.ObjectConflict:
		since := o.First
		if !o.Modified.IsZero() {
			since = o.Modified
		}
		l.lag(r, max(0, o.Last.Sub(since)))
	}
}

// count counts the objects of a run in a state. last is when the run tried its last object.
func (l *runs) count(run, state string, n int, last time.Time) {
	if r := l.named(run, last); r != nil {
		r.touch(last)
		r.Objects[state] += n
	}
}

// lag adds one lag to the samples: each lag of the run has the same chance to stay.
func (l *runs) lag(r *Run, d time.Duration) {
	r.done++
	if len(r.lags) < lagSamples {
		r.lags = append(r.lags, d)
	} else if at := l.random.IntN(r.done); at < lagSamples {
		r.lags[at] = d
	}
}

// account counts the account of a process.
func (l *runs) account(a *catalog.Account) {
	at := a.Ended
	if at.IsZero() {
		at = a.Started
	}
	r := l.named(a.Run, at)
	if r == nil {
		return
	}
	r.touch(a.Started)
	r.touch(at)
	switch {
	case a.Ended.IsZero():
		r.Working++
	case a.Told.IsZero():
		r.Untold++
	}
}

func (r *Run) touch(at time.Time) {
	if r.First.IsZero() || at.Before(r.First) {
		r.First = at
	}
	if at.After(r.Last) {
		r.Last = at
	}
}

// sorted returns the runs, newest first.
func (l *runs) sorted() []*Run {
	all := make([]*Run, 0, len(l.byName))
	for _, r := range l.byName {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Run) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Run, b.Run)) })
	return all
}

// finished returns the runs of a whole survey, newest first, at most maxRuns.
func (l *runs) finished() []*Run {
	all := l.sorted()
	all = all[:min(len(all), maxRuns)]
	for _, r := range all {
		if len(r.lags) > 0 {
			slices.Sort(r.lags)
			r.Lag = r.lags[len(r.lags)/2]
			r.lags = nil
		}
	}
	return all
}
