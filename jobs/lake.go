package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/all"
	"github.com/symlake/symlake/sinks/bucket"
	bucketall "github.com/symlake/symlake/sinks/bucket/all"
)

// lakeURL is where the tables are: flag or variable, then configuration, then beside a file
// store; off: nowhere.
func (p *workspace) lakeURL() string {
	switch {
	case p.flags.Lake != "":
		return string(p.flags.Lake)
	case p.config.Lake.URL != "":
		return p.config.Lake.URL
	case p.storeDir() != "":
		return filepath.Join(p.storeDir(), "lake")
	}
	return lakeOff
}

func (p *workspace) lakeProfile() string {
	switch {
	case p.flags.LakeProfile != "":
		return p.flags.LakeProfile
	case p.config.Lake.Profile != "":
		return p.config.Lake.Profile
	}
	return sinks.LakeSealed
}

// lakeText is the lake as init writes it into the configuration.
func (p *workspace) lakeText() string {
	url := p.lakeURL()
	if url == lakeOff {
		return lakeOff
	}
	return fmt.Sprintf("{url: %s, profile: %s}", url, p.lakeProfile())
}

// errNoLake: the configuration has none.
var errNoLake = errors.New("there is no lake")

// createLake opens the lake of a store to write it, and makes its folder; nil: it is off.
func (p *workspace) createLake(s *records) (sinks.Lake, error) {
	l, err := p.openLake(s, true)
	if errors.Is(err, errNoLake) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// What no object is to blame for shows before one is opened.
	b, err := l.Begin(p.ctx)
	switch {
	case errors.Is(err, sinks.ErrLakeProfile):
		return nil, usage("lake %s: %w; symlake compact --lake-profile converts it", p.lakeURL(), err)
	case errors.Is(err, sinks.ErrLakeUnsafe):
		return nil, usage("lake %w; if only one process ever writes it, set lake.single_writer", err)
	case err != nil:
		return nil, err
	}
	b.Abort()
	return l, nil
}

// checkLake finds what is wrong with the settings of the lake. Nothing is opened or created.
func (p *workspace) checkLake() error {
	url, c := p.lakeURL(), p.config.Lake
	switch {
	case url == lakeOff:
		return nil
	case p.lakeProfile() != sinks.LakeSealed && p.lakeProfile() != sinks.LakePlain:
		return usage("lake.profile %q: want sealed or plain", p.lakeProfile())
	case c.DataKey != "" && c.DataKey != "file" && c.DataKey != "dataset":
		return usage("lake.data_key %q: want file or dataset", c.DataKey)
	case url == "s3://" || strings.HasPrefix(url, "s3:///"):
		return usage("lake %s: a bucket name is missing", url)
	case !strings.HasPrefix(url, "s3://"):
		if _, _, err := bucketall.Open(p.ctx, url, bucketall.Options{}); errors.Is(err, bucket.ErrUsage) {
			return usage("lake: %w", err)
		}
	}
	return nil
}

// openLake opens the lake of a store.
func (p *workspace) openLake(s *records, create bool) (sinks.Lake, error) {
	url, c := p.lakeURL(), p.config.Lake
	if url == lakeOff {
		return nil, errNoLake
	}
	if err := p.checkLake(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(p.scratch(), 0o700); err != nil {
		return nil, fmt.Errorf("create scratch folder: %w", err)
	}
	keys, err := s.ring.LakeKeys()
	if err != nil {
		return nil, err
	}
	l, err := all.OpenLake(p.ctx, url, all.LakeOptions{Profile: p.lakeProfile(), Keys: keys, OneKey: c.DataKey == "dataset",
		SingleWriter: c.SingleWriter, Scratch: p.scratch(), Create: create, Go: func(f func()) { go f() },
		Bucket: bucketall.Options{Endpoint: c.Endpoint, Region: c.Region, Profile: c.AWSProfile, PathStyle: c.PathStyle, Checksums: c.Checksums}})
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, fmt.Errorf("%w at %s: symlake ingest makes it", errNoLake, url)
	}
	if err != nil {
		return nil, fmt.Errorf("open lake %s: %w", url, err)
	}
	return l, nil
}

// lakeKeys are the keys of the lake, if the store is at hand.
func (p *workspace) lakeKeys() (sinks.LakeKeys, error) {
	s, err := p.openRecords(true)
	if err != nil {
		return sinks.LakeKeys{}, err
	}
	defer s.Close()
	keys, err := s.ring.LakeKeys()
	if err != nil {
		return keys, err
	}
	master, err := keys.Master(p.ctx, keys.Newest)
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
