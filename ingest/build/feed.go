package build

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/build/spill"
	"github.com/symlake/symlake/sinks/row/classes"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/scratch"
)

// FeedRanges is about how many ranges a parcel holds. A taker writes one while the sweep fills the
// next.
const FeedRanges = 8 << 10

// A feed to one taker has feedParcels. A feed to two has aheadParcels, so that one taker may be behind:
// the encoder of the store's rows begins with the names, and the lake goes ahead meanwhile.
const (
	feedParcels  = 2
	aheadParcels = 4
)

// takers take the swept pieces of a load. Runs of code have no marks.
type takers struct {
	rows      func(*symbol.Script) error  // the encoder of the store's rows
	lake      func(*symbol.Script) error  // a batch of the lake; nil: there is none
	rowClass  func(*classes.Packed) error // as rows, of classes
	lakeClass func(*symbol.Class) error   // as lake, of classes
}

// class gives a class to all takers. The table t unpacks it.
func (k takers) class(c *classes.Packed, t *dictionary.Table) error {
	if err := k.rowClass(c); err != nil || k.lakeClass == nil {
		return err
	}
	unpacked, err := classes.Unpack(t, c.Form)
	if err != nil {
		return err
	}
	return k.lakeClass(unpacked)
}

// beside returns a function that gives runs to all takers, and a function that waits for them. The
// caller calls end in any case. The lake is written beside the caller, and with aside so are the rows.
func (k takers) beside(aside bool) (take func(*symbol.Script) error, end func() error) {
	switch {
	case aside && k.lake != nil:
		f := newFeed(aheadParcels, k.rows, k.lake)
		return f.write, f.end
	case aside:
		f := newFeed(feedParcels, k.rows)
		return f.write, f.end
	case k.lake != nil:
		f := newFeed(feedParcels, k.lake)
		return func(r *symbol.Script) error {
			if err := k.rows(r); err != nil {
				return err
			}
			return f.write(r)
		}, f.end
	}
	return k.rows, func() error { return nil }
}

// feed hands the swept runs of a load to other goroutines, one a taker, while the sweep goes on. The
// strings of the runs belong to the sorter, which outlives the feed.
type feed struct {
	to    []func(*symbol.Script) error
	most  int // parcels
	made  int
	open  *parcel
	full  []chan *parcel // by taker; nil: no parcel has been sent yet
	empty chan *parcel
	done  chan error // of a taker
}

// parcel is runs of a load, copied.
type parcel struct {
	runs   []symbol.Script
	at     []struct{ ranges, scopes, marks int } // where the parts of a run end
	ranges []symbol.Range
	scopes []symbol.Scope
	marks  []symbol.Mark
	left   atomic.Int32 // takers that have not read it
}

func (p *parcel) add(r *symbol.Script) {
	p.ranges, p.scopes, p.marks = append(p.ranges, r.Ranges...), append(p.scopes, r.Scopes...), append(p.marks, r.Marks...)
	p.runs = append(p.runs, *r)
	p.at = append(p.at, struct{ ranges, scopes, marks int }{len(p.ranges), len(p.scopes), len(p.marks)})
}

// another makes an empty parcel with room for as much as p. Others may read p.
func (p *parcel) another() *parcel {
	return &parcel{runs: make([]symbol.Script, 0, cap(p.runs)), at: make([]struct{ ranges, scopes, marks int }, 0, cap(p.at)),
		ranges: make([]symbol.Range, 0, cap(p.ranges)), scopes: make([]symbol.Scope, 0, cap(p.scopes)), marks: make([]symbol.Mark, 0, cap(p.marks))}
}

// close makes the runs whole, after the last one was added.
func (p *parcel) close() {
	ranges, scopes, marks := 0, 0, 0
	for i := range p.runs {
		r, to := &p.runs[i], p.at[i]
		r.Ranges, r.Scopes, r.Marks = p.ranges[ranges:to.ranges], p.scopes[scopes:to.scopes], p.marks[marks:to.marks]
		ranges, scopes, marks = to.ranges, to.scopes, to.marks
	}
}

func (p *parcel) write(to func(*symbol.Script) error) error {
	for i := range p.runs {
		if err := to(&p.runs[i]); err != nil {
			return err
		}
	}
	return nil
}

// parcels are empty parcels of small loads.
var parcels = sync.Pool{New: func() any { return new(parcel) }}

// pooledRanges is the most that a parcel of parcels has room for.
const pooledRanges = 2048

// end gives the parcel to a later load, unless it is large.
func (p *parcel) end() {
	if cap(p.ranges) > pooledRanges || cap(p.scopes) > pooledRanges || cap(p.runs) > pooledRanges {
		return
	}
	clear(p.runs) // they keep the load's strings
	p.reset()
	parcels.Put(p)
}

