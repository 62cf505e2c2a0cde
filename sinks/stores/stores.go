// Package stores opens a store by its URL. It has the one list of schemes, so a new store is one
// folder and one line here.
//
// A URL is file:PATH or a plain path, which is relative to the working folder; hbase:// or
// hbase+zk://, see sinks/hbase; or mem:, which is a new store in memory each time.
//
// A program that only reads links this package alone. Libraries that only a loader needs come in
// by Options.Remote, which sinks/all sets.
package stores

import (
	"context"
	"strings"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/hbase"
	"github.com/symlake/symlake/sinks/hbase/security"
	"github.com/symlake/symlake/sinks/mem"
)

// Options are for opening a store. Each kind takes its own from them.
type Options struct {
	// ReadOnly stores need no write permission anywhere, and create nothing.
	ReadOnly bool
	// Puts, Scratch and HadoopConf say how rows get into HBase: see hbase.WriteOptions.
	Puts                bool
	Scratch, HadoopConf string
	// Security says how a client proves its identity to HBase, and how it protects what it sends.
	Security security.Options
	// NewBlocks: Create makes an empty place for rows even though the catalog has loads, with lost rows.
	NewBlocks bool
	// Notice, unless nil, gets sentences for an operator, from any goroutine.
	Notice func(string)
	// Remote opens HBase's files on HDFS and S3. A program that only reads leaves it empty.
	Remote hbase.Remote
}

// scheme is one kind of store; its functions get what follows the colon.
type scheme struct {
	name   string
	open   func(ctx context.Context, rest string, o Options) (*sinks.Store, error)
	create func(ctx context.Context, rest string, o Options) error
	lock   func(rest string) (unlock func(), err error)
	join   func(rest, name string) (unlock func(), err error)
}

// schemes lists every kind; the first is for a URL without a scheme.
func schemes() []scheme {
	return []scheme{
		{"file", openFile, createFile, func(rest string) (func(), error) { return file.Lock(Path(rest)) },
			func(rest, name string) (func(), error) { return file.Join(Path(rest), name) }},
		{"hbase", openHBase(false), createHBase(false), unlocked, joined},
		{"hbase+zk", openHBase(true), createHBase(true), unlocked, joined},
		{"mem", openMemory, func(context.Context, string, Options) error { return nil }, unlocked, joined},
	}
}

// unlocked is for stores that many may write at once, or one process alone.
func unlocked(string) (unlock func(), err error) { return func() {}, nil }

func joined(_, _ string) (unlock func(), err error) { return func() {}, nil }

// Schemes returns the schemes of all kinds.
func Schemes() (names []string) {
	for _, s := range schemes() {
		names = append(names, s.name)
	}
	return names
}

// Check returns the error that Open has for a URL of a wrong form. It opens nothing.
func Check(url string) error {
	s, rest, err := split(url)
	if err == nil && strings.HasPrefix(s.name, "hbase") {
		err = hbase.Check(rest, s.name == "hbase+zk")
	}
	return err
}

// Open opens the store at url; sinks.ErrMissing when nothing is there.
func Open(ctx context.Context, url string, o Options) (*sinks.Store, error) {
	s, rest, err := split(url)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, rest, o)
}

// Create makes the store at url unless it is there. sinks.ErrLost where a part of it is gone, which it makes anew only
// with Options.NewBlocks; existing parts stay.
func Create(ctx context.Context, url string, o Options) error {
	s, rest, err := split(url)
	if err != nil {
		return err
	}
	return s.create(ctx, rest, o)
}

// ErrLocked says that another process holds the store's lock.
var ErrLocked = file.ErrLocked

// Lock locks the store at url for this process alone,
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
	name, rest := Split(url)
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
	return file.Open(Path(rest), file.Options{ReadOnly: o.ReadOnly})
}

func openHBase(zooKeeper bool) func(context.Context, string, Options) (*sinks.Store, error) {
	return func(ctx context.Context, rest string, o Options) (*sinks.Store, error) {
		return hbase.Open(ctx, rest, hbase.Options{ReadOnly: o.ReadOnly, ZooKeeper: zooKeeper, Security: o.Security,
			Write: hbase.WriteOptions{Puts: o.Puts, Scratch: o.Scratch, HadoopConf: o.HadoopConf, Remote: o.Remote, Notice: o.Notice}})
	}
}

func createHBase(zooKeeper bool) func(context.Context, string, Options) error {
	return func(ctx context.Context, rest string, o Options) error {
		return hbase.Create(ctx, rest, hbase.Options{ZooKeeper: zooKeeper, Security: o.Security, NewBlocks: o.NewBlocks, Write: hbase.WriteOptions{Notice: o.Notice}})
	}
}

func createFile(_ context.Context, rest string, o Options) error {
	err := file.Create(Path(rest))
	if err == nil && o.NewBlocks {
		err = file.CreateBlocks(Path(rest))
	}
	return err
}
