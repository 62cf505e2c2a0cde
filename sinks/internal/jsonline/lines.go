package jsonline

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/sinks/bucket"
)

// ErrLines says that a file is no whole file of lines. It is the file's fault.
var ErrLines = errors.New("no whole file of lines")

// MaxBytes is the longest line of NDJSON.
const MaxBytes = 64 << 20

// Lines reads the lines of a file, compressed as its name says.
type Lines struct {
	r     *bufio.Reader
	long  []byte
	close func()
	n     int    // of the last line, from 1
	Mark  string // before the first line: a byte order mark or nothing
}

// Open reads the lines of an object, by its key. Close gives back what reading takes; it leaves r open.
func Open(r bucket.Reader, size int64, key string) (*Lines, error) {
	var in io.Reader = io.NewSectionReader(r, 0, size)
	l := &Lines{close: func() {}}
	switch key = strings.ToLower(key); {
	case strings.HasSuffix(key, ".gz"):
		z, err := gzip.NewReader(bufio.NewReaderSize(in, 1<<20))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrLines, err)
		}
		in = z
	case strings.HasSuffix(key, ".zst"):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxBytes))
		if err != nil {
			return nil, err
		}
		in, l.close = z, z.Close
	}
	l.r = bufio.NewReaderSize(in, 1<<20)
	if head, err := l.r.Peek(len(byteOrderMark)); err == nil && string(head) == byteOrderMark {
		if _, err := l.r.Discard(len(byteOrderMark)); err != nil {
			return nil, err
		}
		l.Mark = byteOrderMark
	}
	return l, nil
}

// byteOrderMark begins files of some editors and of PowerShell.
const byteOrderMark = "\ufeff"

// Next returns a line with its line end, if it has one; io.EOF after the last. It is valid until the next call.
func (l *Lines) Next() ([]byte, error) {
	b, err := l.r.ReadSlice('\n')
	l.n++
	if err == nil {
		return b, nil
	}
	l.long = l.long[:0]
	for {
		l.long = append(l.long, b...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(l.long) > 0:
			return l.long, nil
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, l.failed(err)
		case len(l.long) > MaxBytes:
			return nil, fmt.Errorf("%w: line %d has more than %d bytes", ErrLines, l.n, MaxBytes)
		}
		b, err = l.r.ReadSlice('\n')
	}
}

// Blank reports whether a line holds nothing: it is no row, and stays as it is.
func Blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// Row is Next for a line that is a row; blank ones before it are written.
func (l *Lines) Row(w io.Writer) ([]byte, error) {
	for {
		line, err := l.Next()
		if err != nil || !Blank(line) {
			return line, err
		}
		if _, err := w.Write(line); err != nil {
			return nil, err
		}
	}
}

// failed blames the file for what no disk or network does.
func (l *Lines) failed(err error) error {
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) || strings.HasPrefix(err.Error(), "flate: ") ||
		errors.Is(err, zstd.ErrMagicMismatch) || errors.Is(err, zstd.ErrCRCMismatch) || errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return fmt.Errorf("%w: line %d: %w", ErrLines, l.n, err)
	}
	return err
}

// Compressed writes as the name says; close ends it.
func Compressed(w io.Writer, key string) (to io.Writer, close func() error, err error) {
	switch key = strings.ToLower(key); {
	case strings.HasSuffix(key, ".gz"):
		z := gzip.NewWriter(w)
		return z, z.Close, nil
	case strings.HasSuffix(key, ".zst"):
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return w, func() error { return nil }, nil
}

// Close gives back what reading takes.
func (l *Lines) Close() { l.close() }
