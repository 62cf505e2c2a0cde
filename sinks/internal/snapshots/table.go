package snapshots

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/opentable"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// ErrTable says that rows cannot be added to a table. Another attempt fails alike.
var ErrTable = errors.New("rows cannot be added to the table")

// ErrMoved says that another run brought the same rows to another snapshot meanwhile. Nothing was changed.
var ErrMoved = errors.New("another run has changed the table meanwhile: run it again")

// Formats of tables.
const (
	Iceberg = "iceberg"
	Delta   = "delta"
)

// Options of a commit.
type Options struct {
	Bucket bucket.Bucket // where the table is or will be
	Format string        // Iceberg or Delta
	// Source is the snapshot that is read, opened whole, and From the bucket that it lies in.
	Source *opentable.Table
	From   bucket.Bucket
	Added  *pqfile.Table // columns that the rows get
	// Digest tells what else the rows depend on: files of another digest are not this run's.
	Digest string
	Again  bool // write all files again
	Run    string
	Now    func() time.Time // nil: time.Now
}

// File is a data file to be written.
type File struct {
	opentable.File        // of the source
	To             string // key in the table's bucket
}

// Table is a table that is about to get rows. One goroutine uses it.
type Table struct {
	o      Options
	base   *opentable.Table // nil: there is none yet
	noted  *int64           // the snapshot of the source up to which base has rows; nil: it has none
	added  *pqfile.Table    // with ids, for Iceberg
	source string           // hash of the source's id
	files  []File
	gone   map[string]bool // keys of data files that leave the table
	done   bool            // base has the rows
}

// Open reads the table at a bucket, if there is one, and finds which files it lacks.
func Open(ctx context.Context, o Options) (*Table, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	t := &Table{o: o, source: hash(o.Source.ID), gone: map[string]bool{}}
	if err := t.open(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Bucket.URL(""), err)
	}
	return t, nil
}

func (t *Table) open(ctx context.Context) (err error) {
	switch {
	case t.o.Source.ID == "":
		return fmt.Errorf("%w: the input has no id: upgrade it to version 2 of its format", ErrTable)
	case t.o.Source.Format != t.o.Format:
		return fmt.Errorf("%w: the input is a table of %s: want one of %s, too", ErrTable, t.o.Source.Format, t.o.Format)
	}
	if err := t.load(ctx); err != nil {
		return err
	}
	t.added = copyOf(t.o.Added)
	if _, err := t.describe(); err != nil {
		return err
	}
	if err := t.compare(ctx); err != nil {
		return err
	}
	if t.done {
		return nil
	}
	if _, local := t.o.Bucket.(bucket.Drafter); !local {
		safe, err := bucket.Conditional(ctx, t.o.Bucket)
		if err == nil && !safe {
			err = fmt.Errorf("%w: the bucket ignores If-None-Match, so a commit could overwrite another writer's", ErrTable)
		}
		return err
	}
	return nil
}

// load reads the table as it is now.
func (t *Table) load(ctx context.Context) (err error) {
	t.base, err = opentable.OpenWhole(ctx, t.o.Bucket, opentable.Newest)
	switch {
	case err != nil || t.base == nil:
		t.noted = nil
		return err
	case t.base.Format != t.o.Format:
		return fmt.Errorf("%w: there is a table of %s already", ErrTable, t.base.Format)
	case t.base.ID == t.o.Source.ID:
		return fmt.Errorf("%w: it is the table of the input, or a copy of it", ErrTable)
	case t.o.Format == Delta:
		t.noted = t.notedDelta()
		return nil
	}
	t.noted, err = t.notedIceberg()
	return err
}

// describe adds the columns to the schema: the metadata of the table as the next snapshot has it. It gives columns their ids.
func (t *Table) describe() (any, error) {
	if t.o.Format == Delta {
		return t.describeDelta()
	}
	return t.describeIceberg()
}

// compare finds which files are to be written, and which ones leave the table.
func (t *Table) compare(ctx context.Context) error {
	live := map[string]string{} // keys in the table by their part that names a file of the source
	if t.base != nil {
		for i := range t.base.Files {
			name := path.Base(t.base.Files[i].Key)
			if rest, ok := strings.CutPrefix(name, t.prefix()); ok {
				file, _, _ := strings.Cut(rest, "-")
				live[file] = t.base.Files[i].Key
			}
		}
	}
	wanted := map[string]bool{}
	for i := range t.o.Source.Files {
		wanted[t.name(&t.o.Source.Files[i])] = true
	}
	before := map[string]bool{} // files that the table had the rows of
	switch {
	case t.noted == nil:
	case *t.noted == t.o.Source.Version:
		before = wanted
		t.done = !t.o.Again
	default:
		old, err := opentable.Open(ctx, t.o.From, *t.noted)
		if err != nil {
			return fmt.Errorf("%w: it has the rows up to snapshot %d of the input, which cannot be read any more, so nothing tells what is new. Write to a new folder: %w", ErrTable, *t.noted, err)
		}
		for i := range old.Files {
			before[t.name(&old.Files[i])] = true
		}
	}
	for file := range before {
		if wanted[file] && !t.o.Again {
			continue
		}
		key, ok := live[file]
		if !ok {
			return fmt.Errorf("%w: another writer has rewritten files of snapshot %d of the input, and the input gave some of these up. Write to a new folder", ErrTable, *t.noted)
		}
		t.gone[key] = true
	}
	digest := hash(t.o.Digest, t.signature())
	if t.o.Again {
		digest = hash(digest, t.o.Run, t.o.Now().String())
	}
	for i := range t.o.Source.Files {
		f := &t.o.Source.Files[i]
		if file := t.name(f); t.o.Again || !before[file] {
			t.files = append(t.files, File{*f, t.folder() + t.prefix() + file + "-" + digest[:8] + ".parquet"})
		}
	}
	return nil
}

