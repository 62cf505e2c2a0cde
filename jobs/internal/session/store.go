package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/catalog/audit"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/open"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/stores"
)

// StoreURL is where rows live: flag or variable, then configuration, then the default.
func (p *Session) StoreURL() string {
	switch {
	case p.Flags.Store != "":
		return p.Flags.Store
	case p.Config.Store != "":
		return p.Config.Store
	}
	return "file:" + settings.DefaultData
}

// StoreDir is the folder of a file store; "" for any other.
func (p *Session) StoreDir() string {
	url := p.StoreURL()
	if dir, ok := strings.CutPrefix(url, "file:"); ok {
		return strings.TrimPrefix(dir, "//")
	}
	if strings.Contains(url, ":") {
		return ""
	}
	return url
}

// StoreOptions say how the store is opened.
func (p *Session) StoreOptions(readOnly bool) stores.Options {
	o := stores.Options{ReadOnly: readOnly, Scratch: p.Scratch(), HadoopConf: p.Config.HBase.HadoopConf,
		Security: p.Config.HBase.Credentials(), Notice: p.notice}
	o.Puts = p.Config.HBase.LoadMode == settings.LoadPuts
	if p.Flags.LoadMode != "" {
		o.Puts = p.Flags.LoadMode == settings.LoadPuts
	}
	return o
}

// Unfit makes an error that trying again does not cure one of the configuration.
func Unfit(err error) error {
	if errors.Is(err, sinks.ErrUnfit) || errors.Is(err, bucket.ErrUsage) {
		return &exit.Error{Code: exit.WrongUsage, Err: err}
	}
	return err
}

// Opened is a store with its key-encryption key.
type Opened struct {
	*sinks.Store
	KEK sinks.KEK
}

// OpenStore opens an existing store. Only init and ingest create anything.
func (p *Session) OpenStore(readOnly bool) (*Opened, error) {
	if IsRemote(p.StoreURL()) {
		return nil, exit.Usage("store %s is a symlake serve: lookup, symbolicate and artifacts ask it, nothing else does", p.StoreURL())
	}
	s, err := p.OpenTables(readOnly)
	if err != nil {
		return nil, err
	}
	k, err := p.KeyPlace().Open(p.Ctx)
	if err != nil {
		s.Close()
		return nil, err
	}
	return &Opened{s, k}, nil
}

// OpenTables opens the place of rows and catalog, which must exist.
func (p *Session) OpenTables(readOnly bool) (*sinks.Store, error) {
	s, err := p.Stores(p.Ctx, p.StoreURL(), p.StoreOptions(readOnly))
	if errors.Is(err, sinks.ErrMissing) {
		return nil, &missingStore{p.StoreURL(), p.Flags.Store == "" && p.Config.Store == "", err}
	}
	if err != nil {
		return nil, Unfit(fmt.Errorf("open store %s: %w", p.StoreURL(), err))
	}
	for _, note := range s.Notes {
		p.Log.Warn("store", "note", note)
	}
	return s, nil
}

// missingStore says that there is no store at a URL.
type missingStore struct {
	url        string
	unnamed    bool // nothing names the store: the URL is the default
	underlying error
}

func (m *missingStore) Error() string {
	text := fmt.Sprintf("there is no store at %s: symlake init or symlake ingest makes it", m.url)
	if m.unnamed {
		text += "; --store, SYMLAKE_STORE or symlake.yaml names another"
	}
	return text
}

func (m *missingStore) Unwrap() error { return m.underlying }

// Records is a store with its keys open: its typed catalog.
type Records struct {
	*Opened
	*catalog.Catalog
	Ring *row.Keyring
}

// OpenRecords opens an existing store and its keys.
func (p *Session) OpenRecords(readOnly bool) (*Records, error) {
	s, err := p.OpenStore(readOnly)
	if err != nil {
		return nil, err
	}
	ring, err := row.OpenKeyring(p.Ctx, s.Store.Catalog, s.KEK)
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("open store keys: %w", err)
	}
	return &Records{s, catalog.New(s.Store.Catalog, ring), ring}, nil
}

// NoteEvent notes an action in the audit, with the user of this process.
func (r *Records) NoteEvent(ctx context.Context, what, detail string) error {
	who := "unknown"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	err := r.Audit.Add(ctx, audit.Event{At: time.Now().UTC(), Who: who, What: what, Detail: detail})
	if err != nil {
		return fmt.Errorf("note %s in the audit: %w", what, err)
	}
	return nil
}

// redisURL is where the shared cache is; "": there is none.
func (p *Session) redisURL() string {
	if p.Flags.Redis != "" {
		return p.Flags.Redis
	}
	return p.Config.Redis.URL
}

// OpenClient opens a store to look things up in; close gives it back.
func (p *Session) OpenClient(o lookup.Options) (c *answer.Client, close func() error, err error) {
	s, err := p.OpenStore(true)
	if err != nil {
		return nil, nil, err
	}
	if p.redisURL() == "" {
		return answer.New(lookup.New(s.Store, s.KEK, o)), s.Close, nil
	}
	shared, err := open.Redis(p.redisURL(), open.RedisOptions{TTL: p.Config.Redis.TTL, Notice: p.notice})
	if err != nil {
		return nil, nil, errors.Join(exit.Usage("%w", err), s.Close())
	}
	o.Shared = shared
	return answer.New(lookup.New(s.Store, s.KEK, o)), func() error { shared.Close(); return s.Close() }, nil
}

// Scratch is where sealed scratch files go.
func (p *Session) Scratch() string {
	switch {
	case p.Config.Scratch != "":
		return p.Config.Scratch
	case p.StoreDir() != "":
		return filepath.Join(p.StoreDir(), "scratch")
	}
	return os.TempDir()
}
