package hfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
)

// hbase runs a main class of a real HBase.
func hbase(t *testing.T, stdin []byte, classPath string, args ...string) string {
	t.Helper()
	cp := strings.Trim(classPath+":"+filepath.Join(hbasetest.Lib(t), "*"), ":")
	java := hbasetest.Java(t)
	cmd := exec.Command(java, append([]string{"--add-opens", "java.base/java.lang=ALL-UNNAMED", "-cp", cp}, args...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", args[0], err, tail(out))
	}
	return string(out)
}

func tail(b []byte) []byte { return b[max(0, len(b)-4000):] }

// compile makes HBase's side of the tests, and gives its class path.
func compile(t *testing.T) string {
	t.Helper()
	lib := hbasetest.Lib(t)
	javac := formattest.Tool(t, "javac", "install a JDK 17")
	classes := t.TempDir()
	out, err := exec.Command(javac, "-cp", filepath.Join(lib, "*"), "-d", classes, formattest.Testdata(t, "hbase/HFiles.java")).CombinedOutput()
	if err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return classes
}

// TestHBaseReads has HBase's own tool check our files.
func TestHBaseReads(t *testing.T) {
	classes := compile(t)
	args := []string{"HFiles", "read"}
	for i, s := range shapes {
		s.o.Created = made
		dir := filepath.Join(t.TempDir(), family) // -a compares with the folder's name
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprintf("%032x", i))
		if err := os.WriteFile(path, write(t, rows(s.rows, s.value, 7), s.o), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	complaint := regexp.MustCompile(`(?i)exception|warning|not in order|previous row is greater|error`)
	count := regexp.MustCompile(`Scanned kv count -> (\d+)`)
	parts := regexp.MustCompile(`(?m)^file /.*$`).Split(hbase(t, nil, classes, args...), -1)
	if len(parts) != len(shapes)+1 {
		t.Fatalf("HBase tells of %d files, want %d", len(parts)-1, len(shapes))
	}
	for i, s := range shapes {
		out := parts[i+1]
		if m := count.FindStringSubmatch(out); m == nil || m[1] != strconv.Itoa(s.rows) {
			t.Errorf("%s: HBase counts %v, want %d rows\n%s", s.name, m, s.rows, tail([]byte(out)))
		}
		for line := range strings.Lines(out) {
			if complaint.MatchString(line) {
				t.Errorf("%s: HBase complains: %s", s.name, line)
			}
		}
		has := regexp.MustCompile(`Bloom filter:\s+BloomSize: \d+\s+No of Keys in bloom: (\d+)`).FindStringSubmatch(out)
		want := ""
		if s.o.Bloom.Kind != BloomNone {
			want = strconv.Itoa(len(bloomKeys(rows(s.rows, s.value, 7), s.o.Bloom)))
		}
		if (has != nil) != (want != "") || has != nil && has[1] != want {
			t.Errorf("%s: HBase finds a Bloom filter %q, want %q keys\n%s", s.name, has, want, tail([]byte(out)))
		}
	}
}

// TestHBaseWrites has HBase write the same rows: the files are the same, byte
// for byte, and our reader reads HBase's.
func TestHBaseWrites(t *testing.T) {
	classes := compile(t)
	dir := t.TempDir()
	args := []string{"HFiles"}
	var in []byte
	for i, s := range shapes {
		for _, c := range rows(s.rows, s.value, 7) {
			in = binary.BigEndian.AppendUint16(in, uint16(len(c.Row)))
			in = append(in, c.Row...)
			in = binary.BigEndian.AppendUint32(in, uint32(len(c.Value)))
			in = append(in, c.Value...)
		}
		in = append(in, 0, 0)
		block, index, rate := cmp.Or(s.o.BlockBytes, defaultBlockBytes), cmp.Or(s.o.IndexBytes, defaultIndexBytes), cmp.Or(s.o.Bloom.ErrorRate, defaultErrorRate)
		args = append(args, filepath.Join(dir, strconv.Itoa(i)), strconv.Itoa(block), strconv.Itoa(index), "1", strconv.FormatInt(made.UnixMilli(), 10),
			s.o.Bloom.String(), strconv.Itoa(max(1, s.o.Bloom.Prefix)), strconv.FormatFloat(rate, 'g', -1, 64))
	}
	hbase(t, in, classes, args...)
	for i, s := range shapes {
		theirs, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		list := rows(s.rows, s.value, 7)
		if err := readAll(theirs, list); err != nil {
			t.Errorf("%s: reading HBase's file: %v", s.name, err)
		}
		s.o.Created = made
		if ours := write(t, list, s.o); !bytes.Equal(ours, theirs) {
			t.Errorf("%s: %s", s.name, difference(ours, theirs))
		}
	}
}

// difference says where two files begin to differ.
func difference(ours, theirs []byte) string {
	i := 0
	for i < len(ours) && i < len(theirs) && ours[i] == theirs[i] {
		i++
	}
	around := func(b []byte) []byte { return b[min(len(b), max(0, i-32)):min(len(b), i+64)] }
	return fmt.Sprintf("ours (%d bytes) and HBase's (%d) differ at %#x:\n%q\n%q", len(ours), len(theirs), i, around(ours), around(theirs))
}
