package simpleperf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strconv"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/profile"
)

// mostRecord bounds a record. The longest ones hold the names of a large library.
const mostRecord = 32 << 20

// records reads the records of a file, one after the other.
type records struct {
	in   *bufio.Reader
	from io.Closer
	at   int64  // of the record at hand in the file
	next int64  // behind it
	raw  []byte // the record with its size
	end  error  // why no record follows; nil: the file's own end mark stands at next-4
}

// The ends of records that are none of the file's own.
var (
	errCut  = errors.New("the profile ends within a record, and is read up to there")
	errLong = errors.New("a record is longer than 32 MiB, and nothing is read from there on")
)

// open opens a profile behind its header.
func open(in *profile.Input) (*records, error) {
	from, err := in.Open()
	if err != nil {
		return nil, err
	}
	r := &records{in: bufio.NewReaderSize(from, 256<<10), from: from, next: headerBytes, raw: make([]byte, headerBytes)}
	n, err := io.ReadFull(r.in, r.raw)
	r.raw, r.next = r.raw[:n], int64(n)
	if err != nil && isEnd(err) {
		err, r.end = nil, errCut
	}
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	return r, nil
}

// read reads the next record. ok is false at the end; then raw has the bytes that were read of it.
func (r *records) read() (body []byte, ok bool, err error) {
	r.at, r.raw = r.next, r.raw[:0]
	if r.end != nil {
		return nil, false, nil
	}
	if ok, err = r.take(4); !ok {
		return nil, false, err
	}
	size := int(binary.LittleEndian.Uint32(r.raw))
	switch {
	case size == 0:
		return nil, false, nil
	case size > mostRecord:
		r.end = errLong
		return nil, false, nil
	}
	if ok, err = r.take(size); !ok {
		return nil, false, err
	}
	return r.raw[4:], true, nil
}

// take appends n bytes to raw. It makes room for bytes that are there only.
func (r *records) take(n int) (ok bool, err error) {
	for n > 0 {
		from, some := len(r.raw), min(n, 1<<20)
		if cap(r.raw) < from+some {
			grown := make([]byte, from, max(from+some, 2*cap(r.raw)))
			copy(grown, r.raw)
			r.raw = grown
		}
		r.raw = r.raw[:from+some]
		got, err := io.ReadFull(r.in, r.raw[from:])
		r.raw, r.next = r.raw[:from+got], r.next+int64(got)
		if err != nil {
			if !isEnd(err) {
				return false, err
			}
			r.end = errCut
			return false, nil
		}
		n -= some
	}
	return true, nil
}

// isEnd reports whether a file, or its packing, ends too early.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// where names the record at hand.
func (r *records) where() string { return "record at 0x" + strconv.FormatInt(r.at, 16) }

func (r *records) close() error { return r.from.Close() }

// fault is the error of a profile that is not read at all.
func fault(at int64, want string, err error) error {
	return &formats.Error{Format: "simpleperf", Offset: at, Want: want, Err: err}
}
