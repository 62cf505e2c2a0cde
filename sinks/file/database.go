package file

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks"
)

// database is an open catalog.db. Readers read in parallel; one writer takes changes in groups.
type database struct {
	path string
	ro   bool

	viewMu sync.Mutex
	view   *view // guarded by viewMu, like closed
	closed bool

	turn chan struct{} // holds one token: its holder writes
	mu   sync.Mutex
	todo []*change // guarded by mu
	conn *writer   // belongs to the holder of the token
}

func openDatabase(path string, readOnly bool) (*database, error) {
	d := &database{path: path, ro: readOnly, turn: make(chan struct{}, 1)}
	v, err := d.acquire()
	if err != nil {
		return nil, err
	}
	d.release(v, false)
	return d, nil
}

// close waits for the transaction under way; reads end on their own.
func (d *database) close() error {
	d.viewMu.Lock()
	d.closed = true
	d.replace(nil)
	d.viewMu.Unlock()
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	if d.conn == nil {
		return nil
	}
	err := d.conn.close()
	d.conn = nil
	return err
}

// apply runs a change in a transaction and waits until it is durable. Changes
// that come while another transaction is written share the next one.
func (d *database) apply(ctx context.Context, run func(w *writer) (verdict, err error)) error {
	if d.ro {
		return errReadOnly
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &change{run: run, done: make(chan error, 1)}
	d.mu.Lock()
	d.todo = append(d.todo, c)
	d.mu.Unlock()
	select {
	case err := <-c.done: // another one's turn did it
		return err
	case d.turn <- struct{}{}:
	}
	d.mu.Lock()
	group := d.todo
	d.todo = nil
	d.mu.Unlock()
	if len(group) > 0 { // without c, when the turn before had taken it
		err := d.write(group)
		for _, c := range group {
			if err != nil {
				c.done <- err
			} else {
				c.done <- c.verdict
			}
		}
	}
	<-d.turn
	return <-c.done
}

// write runs a group in one transaction.
func (d *database) write(group []*change) error {
	d.viewMu.Lock()
	closed := d.closed
	d.viewMu.Unlock()
	if closed {
		return errClosed
	}
	if d.conn == nil {
		w, err := openWriter(d.path)
		if err != nil {
			return named(err)
		}
		d.conn = w
	}
	return named(d.conn.transaction(group))
}

// acquire gives the view to read with; the caller releases it. Readers and
// writers keep their one view; a read-only one of an idle store is exchanged
// when a writer comes.
func (d *database) acquire() (*view, error) {
	d.viewMu.Lock()
	defer d.viewMu.Unlock()
	if d.closed {
		return nil, errClosed
	}
	if d.view == nil || !d.view.fresh() {
		v, err := openView(d.path, d.ro)
		// Side files come and go between looking and opening.
		for tries := 0; err != nil && d.ro && passing(err) && tries < maxTries; tries++ {
			time.Sleep(time.Duration(tries) * time.Millisecond)
			v, err = openView(d.path, d.ro)
		}
		if err != nil && size(d.path) < 0 {
			return nil, fmt.Errorf("%s is missing: %w", catalogName, sinks.ErrCorrupt)
		}
		if err != nil {
			return nil, named(err)
		}
		d.replace(v)
	}
	d.view.refs++
	return d.view, nil
}

// replace makes v the view, nil: the next reader opens one. viewMu is held.
func (d *database) replace(v *view) {
	if old := d.view; old != nil {
		old.old = true
		if old.refs == 0 {
			old.close() // only read from
		}
	}
	d.view = v
}

// release gives a view back; a failed one is not used again.
func (d *database) release(v *view, failed bool) {
	d.viewMu.Lock()
	defer d.viewMu.Unlock()
	v.refs--
	if failed && d.view == v {
		d.replace(nil)
	} else if v.old && v.refs == 0 {
		v.close()
	}
}

// read runs a short query, again when a writer came in between.
func (d *database) read(query func(c *conn) error) error {
	for tries := 0; ; tries++ {
		v, err := d.acquire()
		if err != nil {
			return err
		}
		err = v.use(query)
		if !v.unmoved() {
			err = errMoved // the result does not count
		}
		again := err != nil && d.ro && passing(err)
		d.release(v, again)
		if !again || tries == maxTries {
			return named(err)
		}
		time.Sleep(time.Duration(tries) * time.Millisecond)
	}
}

// maxTries bounds how often a read-only view is opened again; waits add up to 0.2 s.
const maxTries = 20
