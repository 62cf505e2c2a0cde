package opentable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/bucket/file"
)

func FuzzDeltaCommit(f *testing.F) {
	for n := range 6 {
		text, err := os.ReadFile(formattest.Testdata(f, fmt.Sprintf("rest/delta/_delta_log/%020d.json", n)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := newDelta()
		if err := s.commit(b); err != nil && !errors.Is(err, ErrTable) {
			t.Fatal(err)
		}
	})
}

// encodeZ85 writes bytes as text, filled up to whole groups of four.
func encodeZ85(b []byte) (s string) {
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	for i := 0; i < len(b); i += 4 {
		v := binary.BigEndian.Uint32(b[i:])
		var group [5]byte
		for k := 4; k >= 0; k-- {
			group[k] = z85[v%85]
			v /= 85
		}
		s += string(group[:])
	}
	return s
}

// Deletion vectors stand in the log, or in files beside it. A commit that deletes more rows removes the file with its old vector
// and adds it with the new one, in any order.
func TestDeltaVectors(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(formattest.Testdata(t, "rest/delta"))); err != nil {
		t.Fatal(err)
	}
	b, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	before, err := Open(t.Context(), b, Newest)
	if err != nil {
		t.Fatal(err)
	}
	id := []byte("0123456789abcdef")
	stored := append([]byte{1}, framed(vectorOf([]uint32{0, 2}, false))...)
	if err := b.Create(t.Context(), fmt.Sprintf("ab/deletion_vector_%x-%x-%x-%x-%x.bin", id[:4], id[4:6], id[6:8], id[8:10], id[10:]), "", bytes.NewReader(stored)); err != nil {
		t.Fatal(err)
	}
	path := (&url.URL{Path: before.Files[0].Key}).EscapedPath()
	inline := vectorOf([]uint32{2}, true)
	first := fmt.Sprintf(`{"storageType":"i","pathOrInlineDv":%q,"sizeInBytes":%d,"cardinality":1}`, encodeZ85(inline), len(inline))
	second := fmt.Sprintf(`{"storageType":"u","pathOrInlineDv":%q,"offset":1,"sizeInBytes":%d,"cardinality":2}`, "ab"+encodeZ85(id), len(stored)-9)
	for n, log := range []string{
		fmt.Sprintf(`{"remove":{"path":%q}}`+"\n"+`{"add":{"path":%q,"partitionValues":{},"deletionVector":%s}}`, path, path, first),
		fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"deletionVector":%s}}`+"\n"+`{"remove":{"path":%q,"deletionVector":%s}}`, path, second, path, first),
	} {
		if err := b.Create(t.Context(), DeltaVersionKey(int64(6+n)), "", strings.NewReader(log)); err != nil {
			t.Fatal(err)
		}
		x, err := Open(t.Context(), b, Newest)
		if err != nil {
			t.Fatal(err)
		}
		want := [][]uint32{{2}, {0, 2}}[n]
		if len(x.Files) != len(before.Files) || !slices.Equal(x.Files[0].Gone, want) {
			t.Errorf("version %d: %+v, want %v deleted", 6+n, x.Files, want)
		}
	}
	for log, words := range map[string]string{
		`{"storageType":"x"}`: "place",
		`{"storageType":"i","pathOrInlineDv":"00000","sizeInBytes":9}`:                                                          "has 4 bytes",
		`{"storageType":"i","pathOrInlineDv":"0000","sizeInBytes":1}`:                                                           "letters",
		`{"storageType":"p","pathOrInlineDv":"/etc/passwd","sizeInBytes":1}`:                                                    "outside of it",
		`{"storageType":"u","pathOrInlineDv":"00000000000000000000","sizeInBytes":1}`:                                           "is not there",
		fmt.Sprintf(`{"storageType":"i","pathOrInlineDv":%q,"sizeInBytes":%d,"cardinality":9}`, encodeZ85(inline), len(inline)): "the log says 9",
	} {
		s := newDelta()
		s.known = true
		if err := s.commit([]byte(fmt.Sprintf(`{"add":{"path":"x","partitionValues":{},"deletionVector":%s}}`, log))); err != nil {
			t.Fatal(err)
		}
		if _, err := s.table(t.Context(), b, 1); !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", log, err)
		}
	}
}
