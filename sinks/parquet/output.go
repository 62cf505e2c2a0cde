package parquet

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
)

// output is a data file being written. It lies in scratch, without a name, until it
// is whole: what it is called depends on all that went in.
type output struct {
	l      *Lake
	folder string
	f      *os.File
	enc    encoder
	g      *rowGroup
	name   hash.Hash
	entry
}

// open begins a file of a table in a folder of the lake. salt tells apart what goes in alike and must not
// be one file. sorted: its rows ascend as the table says.
func (l *Lake) open(ctx context.Context, t *Table, folder, profile, salt string, sorted bool) (*output, error) {
	o := &output{l: l, folder: folder, g: newRowGroup(t), name: hmac.New(sha256.New, l.o.Keys.Names)}
	o.Table = t.Name
	f, err := os.CreateTemp(l.o.Scratch, "symlake-lake-")
	if err != nil {
		return nil, fmt.Errorf("make a file for table %s: %w", t.Name, err)
	}
	// Without a name nothing is left of it, however the process ends.
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	o.f = f
	w := &counted{w: f, n: &o.Bytes}
	if profile == Plain {
		o.enc = newPlain(w, t, sorted)
	} else {
		key, material, version, err := l.key(ctx)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		o.Key = version
		if o.enc, err = newSealed(w, t, key, material); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	o.hash([]byte(schemaVersion), []byte(profile), []byte(fmt.Sprint(o.Key, l.o.OneKey)), []byte(folder), []byte(salt))
	return o, nil
}

// counted counts what is written.
type counted struct {
	w io.Writer
	n *int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	*c.n += int64(n)
	return n, err
}

// hash adds inputs to the file's name.
func (o *output) hash(inputs ...[]byte) {
	var size [8]byte
	for _, b := range inputs {
		binary.BigEndian.PutUint64(size[:], uint64(len(b)))
		o.name.Write(size[:])
		o.name.Write(b)
	}
}

// load adds a load to the file's name.
func (o *output) load(id symbol.ID, l sinks.Load, revision []byte) {
	o.hash(id[:], l[:], revision)
	o.Loads++
}

// path is the file's key in the lake, as far as its inputs are known.
func (o *output) path() string {
	return o.folder + "/" + hex.EncodeToString(o.name.Sum(nil)[:16]) + ".parquet"
}

// flush writes the row group out.
func (o *output) flush() error {
	if o.g.rows == 0 {
		return nil
	}
	o.Rows += uint64(o.g.rows)
	err := o.enc.write(o.g)
	o.g.reset()
	if err != nil {
		return fmt.Errorf("write table %s: %w", o.Table, err)
	}
	return nil
}

// finish gives the file its place in the lake. Nothing is there without rows.
func (o *output) finish(ctx context.Context) error {
	defer o.drop()
	if err := o.flush(); err != nil {
		return err
	}
	if o.Rows == 0 {
		return nil
	}
	if err := o.enc.close(); err != nil {
		return fmt.Errorf("write table %s: %w", o.Table, err)
	}
	o.Path = o.path()
	err := o.l.create(ctx, o.Path, io.NewSectionReader(o.f, 0, o.Bytes))
	if errors.Is(err, bucket.ErrChanged) {
		// An earlier attempt put the same rows there, and died before it named them.
		there, _, serr := o.l.b.Stat(ctx, o.Path)
		if serr != nil {
			return serr
		}
		o.Bytes = there.Size
		return nil
	}
	if err != nil {
		return fmt.Errorf("put %s: %w", o.l.b.URL(o.Path), err)
	}
	return nil
}

// drop gives up the scratch file.
func (o *output) drop() {
	if o.f != nil {
		o.f.Close() // it has no name, and nobody wants its bytes
		o.f = nil
	}
}
