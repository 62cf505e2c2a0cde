// Package workspace extends a session for commands that write: stores and keysets that are made, the lake, locks,
// sources, reports, metrics and traces of a run.
package workspace

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
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/all"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/stores"
)

// RunID is the id given, or a new one.
func RunID(given string) string {
	if given != "" {
		return given
	}
	return time.Now().UTC().Format("20060102T150405Z-") + rand.Text()[:6]
}

// Owner names this process in leases, for people.
func Owner(run string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), run)
}

// CreateLocked makes what the store lacks, and locks it in the way given; errSkipLocked as lockStore.
func (p *Workspace) CreateLocked(lock func() (unlock func(), err error)) (s *session.Records, unlock func(), err error) {
	if err := p.CreateTables(false); err != nil {
		return nil, nil, err
	}
	if unlock, err = lock(); err != nil {
		return nil, nil, err
	}
	if s, err = p.CreateStore(); err != nil {
		unlock()
		return nil, nil, err
	}
	return s, unlock, nil
}

// CreateStore makes what a store lacks (folders, keyset, store keys) and opens it for writing.
func (p *Workspace) CreateStore() (*session.Records, error) {
	if err := p.CreateTables(false); err != nil {
		return nil, err
	}
	tables, err := p.OpenTables(false)
	if err != nil {
		return nil, err
	}
	key, err := p.openOrCreateKey(tables)
	if err != nil {
		tables.Close()
		return nil, err
	}
	s := &session.Opened{Store: tables, KEK: key}
	ring, err := row.OpenKeyring(p.Ctx, s.Store.Catalog, s.KEK)
	fresh := errors.Is(err, row.ErrKeyless)
	if fresh {
		ring, err = row.CreateKeyring(p.Ctx, s.Store.Catalog, s.KEK)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("create store keys: %w", err)
	}
	r := &session.Records{Opened: s, Catalog: catalog.New(s.Store.Catalog, ring), Ring: ring}
	if fresh {
		if err := r.NoteEvent(p.Ctx, "init", p.StoreURL()); err != nil {
			s.Close()
			return nil, err
		}
	}
	return r, nil
}

// CreateTables makes the missing parts of the place for rows and catalog. A key service is asked first
// whether it would wrap the keys of a new store: after a refusal nothing is left behind. newBlocks: a place for rows is
// made for a catalog that lost its own.
func (p *Workspace) CreateTables(newBlocks bool) error {
	if place := p.KeyPlace(); place.Keyset == "" {
		s, err := all.Open(p.Ctx, p.StoreURL(), p.StoreOptions(true))
		if errors.Is(err, sinks.ErrMissing) {
			err = place.Try(p.Ctx)
		} else if err == nil {
			err = s.Close()
		} else if newBlocks && errors.Is(err, sinks.ErrLost) {
			err = nil // its keys are there
		}
		if err != nil {
			return session.Unfit(fmt.Errorf("create store %s: %w", p.StoreURL(), err))
		}
	}
	o := p.StoreOptions(false)
	o.NewBlocks = newBlocks
	if err := stores.Create(p.Ctx, p.StoreURL(), o); err != nil {
		return session.Unfit(fmt.Errorf("create store %s: %w", p.StoreURL(), err))
	}
	return nil
}

// openOrCreateKey gets the store's key-encryption key ready for use, a new keyset if the store has none.
func (p *Workspace) openOrCreateKey(s *sinks.Store) (sinks.KEK, error) {
	place := p.KeyPlace()
	if _, err := os.Stat(place.Keyset); place.Keyset != "" && errors.Is(err, fs.ErrNotExist) {
		if err := p.createKeyset(place, s); err != nil {
			return nil, err
		}
	}
	return place.Open(p.Ctx)
}

