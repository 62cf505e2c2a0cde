package all

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/symlake/symlake/sinks"
	bucketall "github.com/symlake/symlake/sinks/bucket/all"
	"github.com/symlake/symlake/sinks/lake"
	"github.com/symlake/symlake/sinks/lake/iceberg"
	"github.com/symlake/symlake/sinks/stores"
)

// LakeOptions says how a lake is opened.
type LakeOptions struct {
	Bucket       bucketall.Options
	Profile      string // sealed or plain
	Keys         sinks.LakeKeys
	OneKey       bool // one data key for all files of a master key
	SingleWriter bool
	Scratch      string
	Create       bool            // make the folder, if it is one
	Run          string          // id of the run that writes, for the log ("": none)
	Heads        sinks.LakeHeads // remembers the end of the log; nil: nothing does
	// Catalog has the Iceberg tables; the zero value is the folder of the lake. NoTables: there are none.
	Catalog  LakeCatalog
	NoTables bool
	// Go starts the encoder of a file beside its writer; nil: files are encoded in place.
	Go func(func())
}

// LakeCatalog says where the REST catalog of the Iceberg tables is.
type LakeCatalog = iceberg.Catalog

// OpenLake opens the lake at url: a folder or s3://bucket/prefix.
func OpenLake(ctx context.Context, url string, o LakeOptions) (sinks.Lake, error) {
	if dir, local := localFolder(url); local && o.Create {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
	}
	if strings.HasPrefix(url, "s3://") && !strings.HasSuffix(url, "/") {
		url += "/"
	}
	b, key, err := bucketall.Open(ctx, url, o.Bucket)
	if err != nil {
		return nil, err
	}
	if key != "" {
		return nil, fmt.Errorf("%s is a file, not a folder", url)
	}
	return lake.Open(lake.Options{Bucket: b, Profile: o.Profile, Keys: o.Keys, OneKey: o.OneKey, SingleWriter: o.SingleWriter, Scratch: o.Scratch, Go: o.Go, Run: o.Run, Heads: o.Heads,
		Catalog: o.Catalog, NoTables: o.NoTables}), nil
}

// localFolder is the path of a URL of this machine.
func localFolder(url string) (string, bool) {
	if p, ok := strings.CutPrefix(url, "file:"); ok {
		return stores.Path(p), true
	}
	return url, !strings.Contains(url, "://")
}

// LakeMasters gives the profile of a lake ("": there is none yet) and the master keys of a sealed one,
// by their ids.
func LakeMasters(ctx context.Context, l sinks.Lake) (profile string, keys map[string][]byte, err error) {
	p, ok := l.(*lake.Lake)
	if !ok {
		return "", nil, fmt.Errorf("a lake of kind %T has no keys", l)
	}
	if profile, err = p.Profile(ctx); err != nil || profile != sinks.LakeSealed {
		return profile, nil, err
	}
	keys, err = p.Masters(ctx)
	return profile, keys, err
}

// InspectLake prints the contents of a file of a lake: its table, rows and columns. known is false, and nothing is
// printed, if path is none.
func InspectLake(ctx context.Context, path string, w io.Writer, asJSON bool, keys func() (sinks.LakeKeys, error)) (known bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return false, err
	}
	known, i, err := lake.Inspect(ctx, f, st.Size(), keys)
	if !known || err != nil {
		return known, err
	}
	if asJSON {
		return true, json.NewEncoder(w).Encode(i)
	}
	_, err = fmt.Fprintf(w, "table       %s: %s\nprofile     %s\nrows        %d in %d row groups, %d bytes\n", i.Table, i.Doc, i.Profile, i.Rows, i.RowGroups, i.Bytes)
	for _, c := range i.Columns {
		_, perr := fmt.Fprintf(w, "column      %s\n", c)
		err = errors.Join(err, perr)
	}
	return true, err
}
