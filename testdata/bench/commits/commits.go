// Package commits measures the log of a lake: ingests of one object each, and commits to a bucket in memory.
package commits

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket/buckettest"
	"github.com/symlake/symlake/sinks/lake"
	"github.com/symlake/symlake/sinks/lake/journal"
	"github.com/symlake/symlake/testdata/bench/measure"
)

const (
	ingests = 1000    // of one object each
	commits = 100_000 // to a bucket in memory
	sample  = 500     // of these commits are whole, at either end
	apart   = 1024    // entries between checkpoints in the middle: as many as one reads, to save time
)

// Bench measures one binary.
type Bench struct {
	Context context.Context
	Symlake string // the binary
	Temp    string // folder
}

// Measure prints the tables.
func (b *Bench) Measure() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%d ingests of one object\tlog KB\tof these checkpoints\tmetadata of tables KB\tcpu ms, first 50\tlast 50\tlast / first\t\n", ingests)
	for _, profile := range []string{"off", sinks.LakePlain, sinks.LakeSealed} {
		if err := b.ingest(w, profile); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Println()
	w = tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "a commit of a new process\tentries before\tcpu ms\trequests\tcold read, requests\tMB\tcpu ms\t")
	for _, profile := range []string{sinks.LakePlain, sinks.LakeSealed} {
		if err := b.commit(w, profile); err != nil {
			return err
		}
	}
	return w.Flush()
}

