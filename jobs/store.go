package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/all"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
)

// storeURL is where rows live: flag or variable, then configuration, then the default.
func (p *process) storeURL() string {
	switch {
	case p.flags.Store != "":
		return p.flags.Store
	case p.config.Store != "":
		return p.config.Store
	}
	return "file:" + defaultData
}

// storeDir is the folder of a file store; "" for any other.
func (p *process) storeDir() string {
	url := p.storeURL()
	if dir, ok := strings.CutPrefix(url, "file:"); ok {
		return strings.TrimPrefix(dir, "//")
	}
	if strings.Contains(url, ":") {
		return ""
	}
	return url
}

// storeOptions say how the store is opened.
func (p *process) storeOptions(readOnly bool) all.Options {
	o := all.Options{ReadOnly: readOnly, Scratch: p.scratch(), HadoopConf: p.config.HBase.HadoopConf,
		Notice: p.notice}
	o.Puts = p.config.HBase.LoadMode == loadPuts
	if p.flags.LoadMode != "" {
		o.Puts = p.flags.LoadMode == loadPuts
	}
	return o
}

// unfit makes an error that trying again does not cure one of the configuration.
func unfit(err error) error {
	if errors.Is(err, sinks.ErrUnfit) || errors.Is(err, bucket.ErrUsage) {
		return &exitError{Code: exitUsage, Err: err}
	}
	return err
}

// opened is a store with its key-encryption key.
type opened struct {
	*sinks.Store
	kek sinks.KEK
}

// openStore opens an existing store. Only init and ingest create anything.
func (p *process) openStore(readOnly bool) (*opened, error) {
	if isRemote(p.storeURL()) {
		return nil, usage("store %s is a symlake serve: lookup, symbolicate and artifacts ask it, nothing else does", p.storeURL())
	}
	s, err := p.openTables(readOnly)
	if err != nil {
		return nil, err
	}
	k, err := p.keyPlace().open(p.ctx)
	if err != nil {
		s.Close()
		return nil, err
	}
	return &opened{s, k}, nil
}

// openTables opens the place of rows and catalog, which must exist.
func (p *process) openTables(readOnly bool) (*sinks.Store, error) {
	s, err := all.Open(p.ctx, p.storeURL(), p.storeOptions(readOnly))
	if errors.Is(err, sinks.ErrMissing) {
		return nil, fmt.Errorf("store %s: %w: symlake init or symlake ingest makes it", p.storeURL(), err)
	}
	if err != nil {
		return nil, unfit(fmt.Errorf("open store %s: %w", p.storeURL(), err))
	}
	for _, note := range s.Notes {
		p.log.Warn("store", "note", note)
	}
	return s, nil
}

// records is a store with its keys open: its typed catalog.
type records struct {
	*opened
	*catalog.Catalog
	ring *row.Keyring
}

// openRecords opens an existing store and its keys.
func (p *process) openRecords(readOnly bool) (*records, error) {
	s, err := p.openStore(readOnly)
	if err != nil {
		return nil, err
	}
	ring, err := row.OpenKeyring(p.ctx, s.Store.Catalog, s.kek)
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("open store keys: %w", err)
	}
	return &records{s, catalog.New(s.Store.Catalog, ring), ring}, nil
}

// audit notes who did what to the store.
func (r *records) audit(ctx context.Context, what, detail string) error {
	who := "unknown"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	err := r.Audit(ctx, row.Event{At: time.Now().UTC(), Who: who, What: what, Detail: detail})
	if err != nil {
		return fmt.Errorf("note %s in the audit: %w", what, err)
	}
	return nil
}

// redisURL is where the shared cache is; "": there is none.
func (p *process) redisURL() string {
	if p.flags.Redis != "" {
		return p.flags.Redis
	}
	return p.config.Redis.URL
}

// openClient opens a store to look things up in; close gives it back.
func (p *process) openClient(o lookup.Options) (c *lookup.Client, close func() error, err error) {
	s, err := p.openStore(true)
	if err != nil {
		return nil, nil, err
	}
	if p.redisURL() == "" {
		return lookup.New(s.Store, s.kek, o), s.Close, nil
	}
	shared, closeShared, err := all.OpenRedis(p.redisURL(), all.RedisOptions{TTL: p.config.Redis.TTL, Notice: p.notice})
	if err != nil {
		return nil, nil, errors.Join(usage("%w", err), s.Close())
	}
	o.Shared = shared
	return lookup.New(s.Store, s.kek, o), func() error { closeShared(); return s.Close() }, nil
}

// scratch is where sealed scratch files go.
func (p *process) scratch() string {
	switch {
	case p.config.Scratch != "":
		return p.config.Scratch
	case p.storeDir() != "":
		return filepath.Join(p.storeDir(), "scratch")
	}
	return os.TempDir()
}
