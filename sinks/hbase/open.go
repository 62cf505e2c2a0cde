package hbase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/hbase/internal/counts"
	"github.com/symlake/symlake/sinks/hbase/internal/places"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// Options are for opening a store. The zero value is what jobs use.
type Options struct {
	ReadOnly  bool
	ZooKeeper bool // the URL names ZooKeeper's quorum
	NewBlocks bool // Create makes an empty blocks table for a catalog that lost its rows
	Write     WriteOptions
	// Security says how the client proves its identity, and how it protects what it sends.
	Security security.Options

	most string // tests: the highest protection to take
}

// Create makes the namespace and tables of a store that is missing at what follows the scheme of a store URL;
// sinks.ErrLost where one table is missing and the other has rows.
func Create(ctx context.Context, rest string, o Options) error {
	s, err := connect(rest, o)
	if err != nil {
		return err
	}
	defer s.c.Close()
	return create(ctx, s.c, &s.address, o.NewBlocks, s.w.o.Notice)
}

// Open opens the store at what follows the scheme of a store URL; sinks.ErrMissing if
// its tables are not there, sinks.ErrLost if one of them is, sinks.ErrUnfit if they are not fit to keep symbols.
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
	a.client.Security, a.client.Notice, a.client.MostProtection = o.Security, o.Write.Notice, o.most
	if o.Write.User == "" {
		o.Write.User = a.client.User
	}
	o.Write.security = o.Security
	return newStore(a, o.ReadOnly, o.Write), nil
}

// newStore connects when first used.
func newStore(a address, readOnly bool, o WriteOptions) *store {
	s := &store{address: a, c: client.New(a.client), readOnly: readOnly}
	s.records = places.New(values{s, catalogColumn})
	s.w = newWriter(s.c, a.blocks(), a.catalog(), blocks{s}.generations, o)
	return s
}

func (s *store) open(ctx context.Context) (*sinks.Store, error) {
	bounded, cancel := context.WithTimeout(ctx, contactTime)
	defer cancel()
	notes, err := s.meet(bounded)
	if err != nil {
		if errors.Is(err, client.ErrNoTable) {
			err = s.missing(bounded, err)
		}
		s.c.Close()
		return nil, err
	}
	records := countedRecords{s.records, counts.New(newCounters(s), time.Now, sleep)}
	return &sinks.Store{Blocks: blocks{s}, Catalog: records, Close: s.c.Close, Purge: s.purge, Notes: notes}, nil
}

// meet finds the tables. Readers need no master: they ask hbase:meta for the first regions, and use what the master says
// meanwhile of the schemas.
func (s *store) meet(ctx context.Context) (notes []string, err error) {
	if !s.readOnly {
		notes, err = check(ctx, s.c, &s.address, func(t client.Table, f client.Family) {
			if t == s.blocks() && f.Name == blocksColumn.Family {
				s.w.bloom = bloomOf(f)
			}
		})
		s.watched.begin(time.Now())
		return notes, err
	}
	checked := s.watch()
	if err := s.c.Reach(ctx, client.Place{Table: s.catalog(), Row: places.First}, client.Place{Table: s.blocks()}); err != nil {
		return nil, err
	}
	wait := time.NewTimer(masterTime)
	defer wait.Stop()
	select {
	case <-checked:
	case <-wait.C:
	}
	return nil, s.watched.unfit()
}

// missing tells an absent store from a store that lost a table. Readers ask hbase:meta only, as meet does.
func (s *store) missing(ctx context.Context, err error) error {
	var gone []client.Table
	for _, t := range []client.Table{s.catalog(), s.blocks()} {
		if err := s.c.Reach(ctx, client.Place{Table: t}); errors.Is(err, client.ErrNoTable) {
			gone = append(gone, t)
		} else if err != nil {
			return err
		}
	}
	if len(gone) == 1 {
		if lost := lost(ctx, s.c, &s.address, gone[0]); lost != nil {
			return lost
		}
	}
	return fmt.Errorf("%w: %w", sinks.ErrMissing, err)
}