// ingest ingests objects that differ in their build-id alone, one a run.
func (b *Bench) ingest(w io.Writer, profile string) error {
	dir := filepath.Join(b.Temp, "log-"+profile)
	object := filepath.Join(dir, "object.so")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	text, err := os.ReadFile("testdata/elf/libgame-arm64-dw5.so")
	if err != nil {
		return err
	}
	id := []byte{0x56, 0x4b, 0xb6, 0xc8, 0xbe, 0x48, 0xee, 0xa9}
	at := bytes.Index(text, id)
	if at < 0 {
		return fmt.Errorf("libgame-arm64-dw5.so has another build-id")
	}
	args := []string{"--store", "file:" + filepath.Join(dir, "store"), "--lake", filepath.Join(dir, "lake"), "--lake-profile", profile}
	if profile == "off" {
		args = []string{"--store", "file:" + filepath.Join(dir, "store"), "--lake", "off"}
	}
	var cpu []float64
	for n := range ingests {
		binary.BigEndian.PutUint64(text[at:], uint64(n))
		if err := os.WriteFile(object, text, 0o644); err != nil {
			return err
		}
		u, err := measure.Run(nil, nil, b.Symlake, append(args, "ingest", object)...)
		if err != nil {
			return err
		}
		cpu = append(cpu, 1e3*measure.CPU(u))
	}
	first, last := median(cpu[1:51]), median(cpu[ingests-50:])
	var all, checkpoints, tables int64
	err = filepath.WalkDir(filepath.Join(dir, "lake"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		key, err := filepath.Rel(filepath.Join(dir, "lake"), path)
		if err != nil {
			return err
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		switch key := filepath.ToSlash(key); {
		case strings.HasPrefix(key, "iceberg/"):
			tables += i.Size()
		case strings.HasPrefix(key, journal.EntryDir):
			all += i.Size()
		case strings.HasPrefix(key, "_"):
			all += i.Size()
			checkpoints += i.Size()
		}
		return nil
	})
	if err != nil && profile != "off" {
		return err
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.1f\t%.1f\t%.2f\t\n", profile, all/1000, checkpoints/1000, tables/1000, first, last, last/first)
	return nil
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}

// light drops data files, which are not read here.
type light struct{ *buckettest.Memory }

// Create implements bucket.Bucket.
func (l light) Create(ctx context.Context, key, etag string, r io.Reader) error {
	if strings.HasPrefix(key, "_") {
		return l.Memory.Create(ctx, key, etag, r)
	}
	_, _, err := l.Stat(ctx, "none") // a request all the same
	if _, cerr := io.Copy(io.Discard, r); cerr != nil {
		return cerr
	}
	if err != nil {
		return nil
	}
	return fmt.Errorf("%s: none is there", key)
}

// commit commits to a bucket in memory, each time as a new process that knows nothing of the lake. Whole batches
// are committed at either end, and entries of the same shape in between.
func (b *Bench) commit(w io.Writer, profile string) error {
	memory := light{buckettest.NewMemory()}
	keys := sinks.LakeKeys{Names: []byte("names"), Newest: 1, Master: func(context.Context, uint32) ([]byte, error) { return bytes.Repeat([]byte{1}, 32), nil }}
	take := func(from int) error {
		before, _, _ := memory.Counts()
		start := measure.Spent()
		for n := from; n < from+sample; n++ {
			l := lake.Open(lake.Options{Bucket: memory, Profile: profile, Keys: keys, Scratch: b.Temp})
			if err := commitOne(b.Context, l, n); err != nil {
				return err
			}
		}
		took := measure.Spent() - start
		after, read, _ := memory.Counts()
		start = measure.Spent()
		if _, err := lake.Open(lake.Options{Bucket: memory, Profile: profile, Keys: keys}).State(b.Context, 0); err != nil {
			return err
		}
		cold := measure.Spent() - start
		requests, readNow, _ := memory.Counts()
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%d\t%.2f\t%.0f\t\n", profile, from, 1e3*took.Seconds()/sample, float64(after-before)/sample, requests-after, float64(readNow-read)/1e6, 1e3*cold.Seconds())
		return nil
	}
	if err := take(0); err != nil {
		return err
	}
	log := &journal.Log{Bucket: memory, Keys: keys, Create: func(ctx context.Context, key string, r io.Reader) error { return memory.Create(ctx, key, "", r) }}
	tail, err := log.Tail(b.Context)
	if err != nil {
		return err
	}
	for n := sample; n < commits-sample; n++ {
		e := &journal.Entry{Made: time.Now().UTC(), Profile: profile}
		a, load := artifact(n)
		live := journal.Named{Artifact: a.ID}
		live.Load = load
		for i, at := range []*journal.Span{&live.Rows, &live.Facts, &live.Names} {
			table := []string{"ranges", "artifacts", "names"}[i]
			path := fmt.Sprintf("%s/kind=elf/day=2026-01-02/%x.parquet", table, symbol.NewID(symbol.ELF, fmt.Sprint(table, n)))
			e.Files = append(e.Files, journal.File{Table: table, Path: path, Rows: 300, Loads: 1, Bytes: 8192, Key: 1, Bound: true})
			*at = journal.Span{File: path, Rows: 300}
		}
		e.Live = []journal.Named{live}
		r, err := log.Append(b.Context, tail, e)
		if err != nil {
			return err
		}
		if tail = tail.To(r); n%apart == 0 || n == commits-sample-1 {
			if tail, err = log.Checkpoint(b.Context, tail, nil, false); err != nil {
				return err
			}
		}
	}
	return take(commits - sample)
}

func artifact(n int) (symbol.Artifact, sinks.Load) {
	a := symbol.Artifact{Kind: symbol.ELF, Canonical: fmt.Sprint("artifact ", n), Names: []symbol.Name{{Kind: symbol.NameApp, Text: "shop@1"}}}
	a.ID = symbol.NewID(a.Kind, a.Canonical)
	var load sinks.Load
	binary.BigEndian.PutUint64(load[:], uint64(n))
	return a, load
}

// commitOne writes and names a load of a few ranges.
func commitOne(ctx context.Context, l *lake.Lake, n int) error {
	a, load := artifact(n)
	r := &symbol.Run{Rank: symbol.RankDWARF, Strings: []string{"", "main", "source/a.c"}, Scopes: []symbol.Scope{{Parent: -1, Function: 1}}}
	for i := range uint64(300) {
		r.Ranges = append(r.Ranges, symbol.Range{Start: i * 16, End: i*16 + 16, At: symbol.Site{File: 2, Line: uint32(i)}})
	}
	batch, err := l.Begin(ctx)
	if err != nil {
		return err
	}
	defer batch.Abort()
	if err := batch.Load(&a, load); err != nil {
		return err
	}
	if err := batch.Write(r); err != nil {
		return err
	}
	_, err = batch.Commit(ctx, []*sinks.LakeLoad{{Artifact: a, Load: load, At: time.Unix(1, 0).UTC(), Fresh: true}})
	return err
}
