package hfile

import (
	"bytes"
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

// TestHBaseReads has HBase's own tool check our files: -v looks, -k checks
// the order of keys, -a one family, -m and -s print what it found.
func TestHBaseReads(t *testing.T) {
	complaint := regexp.MustCompile(`(?i)exception|warning|not in order|previous row is greater|error`)
	count := regexp.MustCompile(`Scanned kv count -> (\d+)`)
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			s.o.Created = made
			dir := filepath.Join(t.TempDir(), family) // -a compares with the folder's name
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "0123456789abcdef0123456789abcdef")
			if err := os.WriteFile(path, write(t, rows(s.rows, s.value, 7), s.o), 0o600); err != nil {
				t.Fatal(err)
			}
			out := hbase(t, nil, "", "org.apache.hadoop.hbase.io.hfile.HFilePrettyPrinter", "-m", "-v", "-k", "-a", "-s", "-f", "file://"+path)
			if m := count.FindStringSubmatch(out); m == nil || m[1] != strconv.Itoa(s.rows) {
				t.Errorf("HBase counts %v, want %d rows\n%s", m, s.rows, tail([]byte(out)))
			}
			for line := range strings.Lines(out) {
				if complaint.MatchString(line) {
					t.Errorf("HBase complains: %s", line)
				}
			}
		})
	}
}

// TestHBaseWrites has HBase write the same rows: the files are the same, byte
// for byte, and our reader reads HBase's.
func TestHBaseWrites(t *testing.T) {
	lib := hbasetest.Lib(t)
	javac := formattest.Tool(t, "javac", "install a JDK 17")
	classes := t.TempDir()
	out, err := exec.Command(javac, "-cp", filepath.Join(lib, "*"), "-d", classes, formattest.Testdata(t, "hbase/HFiles.java")).CombinedOutput()
	if err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			list := rows(s.rows, s.value, 7)
			var in []byte
			for _, c := range list {
				in = binary.BigEndian.AppendUint16(in, uint16(len(c.Row)))
				in = append(in, c.Row...)
				in = binary.BigEndian.AppendUint32(in, uint32(len(c.Value)))
				in = append(in, c.Value...)
			}
			path := filepath.Join(t.TempDir(), "hfile")
			block, index := s.o.BlockBytes, s.o.IndexBytes
			if block == 0 {
				block = defaultBlockBytes
			}
			if index == 0 {
				index = defaultIndexBytes
			}
			hbase(t, in, classes, "HFiles", path, strconv.Itoa(block), strconv.Itoa(index), "1", strconv.FormatInt(made.UnixMilli(), 10))
			theirs, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := readAll(theirs, list); err != nil {
				t.Errorf("reading HBase's file: %v", err)
			}
			s.o.Created = made
			if ours := write(t, list, s.o); !bytes.Equal(ours, theirs) {
				t.Error(difference(ours, theirs))
			}
		})
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
