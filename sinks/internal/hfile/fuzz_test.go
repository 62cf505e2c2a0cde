package hfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/symlake/symlake/sinks"
)

// FuzzReader: any bytes are refused in words, or read without a panic, in
// order, and alike by scan and by lookup. Checksums are made right first, else
// nothing behind them would ever be reached.
func FuzzReader(f *testing.F) {
	for _, s := range shapes {
		list := rows(min(s.rows, 200), min(s.value, 300), 7)
		f.Add(write(f, list, Options{BlockBytes: min(s.o.BlockBytes, 600), IndexBytes: min(s.o.IndexBytes, 300), Bloom: s.o.Bloom, Created: made}))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		mend(file)
		r, err := Open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			known(t, err)
			return
		}
		var list []Cell
		if err := r.Scan(nil, nil, func(c Cell) error {
			if n := len(list); n > 0 && bytes.Compare(list[n-1].Row, c.Row) >= 0 {
				t.Fatalf("row %x after %x", c.Row, list[n-1].Row)
			}
			list = append(list, c)
			return nil
		}); err != nil {
			known(t, err)
		}
		for _, c := range list[:min(len(list), 50)] {
			got, ok, err := r.First(c.Row, nil)
			if err != nil {
				known(t, err)
			} else if ok && bytes.Compare(got.Row, c.Row) < 0 {
				t.Fatalf("first at %x gave %x", c.Row, got.Row)
			}
		}
	})
}

func known(t *testing.T, err error) {
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, sinks.ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
		t.Fatalf("%T %v", err, err)
	}
}

// mend makes the checksums of everything right that looks like a block.
func mend(file []byte) {
	for _, magic := range []string{magicData, magicLeaf, magicInter, magicRoot, magicInfo, magicBloom, magicBloomMeta} {
		for at := 0; ; at++ {
			i := bytes.Index(file[at:], []byte(magic))
			if i < 0 {
				break
			}
			at += i
			b := file[at:]
			if len(b) < headerBytes {
				break
			}
			size, ok := blockBytes(b)
			covered, each := int64(binary.BigEndian.Uint32(b[29:])), int64(binary.BigEndian.Uint32(b[25:]))
			if !ok || size > int64(len(b)) || covered > size || each < headerBytes {
				continue
			}
			sum := b[covered:size]
			for from := int64(0); from < covered && len(sum) >= 4; from += each {
				binary.BigEndian.PutUint32(sum, crc32.Checksum(b[from:min(covered, from+each)], castagnoli()))
				sum = sum[4:]
			}
		}
	}
}
