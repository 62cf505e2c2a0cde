package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/stores"
)

// EmptyStore returns a new store in memory, under a key of its own.
func (p *Workspace) EmptyStore() (*session.Records, error) {
	store, err := stores.Open(p.Ctx, "mem:", stores.Options{})
	if err != nil {
		return nil, err
	}
	key := kek.Ephemeral()
	ring, err := row.CreateKeyring(p.Ctx, store.Catalog, key)
	if err != nil {
		return nil, err
	}
	return &session.Records{Opened: &session.Opened{Store: store, KEK: key}, Catalog: catalog.New(store.Catalog, ring), Ring: ring}, nil
}

// ExplodeFiles explodes files into a store in memory and looks things up there.
func ExplodeFiles(s *session.Session, paths []string, look lookup.Options) (*answer.Client, func() error, error) {
	p := New(s)
	empty, err := p.EmptyStore()
	if err != nil {
		return nil, nil, err
	}
	store, key, ring := empty.Store, empty.KEK, empty.Ring
	var sources []discover.Source
	for _, path := range paths {
		if path == "-" {
			file, remove, err := p.Spool()
			if err != nil {
				return nil, nil, err
			}
			defer remove() // the store in memory has its symbols then
			path = file
		}
		src, err := p.OpenSource(settings.SourceConfig{URL: path, SourcesContent: true})
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, src)
	}
	o := p.Pipeline()
	o.Store, o.Keyring, o.Run, o.Owner = store, ring, "memory", "memory"
	watch := p.WatchBar("read symbols")
	o.Progress = func(e ingest.Event) {
		watch.At(term.Step{Done: int64(e.Done), Total: int64(e.Total), Unit: "object", Bytes: e.Bytes, Text: e.URL}, "")
	}
	report, err := ingest.Run(p.Ctx, sources, o)
	watch.Stop()
	if err != nil {
		return nil, nil, fmt.Errorf("read symbols: %w", err)
	}
	for _, r := range report.Rejected {
		p.Log.Warn("symbols rejected", "url", r.URL, "error", r.Error)
	}
	return answer.New(lookup.New(store, key, look)), store.Close, nil
}

// Spool copies standard input into a file that only this user may read, for parsers that read at any place. remove
// deletes it.
func (p *Workspace) Spool() (path string, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "symlake-")
	if err != nil {
		return "", nil, fmt.Errorf("keep standard input in a file: %w", err)
	}
	remove = func() error { return os.RemoveAll(dir) }
	path = filepath.Join(dir, "standard-input")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = io.Copy(f, p.In)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("keep standard input in a file: %w", err), remove())
	}
	return path, remove, nil
}
