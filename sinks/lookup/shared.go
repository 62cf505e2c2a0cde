package lookup

import (
	"context"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row/loads"
)

// claims are loads. One trip reads their shared strings along with its rows.
type claims struct {
	loads   []*load
	flights []*flight[*loads.Block] // nil: landed
}

// set receives the k-th claimed row; false: it is not what it should be.
func (s *claims) set(c *Client, k int, r sinks.Row, err error) bool {
	err = c.setShared(s.loads[k], r, err)
	s.done(c, k, err)
	return err == nil
}

// done ends the k-th flight.
func (s *claims) done(c *Client, k int, err error) {
	f := s.flights[k]
	s.flights[k] = nil
	c.blockFlights.land(place{s.loads[k], sharedStrings}, f, nil, err)
}

// land ends the flights of rows that did not come.
func (s *claims) land(c *Client, err error) {
	for k, f := range s.flights {
		if f != nil {
			s.done(c, k, err)
		}
	}
}

func (c *Client) setShared(l *load, r sinks.Row, err error) error {
	at := place{l, sharedStrings}
	if err != nil {
		return at.rowErr(err)
	}
	if r.Key == nil {
		return at.rowErr(errGone)
	}
	if err := l.opened.SetDictionary(r); err != nil {
		return at.rowErr(err)
	}
	c.recs.Reweigh(l.id, func(e *entry) bool { return e.load == l })
	return nil
}

// shared sees to it that a load's shared strings are there: it waits for the
// caller that reads them, or reads them.
func (c *Client) shared(ctx context.Context, l *load) error {
	cached := func() (*loads.Block, bool) { return nil, l.opened.HasDictionary() }
	if l.opened.HasDictionary() {
		return nil
	}
	_, err := c.blockFlights.do(ctx, place{l, sharedStrings}, cached, func() (*loads.Block, error) {
		span, _ := l.opened.Dictionary()
		said := errAbandoned
		err := c.store.Blocks.First(ctx, []sinks.Span{span}, func(_ int, r sinks.Row, err error) { said = c.setShared(l, r, err) })
		if err != nil {
			return nil, err
		}
		return nil, said
	})
	return err
}
