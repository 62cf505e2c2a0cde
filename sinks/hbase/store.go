package hbase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// contactTime is how long opening a store may take: who cannot be reached at
// all is not waited for as long as a server that was.
const contactTime = 30 * time.Second

// Options are for opening a store. The zero value is what jobs use.
type Options struct {
	ReadOnly  bool
	ZooKeeper bool // the URL names ZooKeeper's quorum
	Write     WriteOptions
}

// store is one namespace of one HBase.
type store struct {
	address
	c        *client.Client
	w        *writer
	readOnly bool
}

var errReadOnly = errors.New("store was opened for reading only")

// Create makes the namespace and tables that are missing at what follows the scheme of a store URL.
func Create(ctx context.Context, rest string, o Options) error {
	s, err := connect(rest, o)
	if err != nil {
		return err
	}
	defer s.c.Close()
	return create(ctx, s.c, &s.address, s.w.o.Notice)
}

// Open opens the store at what follows the scheme of a store URL; sinks.ErrMissing if
// its tables are not there, sinks.ErrUnfit if they are not fit to keep symbols.
func Open(ctx context.Context, rest string, o Options) (*sinks.Store, error) {
	s, err := connect(rest, o)
	if err != nil {
		return nil, err
	}
	return s.open(ctx)
}

func connect(rest string, o Options) (*store, error) {
	a, err := parse(rest, o.ZooKeeper)
	if err != nil {
		return nil, err
	}
	if o.Write.User == "" {
		o.Write.User = a.client.User
	}
	s := &store{address: a, c: client.New(a.client), readOnly: o.ReadOnly}
	if o.Write.User == "" {
		o.Write.User = a.client.User
	}
	s.w = newWriter(s.c, a.blocks(), a.catalog(), blocks{s}.generations, o.Write)
	return s, nil
}

func (s *store) open(ctx context.Context) (*sinks.Store, error) {
	bounded, cancel := context.WithTimeout(ctx, contactTime)
	defer cancel()
	notes, err := s.meet(bounded)
	if err != nil {
		s.c.Close()
		if errors.Is(err, client.ErrNoTable) {
			return nil, fmt.Errorf("%w: %w", sinks.ErrMissing, err)
		}
		return nil, err
	}
	return &sinks.Store{Blocks: blocks{s}, Catalog: catalog{s}, Close: s.c.Close, Purge: s.purge, Notes: notes}, nil
}

// meet finds the tables. Readers ask hbase:meta only, so that they need no master.
func (s *store) meet(ctx context.Context) (notes []string, err error) {
	if !s.readOnly {
		return check(ctx, s.c, &s.address)
	}
	for _, t := range []client.Table{s.catalog(), s.blocks()} {
		if _, err := s.c.Regions(ctx, t); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
