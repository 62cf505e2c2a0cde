package hfile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkWrite writes a file without a Bloom filter, and with each kind.
func BenchmarkWrite(b *testing.B) {
	list := rows(3000, 20_000, 7)
	var n int64
	for _, c := range list {
		n += int64(len(c.Row) + len(c.Value))
	}
	for _, bloom := range []Bloom{{}, {Kind: BloomRowPrefix, Prefix: 24, ErrorRate: 0.001}, {Kind: BloomRow}} {
		b.Run(bloom.String(), func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				w := NewWriter(io.Discard, Options{Created: made, Bloom: bloom})
				for _, c := range list {
					if err := w.Append(c.Row, c.Value); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpenFirst opens a file and answers once, as a cold process does.
func BenchmarkOpenFirst(b *testing.B) {
	list := rows(3000, 20_000, 7)
	path := filepath.Join(b.TempDir(), "hfile")
	if err := os.WriteFile(path, write(b, list, Options{Created: made}), 0o600); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			b.Fatal(err)
		}
		r, err := Open(f, info.Size())
		if err != nil {
			b.Fatal(err)
		}
		want := list[i*7919%len(list)]
		if c, ok, err := r.First(want.Row, nil); err != nil || !ok || !bytes.Equal(c.Value, want.Value) {
			b.Fatal(ok, err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFirst(b *testing.B) {
	list := rows(3000, 20_000, 7)
	file := write(b, list, Options{Created: made})
	r := open(b, file)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, ok, err := r.First(list[i*7919%len(list)].Row, nil); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}
