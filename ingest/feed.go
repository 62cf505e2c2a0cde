package ingest

import (
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

// feedRanges is about how many ranges are handed over at once. One such parcel is written while the next is filled.
const feedRanges = 16 << 10

// feed hands the swept runs of a load to another goroutine: to a batch of the lake, which takes them beside the encoder of
// the store's rows, or to that encoder, while the sweep goes on. What the runs' strings are is the sorter's, which outlives it.
type feed struct {
	to    func(*symbol.Run) error
	table *row.Table // that classes are unpacked by; nil: there are none
	open  *parcel
	full  chan *parcel // nil: nothing has been handed over yet
	empty chan *parcel
	done  chan error // of what was handed over
}

// parcel is runs of a load, copied.
type parcel struct {
	runs   []symbol.Run
	at     []struct{ ranges, scopes int } // where those of a run end
	ranges []symbol.Range
	scopes []symbol.Scope
}

func (p *parcel) add(r *symbol.Run) {
	p.ranges, p.scopes = append(p.ranges, r.Ranges...), append(p.scopes, r.Scopes...)
	p.runs = append(p.runs, *r)
	p.at = append(p.at, struct{ ranges, scopes int }{len(p.ranges), len(p.scopes)})
}

func (p *parcel) write(to func(*symbol.Run) error) error {
	ranges, scopes := 0, 0
	for i := range p.runs {
		r := &p.runs[i]
		r.Ranges, r.Scopes = p.ranges[ranges:p.at[i].ranges], p.scopes[scopes:p.at[i].scopes]
		ranges, scopes = p.at[i].ranges, p.at[i].scopes
		if err := to(r); err != nil {
			return err
		}
	}
	return nil
}

func (p *parcel) reset() {
	p.runs, p.at, p.ranges, p.scopes = p.runs[:0], p.at[:0], p.ranges[:0], p.scopes[:0]
}

func newFeed(to func(*symbol.Run) error, t *row.Table) *feed {
	return &feed{to: to, table: t, open: new(parcel)}
}

// write gives a run to the other goroutine. What became of it end tells.
func (f *feed) write(r *symbol.Run) error {
	if r.Packed != nil { // it is valid during the call only, and a mapping has few
		c, err := f.table.Unpack(r.Packed)
		if err != nil {
			return err
		}
		return f.to(&symbol.Run{Rank: r.Rank, Class: c})
	}
	f.open.add(r)
	if len(f.open.ranges) < feedRanges {
		return nil
	}
	f.hand()
	return nil
}

// hand hands the open parcel over.
func (f *feed) hand() {
	if f.full == nil {
		f.full, f.empty, f.done = make(chan *parcel), make(chan *parcel, 2), make(chan error, 1)
		f.empty <- new(parcel)
		go func() {
			var err error
			for p := range f.full {
				if err == nil {
					err = mapped(func() error { return p.write(f.to) })
				}
				p.reset()
				f.empty <- p
			}
			f.done <- err
		}()
	}
	f.full <- f.open
	f.open = <-f.empty
}

// end waits until the other goroutine has all runs. It is called in any case.
func (f *feed) end() error {
	if f.full == nil {
		return f.open.write(f.to)
	}
	f.full <- f.open
	close(f.full)
	return <-f.done
}
