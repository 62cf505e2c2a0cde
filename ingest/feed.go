package ingest

import (
	"errors"
	"sync/atomic"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

// feedRanges is about how many ranges are handed over at once. One such parcel is written while the next is filled.
const feedRanges = 8 << 10

// A feed to one has so many parcels, a feed to two as many as one of them may be behind: the encoder of the store's rows
// begins with the names, and the lake goes ahead meanwhile.
const (
	feedParcels  = 2
	aheadParcels = 4
)

// takers is who takes the swept runs of a load.
type takers struct {
	rows func(*symbol.Run) error // the encoder of the store's rows
	lake func(*symbol.Run) error // a batch of the lake; nil: there is none
}

// beside gives what takes runs for all of them, and what waits for it, which is called in any case. The lake is written beside
// who calls, and with aside so are the rows. t is what classes are unpacked by.
func (k takers) beside(t *row.Table, aside bool) (take func(*symbol.Run) error, end func() error) {
	switch {
	case aside && k.lake != nil:
		f := newFeed(t, aheadParcels, k.rows, k.lake)
		return f.write, f.end
	case aside:
		f := newFeed(t, feedParcels, k.rows)
		return f.write, f.end
	case k.lake != nil:
		f := newFeed(t, feedParcels, k.lake)
		return func(r *symbol.Run) error {
			if err := k.rows(r); err != nil {
				return err
			}
			return f.write(r)
		}, f.end
	}
	return k.rows, func() error { return nil }
}

// feed hands the swept runs of a load to other goroutines, one for each that takes them, while the sweep goes on. What the
// runs' strings are is the sorter's, which outlives it.
type feed struct {
	to    []func(*symbol.Run) error
	table *row.Table // that classes are unpacked by
	most  int        // parcels
	made  int
	open  *parcel
	full  []chan *parcel // by taker; nil: nothing has been handed over yet
	empty chan *parcel
	done  chan error // of a taker
}

// parcel is runs of a load, copied.
type parcel struct {
	runs   []symbol.Run
	at     []struct{ ranges, scopes int } // where those of a run end
	ranges []symbol.Range
	scopes []symbol.Scope
	left   atomic.Int32 // takers that have not read it
}

func (p *parcel) add(r *symbol.Run) {
	p.ranges, p.scopes = append(p.ranges, r.Ranges...), append(p.scopes, r.Scopes...)
	p.runs = append(p.runs, *r)
	p.at = append(p.at, struct{ ranges, scopes int }{len(p.ranges), len(p.scopes)})
}

// another makes an empty parcel with room for as much as p. Others may read p.
func (p *parcel) another() *parcel {
	return &parcel{runs: make([]symbol.Run, 0, cap(p.runs)), at: make([]struct{ ranges, scopes int }, 0, cap(p.at)),
		ranges: make([]symbol.Range, 0, cap(p.ranges)), scopes: make([]symbol.Scope, 0, cap(p.scopes))}
}

// close makes the runs whole: nothing is added any more.
func (p *parcel) close() {
	ranges, scopes := 0, 0
	for i := range p.runs {
		r := &p.runs[i]
		r.Ranges, r.Scopes = p.ranges[ranges:p.at[i].ranges], p.scopes[scopes:p.at[i].scopes]
		ranges, scopes = p.at[i].ranges, p.at[i].scopes
	}
}

func (p *parcel) write(to func(*symbol.Run) error) error {
	for i := range p.runs {
		if err := to(&p.runs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *parcel) reset() {
	p.runs, p.at, p.ranges, p.scopes = p.runs[:0], p.at[:0], p.ranges[:0], p.scopes[:0]
}

func newFeed(t *row.Table, most int, to ...func(*symbol.Run) error) *feed {
	return &feed{to: to, table: t, most: most, made: 1, open: new(parcel)}
}

// write gives a run to the other goroutines. What became of it end tells.
func (f *feed) write(r *symbol.Run) error {
	if r.Packed != nil { // it is valid during the call only, and a mapping has few
		c, err := f.table.Unpack(r.Packed)
		if err != nil {
			return err
		}
		r = &symbol.Run{Rank: r.Rank, Class: c}
		for _, to := range f.to {
			if err := to(r); err != nil {
				return err
			}
		}
		return nil
	}
	f.open.add(r)
	if len(f.open.ranges) < feedRanges {
		return nil
	}
	f.hand()
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

// hand hands the open parcel over.
func (f *feed) hand() {
	if f.full == nil {
		f.empty, f.done = make(chan *parcel, f.most), make(chan error, len(f.to))
		for _, to := range f.to {
			full := make(chan *parcel, f.most)
			f.full = append(f.full, full)
			go f.take(full, to)
		}
	}
	f.open.close()
	f.open.left.Store(int32(len(f.to)))
	for _, full := range f.full {
		full <- f.open
	}
}

// take lets one of them have what was handed over. After an error nothing more.
func (f *feed) take(full <-chan *parcel, to func(*symbol.Run) error) {
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
		return err
	}
	f.hand()
	for _, full := range f.full {
		close(full)
	}
	for range f.to {
		err = errors.Join(err, <-f.done)
	}
	return err
}
