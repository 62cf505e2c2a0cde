// Package all opens a store by its URL; it is the only code that names the
// adapters, so a new store is one folder and one line here.
//
// A URL is file:PATH or a plain path, relative ones to the working folder; hbase:// or
// hbase+zk://, see sinks/hbase; or mem:, a new store in memory each time.
package all

import (
	"context"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	bucketall "github.com/symlake/symlake/sinks/bucket/all"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/hbase"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/open"
)

// Options are for opening a store; each kind takes what concerns it.
type Options struct {
	// ReadOnly: no write permission is needed anywhere, and nothing is created.
	ReadOnly bool
	// Puts, Scratch and HadoopConf say how rows get into HBase: see hbase.WriteOptions.
	Puts                bool
	Scratch, HadoopConf string
	// NewBlocks: Create makes an empty place for rows even though the catalog has loads, whose rows are lost.
	NewBlocks bool
	// Notice hears what an operator may want to know, from any goroutine (nil: nobody).
	Notice func(string)
}

// scheme is one kind of store; its functions get what follows the colon.
type scheme struct {
	name   string
	open   func(ctx context.Context, rest string, o Options) (*sinks.Store, error)
	create func(ctx context.Context, rest string, o Options) error
	lock   func(rest string) (unlock func(), err error)
	join   func(rest, name string) (unlock func(), err error)
}

// schemes lists every kind; the first is that of a URL without a scheme.
func schemes() []scheme {
	return []scheme{
		{"file", openFile, createFile, func(rest string) (func(), error) { return file.Lock(open.Path(rest)) },
			func(rest, name string) (func(), error) { return file.Join(open.Path(rest), name) }},
		{"hbase", openHBase(false), createHBase(false), unlocked, joined},
		{"hbase+zk", openHBase(true), createHBase(true), unlocked, joined},
		{"mem", openMemory, func(context.Context, string, Options) error { return nil }, unlocked, joined},
	}
}

// unlocked is for stores that many may write at once, or nobody else.
func unlocked(string) (unlock func(), err error) { return func() {}, nil }

func joined(_, _ string) (unlock func(), err error) { return func() {}, nil }

// Open opens the store at url; sinks.ErrMissing when nothing is there.
func Open(ctx context.Context, url string, o Options) (*sinks.Store, error) {
	s, rest, err := split(url)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, rest, o)
}

// Create makes the store at url unless it is there. sinks.ErrLost where a part of it is gone, which it makes anew only
// with Options.NewBlocks; what is there stays.
func Create(ctx context.Context, url string, o Options) error {
	s, rest, err := split(url)
	if err != nil {
		return err
	}
	return s.create(ctx, rest, o)
}

// Exported is what ExportHBase wrote.
type Exported = hbase.Exported

// ExportHBase writes all of a store as HFiles below dir, for HBase's own tools: see
// hbase.Export. url is that of the store to be, if it is one of HBase; no server is asked.
func ExportHBase(ctx context.Context, from *sinks.Store, dir, url string) (*Exported, error) {
	rest, ok := strings.CutPrefix(url, "hbase:")
	if !ok {
		rest = "//localhost" // the default namespace and regions
	}
	return hbase.Export(ctx, from, dir, rest, time.Now())
}

// ErrLocked: another process holds the store's lock.
var ErrLocked = file.ErrLocked

// Lock makes this process the only one that works on the store at url,
// until unlock or its end; ErrLocked at once if another is. A store of many hosts has no such lock.
func Lock(url string) (unlock func(), err error) {
	s, rest, err := split(url)
	if err != nil {
		return nil, err
	}
	return s.lock(rest)
}

// OwnsFile reports whether an entry of the folder of a file store, by its name, is the store's.
func OwnsFile(name string) bool { return file.Owns(name) }

// Join makes this process one of several that ingest into the store at url, and the only one of that name ("": of
// none); as Lock.
func Join(url, name string) (unlock func(), err error) {
	s, rest, err := split(url)
	if err != nil {
		return nil, err
	}
	return s.join(rest, name)
}

// split finds the scheme of a URL.
func split(url string) (scheme, string, error) {
	list := schemes()
	name, rest := open.Split(url)
	if rest == "" && name != "mem" {
		return scheme{}, "", bucket.Usage("store %q names no place", url)
	}
	known := make([]string, len(list))
	for i, s := range list {
		if s.name == name {
			return s, rest, nil
		}
		known[i] = s.name
	}
	return scheme{}, "", bucket.Usage("store %q: unknown kind %q (known: %s)", url, name, strings.Join(known, ", "))
}

func openMemory(context.Context, string, Options) (*sinks.Store, error) { return mem.New(), nil }

func openFile(_ context.Context, rest string, o Options) (*sinks.Store, error) {
	return file.Open(open.Path(rest), file.Options{ReadOnly: o.ReadOnly})
}

func openHBase(zooKeeper bool) func(context.Context, string, Options) (*sinks.Store, error) {
	return func(ctx context.Context, rest string, o Options) (*sinks.Store, error) {
		return hbase.Open(ctx, rest, hbase.Options{ReadOnly: o.ReadOnly, ZooKeeper: zooKeeper,
			Write: hbase.WriteOptions{Puts: o.Puts, Scratch: o.Scratch, HadoopConf: o.HadoopConf, OpenS3: openS3, Notice: o.Notice}})
	}
}

func createHBase(zooKeeper bool) func(context.Context, string, Options) error {
	return func(ctx context.Context, rest string, o Options) error {
		return hbase.Create(ctx, rest, hbase.Options{ZooKeeper: zooKeeper, NewBlocks: o.NewBlocks, Write: hbase.WriteOptions{Notice: o.Notice}})
	}
}

func createFile(_ context.Context, rest string, o Options) error {
	err := file.Create(open.Path(rest))
	if err == nil && o.NewBlocks {
		err = file.CreateBlocks(open.Path(rest))
	}
	return err
}

// openS3 opens a bucket as the environment says, for HBase's files on S3.
func openS3(ctx context.Context, name string) (bucket.Bucket, error) {
	b, _, err := bucketall.Open(ctx, "s3://"+name, bucketall.Options{})
	return b, err
}