// folder is where data files go.
func (t *Table) folder() string {
	if t.o.Format == Iceberg {
		return "data/"
	}
	return ""
}

// ownPrefix begins the names of data files of this package.
const ownPrefix = "symlake-"

// prefix begins the names of the data files of a source.
func (t *Table) prefix() string { return ownPrefix + t.source + "-" }

// name is the part of a data file's name that tells the file of the source.
func (t *Table) name(f *opentable.File) string { return hash(f.Key, f.Deleted()) }

// signature tells apart columns with other names or ids.
func (t *Table) signature() string {
	var b strings.Builder
	for _, c := range t.added.Columns {
		fmt.Fprintf(&b, "%s %d %d,", c.Name, c.ID, c.Element)
	}
	return b.String()
}

// Files returns the files that are to be written: each whole, and never over another object. If a file is there already, an earlier
// run wrote it, and it is as good.
func (t *Table) Files() []File { return t.files }

// Prefix begins the keys of all data files of the source.
func (t *Table) Prefix() string { return t.folder() + t.prefix() }

// Added returns the columns that rows get. In a file without ids, the added columns must not have any either.
func (t *Table) Added(ids bool) *pqfile.Table {
	if ids {
		return t.added
	}
	return t.o.Added
}

// maxTries bounds how often another writer may be faster.
const maxTries = 20

// Commit makes the files part of the table, and returns its snapshot or version.
func (t *Table) Commit(ctx context.Context) (int64, error) {
	if t.done {
		return t.base.Version, nil
	}
	files, err := t.measure(ctx)
	if err != nil {
		return 0, err
	}
	first := t.noted
	for range maxTries {
		version, err := t.commit(ctx, files)
		if !errors.Is(err, bucket.ErrChanged) {
			if err != nil {
				err = fmt.Errorf("%s: %w", t.o.Bucket.URL(""), err)
			}
			return version, err
		}
		if err := t.load(ctx); err != nil {
			return 0, err
		}
		switch {
		case t.base == nil:
			return 0, fmt.Errorf("%s: %w", t.o.Bucket.URL(""), ErrMoved)
		case t.noted != nil && *t.noted == t.o.Source.Version && !t.o.Again:
			return t.base.Version, nil // another run was faster with the same rows, or the store answered too late
		case (t.noted == nil) != (first == nil) || t.noted != nil && *t.noted != *first:
			return 0, fmt.Errorf("%s: %w", t.o.Bucket.URL(""), ErrMoved)
		}
	}
	return 0, fmt.Errorf("%s: other writers were faster %d times: run it again", t.o.Bucket.URL(""), maxTries)
}

func (t *Table) commit(ctx context.Context, files []measured) (int64, error) {
	if t.base != nil {
		there := map[string]bool{}
		for i := range t.base.Files {
			there[t.base.Files[i].Key] = true
		}
		for key := range t.gone {
			if !there[key] {
				return 0, fmt.Errorf("%w: another writer has rewritten %s meanwhile", ErrTable, key)
			}
		}
	}
	before := t.signature()
	described, err := t.describe()
	if err != nil {
		return 0, err
	}
	if t.signature() != before {
		return 0, fmt.Errorf("%w: another writer has given the ids of the added columns to others", ErrMoved)
	}
	if d, ok := described.(*deltaTable); ok {
		return t.commitDelta(ctx, d, files)
	}
	return t.commitIceberg(ctx, described.(*icebergTable), files)
}

// measured is a data file that was written.
type measured struct {
	File
	*pqfile.Measured
	size     int64
	modified time.Time
}

// measure reads the footers of the files.
func (t *Table) measure(ctx context.Context) ([]measured, error) {
	all := make([]measured, len(t.files))
	for i, f := range t.files {
		e, _, err := t.o.Bucket.Stat(ctx, f.To)
		if err != nil {
			return nil, fmt.Errorf("the data file %s: %w", t.o.Bucket.URL(f.To), err)
		}
		r, err := t.o.Bucket.Open(ctx, e)
		if err != nil {
			return nil, fmt.Errorf("the data file %s: %w", t.o.Bucket.URL(f.To), err)
		}
		m, err := pqfile.Measure(r, e.Size)
		if err := errors.Join(err, r.Close()); err != nil {
			return nil, fmt.Errorf("the data file %s: %w", t.o.Bucket.URL(f.To), err)
		}
		all[i] = measured{f, m, e.Size, e.Modified}
	}
	return all, nil
}

// hash shortens texts.
func hash(texts ...string) string {
	h := sha256.New()
	for _, s := range texts {
		fmt.Fprintf(h, "%d %s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// copyOf returns a table that may get ids.
func copyOf(t *pqfile.Table) *pqfile.Table {
	c := *t
	c.Columns = append([]pqfile.Column(nil), t.Columns...)
	for i := range c.Columns {
		c.Columns[i].Fields = append([]pqfile.Column(nil), c.Columns[i].Fields...)
		if len(c.Columns[i].Fields) == 0 {
			c.Columns[i].Fields = nil
		}
	}
	return &c
}