// createKeyset makes a keyset, but not for a store that has keys already: a
// new keyset could not open them, and would look like the right one.
func (p *Workspace) createKeyset(place session.KeyPlace, s *sinks.Store) error {
	path := place.Keyset
	if _, err := row.OpenKeyring(p.Ctx, s.Catalog, kek.Ephemeral()); !errors.Is(err, row.ErrKeyless) {
		return fmt.Errorf("keyset %s is missing, and store %s was sealed with it: put it back", path, p.StoreURL())
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create keyset: %w", err)
	}
	if err := place.Create(p.Ctx); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	p.Log.Info("created", "keyset", path)
	return nil
}

// OneArtifact finds the artifact of a name, in any state.
func (p *Workspace) OneArtifact(s *session.Records, name, app string) (symbol.ID, error) {
	r := lookup.New(s.Store, s.KEK, lookup.Options{}).Resolve(p.Ctx, name, lookup.Narrow{App: app})
	switch {
	case r.Record != nil:
		return r.Record.ID, nil
	case len(r.Candidates) > 1:
		var all []string
		for _, id := range r.Candidates {
			all = append(all, id.String())
		}
		return symbol.ID{}, exit.Usage("%s is the name of several artifacts: %s", name, strings.Join(all, " "))
	case len(r.Candidates) == 1:
		return r.Candidates[0], nil
	}
	if id, err := symbol.ParseID(name); err == nil {
		if rec, err := s.Artifacts.Get(p.Ctx, id); err == nil && rec != nil && rec.State == catalog.Forgotten {
			return id, nil
		}
	}
	return symbol.ID{}, fmt.Errorf("%s: %s: %s", name, r.Status, r.Err)
}

// Pipeline is what the configuration says of every job that opens objects.
func (p *Workspace) Pipeline() ingest.Options {
	l := p.Config.Limits
	return ingest.Options{Formats: p.Formats, Workers: l.Workers, MemoryBytes: int64(l.Memory), DiskBytes: int64(l.Disk),
		ObjectTime: l.Time, MinQuality: p.Config.MinQuality, NoUnwind: !p.Config.Ingest.Unwind, Limits: formats.Limits{ObjectBytes: int64(l.Object), NoSourceNames: p.Config.ScriptNames == settings.NamesByScope}}
}

// Resolve gives the artifacts that names lead to, one each.
func (p *Workspace) Resolve(s *session.Records, names []string) ([]symbol.ID, error) {
	client := lookup.New(s.Store, s.KEK, lookup.Options{})
	var ids []symbol.ID
	for _, name := range names {
		r := client.Resolve(p.Ctx, name, lookup.Narrow{})
		switch {
		case r.Record != nil:
			ids = append(ids, r.Record.ID)
		case len(r.Candidates) > 0:
			return nil, exit.Usage("%s names %d artifacts: name one by its id (symlake artifacts %s)", name, len(r.Candidates), name)
		default:
			return nil, fmt.Errorf("%s: %s: %s", name, r.Status, symbol.Answer{Status: r.Status, Err: r.Err}.Reason())
		}
	}
	return ids, nil
}

// Workspace is the session of a command that writes: the store, its lake and its keys, the sources that it reads,
// and the reports that it owes.
type Workspace struct {
	*session.Session
}

// New returns the workspace of a session.
func New(p *session.Session) *Workspace { return &Workspace{p} }

// ParseShard reads I/N; "" is all.
func ParseShard(s string) (shard, shards int, err error) {
	if s == "" {
		return 0, 0, nil
	}
	i, n, ok := strings.Cut(s, "/")
	shard, err1 := strconv.Atoi(i)
	shards, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || shard < 0 || shard >= shards {
		return 0, 0, exit.Usage("--shard %q: want I/N with I from 0", s)
	}
	return shard, shards, nil
}

// Contents counts the published artifacts of a store and the bytes of their rows, for a bar. Without a bar it counts
// nothing.
func (p *Workspace) Contents(s *session.Records, w *term.Progress) (artifacts, bytes int64, err error) {
	if !w.HasBar() {
		return 0, 0, nil
	}
	err = s.Artifacts.Each(p.Ctx, func(r *catalog.Record) error {
		if r.Published != nil {
			artifacts++
			bytes += int64(r.Published.Bytes)
		}
		return nil
	})
	return artifacts, bytes, err
}