func (p *parcel) reset() {
	p.runs, p.at, p.ranges, p.scopes, p.marks = p.runs[:0], p.at[:0], p.ranges[:0], p.scopes[:0], p.marks[:0]
}

func newFeed(most int, to ...func(*symbol.Script) error) *feed {
	return &feed{to: to, most: most, made: 1, open: parcels.Get().(*parcel)}
}

// write gives a run to the other goroutines. Their errors are returned by end.
func (f *feed) write(r *symbol.Script) error {
	f.open.add(r)
	if len(f.open.ranges) < FeedRanges {
		return nil
	}
	f.send()
	select {
	case f.open = <-f.empty:
	default:
		if f.made < f.most {
			f.made++
			f.open = f.open.another()
		} else {
			f.open = <-f.empty
		}
	}
	f.open.reset()
	return nil
}

// send gives the open parcel to all takers.
func (f *feed) send() {
	if f.full == nil {
		f.empty, f.done = make(chan *parcel, f.most), make(chan error, len(f.to))
		for _, to := range f.to {
			full := make(chan *parcel, f.most)
			f.full = append(f.full, full)
			go f.run(full, to)
		}
	}
	f.open.close()
	f.open.left.Store(int32(len(f.to)))
	for _, full := range f.full {
		full <- f.open
	}
}

// run gives parcels to a taker, until its first error.
func (f *feed) run(full <-chan *parcel, to func(*symbol.Script) error) {
	var err error
	for p := range full {
		if err == nil {
			err = mapped(func() error { return p.write(to) })
		}
		if p.left.Add(-1) == 0 {
			f.empty <- p
		}
	}
	f.done <- err
}

// end waits until the other goroutines have all runs. It is called in any case.
func (f *feed) end() (err error) {
	if f.full == nil {
		f.open.close()
		for _, to := range f.to {
			err = errors.Join(err, f.open.write(to))
		}
		f.open.end()
		return err
	}
	f.send()
	for _, full := range f.full {
		close(full)
	}
	for range f.to {
		err = errors.Join(err, <-f.done)
	}
	return err
}

// held is a copy of the few runs of a script that come in order, and of the strings that they use.
type held struct {
	budget *scratch.Budget
	bytes  int64 // taken of the budget
	most   int64 // bytes of names

	parcel  *parcel
	strings []string // copies; "": no run uses the string
	text    strings.Builder
	names   int64    // bytes of strings
	uses    []uint32 // by string: how many runs use it
	last    []uint32 // by string: the number of the run that used it last, from 1
}

// firstText is the room for the text of the first names, and mostText the most room that is made ahead.
const firstText, mostText = 1 << 10, 64 << 10

// take copies a run that sweep.Script has checked, and counts its strings.
func (h *held) take(r *symbol.Script) error {
	if h.parcel == nil {
		h.parcel = parcels.Get().(*parcel)
		n := len(r.Strings)
		h.strings, h.uses, h.last = make([]string, n), make([]uint32, n), make([]uint32, n)
		h.force(int64(n) * int64(unsafe.Sizeof("")+8))
	}
	run := uint32(len(h.parcel.runs)) + 1
	use := func(s uint32) {
		if h.last[s] != run {
			h.last[s] = run
			h.use(s, r.Strings)
		}
	}
	for i := range r.Scopes {
		use(r.Scopes[i].Function)
		use(r.Scopes[i].Call.File)
	}
	for i := range r.Ranges {
		use(r.Ranges[i].At.File)
		use(r.Marks[i].Name)
		use(r.Marks[i].Compiled)
	}
	if h.names > h.most {
		return spill.LongNames(h.names, h.most)
	}
	h.force(int64(len(r.Ranges))*int64(unsafe.Sizeof(symbol.Range{})+unsafe.Sizeof(symbol.Mark{})) + int64(len(r.Scopes))*int64(unsafe.Sizeof(symbol.Scope{})))
	h.parcel.add(r)
	h.parcel.runs[len(h.parcel.runs)-1].Strings = h.strings
	return nil
}

// use counts another run that uses string s. It copies the string for the first one.
func (h *held) use(s uint32, of []string) {
	if h.uses[s]++; h.uses[s] > 1 || of[s] == "" {
		return
	}
	text := of[s]
	if h.text.Cap()-h.text.Len() < len(text) { // those before keep their room
		room := max(len(text), min(mostText, max(firstText, 2*h.text.Cap())))
		h.text.Reset()
		h.text.Grow(room)
		h.force(int64(room))
	}
	from := h.text.Len()
	h.text.WriteString(text)
	h.strings[s] = h.text.String()[from:]
	h.names += int64(len(text)) + int64(unsafe.Sizeof(text))
}

func (h *held) force(n int64) {
	h.bytes += n
	h.budget.Force(n)
}

// close gives the memory back.
func (h *held) close() {
	h.budget.Give(h.bytes)
	if h.parcel != nil {
		h.parcel.end()
		h.parcel = nil
	}
}
