package jobs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/all"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
)

// runID is the id given, or a new one.
func runID(given string) string {
	if given != "" {
		return given
	}
	return time.Now().UTC().Format("20060102T150405Z-") + rand.Text()[:6]
}

// owner names this process in leases, for people.
func owner(run string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), run)
}

// createLocked makes what the store lacks, and locks it in the way given; errSkipLocked as lockStore.
func (p *workspace) createLocked(lock func() (unlock func(), err error)) (s *records, unlock func(), err error) {
	if err := p.createTables(false); err != nil {
		return nil, nil, err
	}
	if unlock, err = lock(); err != nil {
		return nil, nil, err
	}
	if s, err = p.createStore(); err != nil {
		unlock()
		return nil, nil, err
	}
	return s, unlock, nil
}

// createStore makes what a store lacks (folders, keyset, store keys) and opens it for writing.
func (p *workspace) createStore() (*records, error) {
	if err := p.createTables(false); err != nil {
		return nil, err
	}
	tables, err := p.openTables(false)
	if err != nil {
		return nil, err
	}
	key, err := p.openOrCreateKey(tables)
	if err != nil {
		tables.Close()
		return nil, err
	}
	s := &opened{tables, key}
	ring, err := row.OpenKeyring(p.ctx, s.Store.Catalog, s.kek)
	fresh := errors.Is(err, row.ErrKeyless)
	if fresh {
		ring, err = row.CreateKeyring(p.ctx, s.Store.Catalog, s.kek)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("create store keys: %w", err)
	}
	r := &records{s, row.NewCatalog(s.Store.Catalog, ring), ring}
	if fresh {
		if err := r.audit(p.ctx, "init", p.storeURL()); err != nil {
			s.Close()
			return nil, err
		}
	}
	return r, nil
}

// createTables makes what is missing of the place for rows and catalog. A key service is asked first
// whether it would wrap the keys of a new store: one that refuses leaves nothing behind. newBlocks: a place for rows is
// made for a catalog that lost its own.
func (p *workspace) createTables(newBlocks bool) error {
	if place := p.keyPlace(); place.keyset == "" {
		s, err := all.Open(p.ctx, p.storeURL(), p.storeOptions(true))
		if errors.Is(err, sinks.ErrMissing) {
			err = place.try(p.ctx)
		} else if err == nil {
			err = s.Close()
		} else if newBlocks && errors.Is(err, sinks.ErrLost) {
			err = nil // its keys are there
		}
		if err != nil {
			return unfit(fmt.Errorf("create store %s: %w", p.storeURL(), err))
		}
	}
	o := p.storeOptions(false)
	o.NewBlocks = newBlocks
	if err := all.Create(p.ctx, p.storeURL(), o); err != nil {
		return unfit(fmt.Errorf("create store %s: %w", p.storeURL(), err))
	}
	return nil
}

// openOrCreateKey gets the store's key-encryption key ready for use, a new keyset if the store has none.
func (p *workspace) openOrCreateKey(s *sinks.Store) (sinks.KEK, error) {
	place := p.keyPlace()
	if _, err := os.Stat(place.keyset); place.keyset != "" && errors.Is(err, fs.ErrNotExist) {
		if err := p.createKeyset(place, s); err != nil {
			return nil, err
		}
	}
	return place.open(p.ctx)
}

// createKeyset makes a keyset, but not for a store that has keys already: a
// new keyset could not open them, and would look like the right one.
func (p *workspace) createKeyset(place keyPlace, s *sinks.Store) error {
	path := place.keyset
	if _, err := row.OpenKeyring(p.ctx, s.Catalog, kek.Ephemeral()); !errors.Is(err, row.ErrKeyless) {
		return fmt.Errorf("keyset %s is missing, and store %s was sealed with it: put it back", path, p.storeURL())
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create keyset: %w", err)
	}
	if err := place.create(p.ctx); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	p.log.Info("created", "keyset", path)
	return nil
}

// openToChange opens store and lake to change what is published.
func (p *workspace) openToChange() (*records, projection.Stores, func(), error) {
	var none projection.Stores
	s, err := p.openRecords(false)
	if err != nil {
		return nil, none, nil, err
	}
	lake, err := p.openLake(s, false)
	if err != nil && !errors.Is(err, errNoLake) {
		s.Close()
		return nil, none, nil, err
	}
	return s, projection.Stores{Store: s.Store, Keyring: s.ring, Lake: lake}, func() { s.Close() }, nil
}

// oneArtifact finds the artifact of a name, whatever its state.
func (p *workspace) oneArtifact(s *records, name, app string) (symbol.ID, error) {
	r := lookup.New(s.Store, s.kek, lookup.Options{}).Resolve(p.ctx, name, lookup.Narrow{App: app})
	switch {
	case r.Record != nil:
		return r.Record.ID, nil
	case len(r.Candidates) > 1:
		var all []string
		for _, id := range r.Candidates {
			all = append(all, id.String())
		}
		return symbol.ID{}, usage("%s is the name of several artifacts: %s", name, strings.Join(all, " "))
	case len(r.Candidates) == 1:
		return r.Candidates[0], nil
	}
	if id, err := symbol.ParseID(name); err == nil {
		if rec, err := s.Artifact(p.ctx, id); err == nil && rec != nil && rec.State == row.Forgotten {
			return id, nil
		}
	}
	return symbol.ID{}, fmt.Errorf("%s: %s: %s", name, r.Status, r.Err)
}

// pipeline is what the configuration says of every job that opens objects.
func (p *workspace) pipeline() ingest.Options {
	l := p.config.Limits
	return ingest.Options{Formats: p.known, Workers: l.Workers, MemoryBytes: int64(l.Memory), DiskBytes: int64(l.Disk),
		ObjectTime: l.Time, MinQuality: p.config.MinQuality, Limits: formats.Limits{ObjectBytes: int64(l.Object)}}
}

// resolve gives the artifacts that names lead to, one each.
func (p *workspace) resolve(s *records, names []string) ([]symbol.ID, error) {
	client := lookup.New(s.Store, s.kek, lookup.Options{})
	var ids []symbol.ID
	for _, name := range names {
		r := client.Resolve(p.ctx, name, lookup.Narrow{})
		switch {
		case r.Record != nil:
			ids = append(ids, r.Record.ID)
		case len(r.Candidates) > 0:
			return nil, usage("%s names %d artifacts: name one by its id (symlake artifacts %s)", name, len(r.Candidates), name)
		default:
			return nil, fmt.Errorf("%s: %s: %s", name, r.Status, wire.Reason(symbol.Answer{Status: r.Status, Err: r.Err}))
		}
	}
	return ids, nil
}

// workspace is the session of a command that writes: the store, its lake and its keys, the sources that it reads,
// and the reports that it owes.
type workspace struct {
	*process
}

// newWorkspace returns the workspace of a session.
func newWorkspace(p *process) *workspace { return &workspace{p} }

// parseShard reads I/N; "" is all.
func parseShard(s string) (shard, shards int, err error) {
	if s == "" {
		return 0, 0, nil
	}
	i, n, ok := strings.Cut(s, "/")
	shard, err1 := strconv.Atoi(i)
	shards, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || shard < 0 || shard >= shards {
		return 0, 0, usage("--shard %q: want I/N with I from 0", s)
	}
	return shard, shards, nil
}

// watch starts showing the progress of a job.
func (p *workspace) watch(job string) *progress {
	return newProgress(p.err, p.log, job, p.flags.NoProgress)
}
