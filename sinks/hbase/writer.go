package hbase

import (
	"context"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/hbase/security"
	"github.com/symlake/symlake/sinks/internal/hfile"
)

// WriteOptions say how rows get into the table. Each field documents its zero value.
type WriteOptions struct {
	// Puts sends rows as mutations, where HBase's file system is out of reach:
	// slower, dearer for the servers, the same rows in the end.
	Puts    bool
	Scratch string // folder for sealed rows before they are sent as Puts; "": the system's
	// User is the name for HDFS; "": the user of the URL, or else of the process. HadoopConf is a folder of
	// core-site.xml and hdfs-site.xml; "": HADOOP_CONF_DIR, if it is set.
	User, HadoopConf string
	// Remote opens HBase's files on HDFS and S3; the zero value refuses such a root.
	Remote Remote
	// Notice, unless nil, gets sentences for an operator, from any goroutine.
	Notice func(string)
	Now    func() time.Time // nil: time.Now

	security security.Options // of Options
}

// Remote opens the file systems of HBase that need a library of their own.
type Remote = bulk.Remote

// writer makes batches and keeps house: it knows the staging folders and the files of regions. Safe
// for concurrent use.
type writer struct {
	c     *client.Client
	rows  client.Table
	notes client.Table // where the notes of staging folders are
	// stamps gives the timestamps that the cells of loads have to carry.
	stamps func(ctx context.Context, prefixes [][]byte) ([]uint64, error)
	o      WriteOptions
	bloom  hfile.Bloom // of the table's files; set before the first batch

	mu      sync.Mutex
	regions []*client.Region     // as last read
	staging map[string]time.Time // folders of batches of this process: when they were last noted
	dropped map[string][]byte    // loads that were dropped since Tidy: their prefixes
}

func newWriter(c *client.Client, rows, notes client.Table, stamps func(context.Context, [][]byte) ([]uint64, error), o WriteOptions) *writer {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	return &writer{c: c, rows: rows, notes: notes, stamps: stamps, o: o,
		staging: make(map[string]time.Time), dropped: make(map[string][]byte)}
}

// rowFamily and rowColumn are where a row's value is.
const rowFamily = "b"

func rowColumn() client.Column { return client.Column{Family: rowFamily, Qualifier: "v"} }

func (w *writer) files(ctx context.Context, dir string) (bulk.FileSystem, error) {
	return bulk.OpenFileSystem(ctx, dir, bulk.FileOptions{User: w.o.User, HadoopConf: w.o.HadoopConf, Security: w.o.security,
		Remote: w.o.Remote, Notice: w.o.Notice})
}

// noteDropped has Tidy ask for a compaction where a load's rows were.
func (w *writer) noteDropped(prefix []byte) {
	w.mu.Lock()
	w.dropped[string(prefix)] = prefix
	w.mu.Unlock()
}
