package opentable

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/bucket/file"
)

// vectorOf writes rows as a vector, one container a kind: lists of numbers, bits, or runs.
func vectorOf(rows []uint32, runs bool) []byte {
	var heads, bodies, flags []byte
	var offsets []byte
	n := 0
	for len(rows) > 0 {
		high := rows[0] >> 16
		k := slices.IndexFunc(rows, func(r uint32) bool { return r>>16 != high })
		if k < 0 {
			k = len(rows)
		}
		part := rows[:k]
		rows = rows[k:]
		heads = binary.LittleEndian.AppendUint16(heads, uint16(high))
		heads = binary.LittleEndian.AppendUint16(heads, uint16(len(part)-1))
		offsets = append(offsets, 0, 0, 0, 0)
		if n%8 == 0 {
			flags = append(flags, 0)
		}
		switch {
		case runs:
			flags[n/8] |= 1 << (n % 8)
			var list []uint16
			for i := 0; i < len(part); {
				j := i + 1
				for j < len(part) && part[j] == part[j-1]+1 {
					j++
				}
				list = append(list, uint16(part[i]), uint16(j-i-1))
				i = j
			}
			bodies = binary.LittleEndian.AppendUint16(bodies, uint16(len(list)/2))
			for _, x := range list {
				bodies = binary.LittleEndian.AppendUint16(bodies, x)
			}
		case len(part) <= maxArray:
			for _, r := range part {
				bodies = binary.LittleEndian.AppendUint16(bodies, uint16(r))
			}
		default:
			bits := make([]byte, bitsBytes)
			for _, r := range part {
				bits[uint16(r)/8] |= 1 << (r % 8)
			}
			bodies = append(bodies, bits...)
		}
		n++
	}
	b := []byte(vectorMagic)
	b = binary.LittleEndian.AppendUint64(b, 1)
	b = binary.LittleEndian.AppendUint32(b, 0)
	if runs {
		b = binary.LittleEndian.AppendUint32(b, uint32(n-1)<<16|cookieRuns)
		b = append(b, flags...)
	} else {
		b = binary.LittleEndian.AppendUint32(b, cookiePlain)
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	b = append(b, heads...)
	if !runs || n >= noOffsets {
		b = append(b, offsets...)
	}
	return append(b, bodies...)
}

// framed adds length and checksum.
func framed(v []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(v)))
	b = append(b, v...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(v))
}

func spaced(n, every int) (rows []uint32) {
	for i := range n {
		rows = append(rows, uint32(i*every))
	}
	return rows
}

func TestVector(t *testing.T) {
	for name, rows := range map[string][]uint32{"one": {7}, "few": spaced(100, 3000), "many": spaced(200_000, 2), "all": spaced(70_000, 1)} {
		for _, runs := range []bool{false, true} {
			got, err := framedVector(framed(vectorOf(rows, runs)))
			if err != nil || !slices.Equal(got, rows) {
				t.Errorf("%s, runs %t: %v, %d rows, want %d", name, runs, err, len(got), len(rows))
			}
		}
	}
	v := framed(vectorOf(spaced(5000, 3), false))
	for at := range v[:200] {
		damaged := slices.Clone(v)
		damaged[at] ^= 0x10
		if _, err := framedVector(damaged); !errors.Is(err, ErrTable) {
			t.Errorf("byte %d: %v", at, err)
		}
		if _, err := framedVector(v[:at]); !errors.Is(err, ErrTable) {
			t.Errorf("%d bytes: %v", at, err)
		}
	}
	if rows, err := vector(binary.LittleEndian.AppendUint64([]byte(vectorMagic), 0)); err != nil || len(rows) > 0 {
		t.Errorf("an empty one: %v, %v", err, rows)
	}
}

func FuzzVector(f *testing.F) {
	f.Add(vectorOf(spaced(100, 3000), false))
	f.Add(vectorOf(spaced(50, 1), true))
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := vector(b)
		if err != nil && !errors.Is(err, ErrTable) {
			t.Fatal(err)
		}
		if !slices.IsSorted(rows) {
			t.Fatal("rows do not ascend")
		}
	})
}

// Twice the vector takes twice the memory to read.
func TestLinear(t *testing.T) {
	allocs := func(n int) float64 {
		v := vectorOf(spaced(n, 2), false)
		return testing.AllocsPerRun(3, func() {
			if _, err := vector(v); err != nil {
				t.Fatal(err)
			}
		})
	}
	if one, four := allocs(100_000), allocs(400_000); four > 2*one+10 {
		t.Errorf("%v allocations of 100,000 rows, %v of 400,000", one, four)
	}
	commit := func(n int) float64 {
		var log []byte
		for i := range n {
			log = append(log, []byte(`{"add":{"path":"a`+string(rune('a'+i%26))+`","partitionValues":{"day":"1"}}}`+"\n")...)
		}
		return testing.AllocsPerRun(3, func() {
			if err := newDelta().commit(log); err != nil {
				t.Fatal(err)
			}
		})
	}
	if one, four := commit(500), commit(2000); four > 4.4*one {
		t.Errorf("%v allocations of 500 actions, %v of 2,000", one, four)
	}
}

// The rows that Spark deleted in files are left out, and a renamed column has its new name.
func TestDeletes(t *testing.T) {
	for name, want := range map[string][][]uint32{"deletes": {{1, 3, 5}, {0}}, "vectors": {{1, 4}}} {
		b, err := file.Open(formattest.Testdata(t, "rest/"+name))
		if err != nil {
			t.Fatal(err)
		}
		x, err := Open(t.Context(), b, Newest)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range x.Files {
			if !slices.Equal(f.Gone, want[i]) {
				t.Errorf("%s: rows %v of %s are deleted, want %v", name, f.Gone, f.Key, want[i])
			}
		}
		if len(x.Files) != len(want) || x.Names.ids[2] != "artifact" {
			t.Errorf("%s: %d files, columns %v", name, len(x.Files), x.Names)
		}
	}
}

// FuzzMetadata reads metadata of Iceberg for the names of columns.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte(`{"schemas":[{"schema-id":0,"fields":[{"id":1,"name":"a","type":"long"},{"id":2,"name":"l","type":{"type":"list","element-id":3,"element":{"type":"struct","fields":[{"id":4,"name":"b","type":"string"}]}}}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) { namesOf(b, 0) })
}
