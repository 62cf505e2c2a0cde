package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/all"
	"github.com/symlake/symlake/sinks/bucket"
	bucketall "github.com/symlake/symlake/sinks/bucket/all"
)

// LakeURL is where the tables are: flag or variable, then configuration, then beside a file
// store; off: nowhere.
func (p *Workspace) LakeURL() string {
	switch {
	case p.Flags.Lake != "":
		return string(p.Flags.Lake)
	case p.Config.Lake.URL != "":
		return p.Config.Lake.URL
	case p.StoreDir() != "":
		return filepath.Join(p.StoreDir(), "lake")
	}
	return settings.LakeOff
}

func (p *Workspace) lakeProfile() string {
	switch {
	case p.Flags.LakeProfile != "":
		return p.Flags.LakeProfile
	case p.Config.Lake.Profile != "":
		return p.Config.Lake.Profile
	}
	return sinks.LakeSealed
}

// LakeText is the lake as init writes it into the configuration. place writes a URL for that file.
func (p *Workspace) LakeText(place func(url string) string) string {
	url := p.LakeURL()
	if url == settings.LakeOff {
		return settings.LakeOff
	}
	return fmt.Sprintf("{url: %s, profile: %s}", place(url), p.lakeProfile())
}

// ErrNoLake says that the configuration has no lake.
var ErrNoLake = errors.New("there is no lake")

// CreateLake opens the lake of a store to write it, and makes its folder; nil: it is off. run is the id of the run that writes
// ("": none).
func (p *Workspace) CreateLake(s *session.Records, run string) (sinks.Lake, error) {
	l, err := p.openLake(s, true, run)
	if errors.Is(err, ErrNoLake) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// What no object is to blame for shows before one is opened.
	b, err := l.Begin(p.Ctx)
	switch {
	case errors.Is(err, sinks.ErrLakeProfile):
		return nil, exit.Usage("lake %s: %w; symlake compact --lake-profile converts it", p.LakeURL(), err)
	case errors.Is(err, sinks.ErrLakeUnsafe):
		return nil, exit.Usage("lake %w; if only one process ever writes it, set lake.single_writer", err)
	case err != nil:
		return nil, err
	}
	b.Abort()
	return l, nil
}

// CheckLake finds faults in the settings of the lake. It opens and creates nothing.
func (p *Workspace) CheckLake() error {
	url, c := p.LakeURL(), p.Config.Lake
	switch {
	case url == settings.LakeOff:
		return nil
	case p.lakeProfile() != sinks.LakeSealed && p.lakeProfile() != sinks.LakePlain:
		return exit.Usage("lake.profile %q: want sealed or plain", p.lakeProfile())
	case c.DataKey != "" && c.DataKey != "file" && c.DataKey != "dataset":
		return exit.Usage("lake.data_key %q: want file or dataset", c.DataKey)
	case p.checkCatalog() != nil:
		return p.checkCatalog()
	case url == "s3://" || strings.HasPrefix(url, "s3:///"):
		return exit.Usage("lake %s: a bucket name is missing", url)
	case !strings.HasPrefix(url, "s3://"):
		if _, _, err := bucketall.Open(p.Ctx, url, bucketall.Options{}); errors.Is(err, bucket.ErrUsage) {
			return exit.Usage("lake: %w", err)
		}
	}
	return nil
}

// OpenLake opens the lake of a store.
func (p *Workspace) OpenLake(s *session.Records, create bool) (sinks.Lake, error) {
	return p.openLake(s, create, "")
}

func (p *Workspace) openLake(s *session.Records, create bool, run string) (sinks.Lake, error) {
	url, c := p.LakeURL(), p.Config.Lake
	if url == settings.LakeOff {
		return nil, ErrNoLake
	}
	if err := p.CheckLake(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(p.Scratch(), 0o700); err != nil {
		return nil, fmt.Errorf("create scratch folder: %w", err)
	}
	keys, err := s.Ring.LakeKeys()
	if err != nil {
		return nil, err
	}
	tables, err := p.lakeCatalog()
	if err != nil {
		return nil, err
	}
	l, err := all.OpenLake(p.Ctx, url, all.LakeOptions{Profile: p.lakeProfile(), Keys: keys, OneKey: c.DataKey == "dataset",
		SingleWriter: c.SingleWriter, Scratch: p.Scratch(), Create: create, Go: func(f func()) { go f() }, Run: run, Heads: s.Lakes,
		Catalog: tables, NoTables: c.Catalog == settings.LakeOff,
		Bucket: bucketall.Options{Endpoint: c.Endpoint, Region: c.Region, Profile: c.AWSProfile, PathStyle: c.PathStyle, Checksums: c.Checksums}})
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, fmt.Errorf("%w at %s: symlake ingest makes it", ErrNoLake, url)
	}
	if err != nil {
		return nil, fmt.Errorf("open lake %s: %w", url, err)
	}
	return l, nil
}

// LakeKeys are the keys of the lake, if the store is at hand.
func (p *Workspace) LakeKeys() (sinks.LakeKeys, error) {
	s, err := p.OpenRecords(true)
	if err != nil {
		return sinks.LakeKeys{}, err
	}
	defer s.Close()
	keys, err := s.Ring.LakeKeys()
	if err != nil {
		return keys, err
	}
	master, err := keys.Master(p.Ctx, keys.Newest)
	if err != nil {
		return keys, err
	}
	inner, newest := keys.Master, keys.Newest
	keys.Master = func(ctx context.Context, version uint32) ([]byte, error) {
		if version == newest { // the store is closed by then
			return master, nil
		}
		return inner(ctx, version)
	}
	return keys, nil
}

// OpenToChange opens store and lake to change published loads.
func (p *Workspace) OpenToChange() (*session.Records, projection.Stores, func(), error) {
	var none projection.Stores
	s, err := p.OpenRecords(false)
	if err != nil {
		return nil, none, nil, err
	}
	lake, err := p.OpenLake(s, false)
	if err != nil && !errors.Is(err, ErrNoLake) {
		s.Close()
		return nil, none, nil, err
	}
	return s, projection.Stores{Store: s.Store, Keyring: s.Ring, Lake: lake}, func() { s.Close() }, nil
}
