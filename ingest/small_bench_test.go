//go:build unix

package ingest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/ingest/discover"
	bucketfile "github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/row"
)

// smallBreakpad returns a Breakpad file with functions of two lines. Ten of them are 600 bytes.
func smallBreakpad(i, functions int) (name, text string) {
	sum := sha256.Sum256([]byte(strconv.Itoa(i)))
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux arm64 %X0 libsmall%05d.so\nINFO CODE_ID %X\nFILE 0 src/module%d.c\n", sum[:16], i, sum[:20], i)
	for f := range functions {
		fmt.Fprintf(&b, "FUNC %x 20 0 function_%d_%d\n%x 20 %d 0\n", 0x1000+f*0x20, i, f, 0x1000+f*0x20, f+10)
	}
	return fmt.Sprintf("libsmall%05d.sym", i), b.String()
}

// smallMap returns a source map with segments segments. 600 of them are 5 kB.
func smallMap(i, segments int) (name, text string) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	vlq := func(b *strings.Builder, v int) {
		u := uint(v) << 1
		if v < 0 {
			u = uint(-v)<<1 | 1
		}
		for {
			d := u & 31
			if u >>= 5; u > 0 {
				d |= 32
			}
			b.WriteByte(digits[d])
			if u == 0 {
				return
			}
		}
	}
	sum := sha256.Sum256([]byte(strconv.Itoa(i)))
	seed := binary.LittleEndian.Uint64(sum[:])
	random := func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed>>33) % n
	}
	var mappings strings.Builder
	names := max(segments/12, 1)
	source, line, column, nameAt := 0, 0, 0, 0
	for s := range segments {
		switch {
		case s == 0:
		case s%200 == 0:
			mappings.WriteByte(';')
		default:
			mappings.WriteByte(',')
		}
		nextLine, nextColumn := line+random(3), random(40)
		if s%200 == 0 {
			vlq(&mappings, 0)
		} else {
			vlq(&mappings, 3+random(20))
		}
		vlq(&mappings, 0)
		vlq(&mappings, nextLine-line)
		vlq(&mappings, nextColumn-column)
		if s%4 == 0 {
			next := random(names)
			vlq(&mappings, next-nameAt)
			nameAt = next
		}
		line, column = nextLine, nextColumn
	}
	_ = source
	m := map[string]any{"version": 3, "file": fmt.Sprintf("chunk-%05d.js", i), "sources": []string{fmt.Sprintf("webpack://shop/./src/components/page%d/index.tsx", i)},
		"mappings": mappings.String(), "debugId": fmt.Sprintf("%x-%x-4%x-8%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])[:36]}
	id := fmt.Sprintf("%x", sum[:16])
	m["debugId"] = id[:8] + "-" + id[8:12] + "-4" + id[13:16] + "-8" + id[17:20] + "-" + id[20:]
	list := make([]string, names)
	for n := range list {
		list[n] = fmt.Sprintf("use%sState%d", []string{"Cart", "Order", "Query", "Page"}[n%4], i+n)
	}
	m["names"] = list
	text1, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("chunk-%05d.js.map", i), string(text1)
}

// smallMapping returns a mapping of R8 with classes classes. 27 of them are 20 kB.
func smallMapping(i, classes int) (name, text string) {
	sum := sha256.Sum256([]byte(strconv.Itoa(i)))
	var b strings.Builder
	fmt.Fprintf(&b, "# compiler: R8\n# compiler_version: 8.5.10\n# min_api: 24\n# common_typos_disable\n# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"2.2\"}\n# pg_map_id: %x\n# pg_map_hash: SHA-256 %x\n", sum[:4], sum)
	for c := range classes {
		fmt.Fprintf(&b, "com.example.shop%d.feature%d.Screen%dViewModel -> a.b%d:\n# {\"id\":\"sourceFile\",\"fileName\":\"Screen%d.kt\"}\n    int count -> a\n    java.lang.String title -> b\n", i%50, c%7, c, c, c)
		for m := range 8 {
			fmt.Fprintf(&b, "    %d:%d:void update%d(int,java.lang.String):%d:%d -> %c\n", m*4+1, m*4+3, m, m*20+10, m*20+12, 'a'+m)
		}
	}
	return fmt.Sprintf("app-%05d-mapping.txt", i), b.String()
}

// TestBenchSmall ingests many small objects into the file store, and one object that is as large as a thousand of them.
// SYMLAKE_SMALL sets their number (4,000), SYMLAKE_SMALL_KIND the kind alone.
func TestBenchSmall(t *testing.T) {
	if os.Getenv("SYMLAKE_BENCH") == "" {
		t.Skip("set SYMLAKE_BENCH=1")
	}
	n := 4000
	if s := os.Getenv("SYMLAKE_SMALL"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	for _, k := range []struct {
		kind  string
		write func(i, size int) (name, text string)
		size  int
	}{{"breakpad", smallBreakpad, 10}, {"map", smallMap, 500}, {"mapping", smallMapping, 27}} {
		if only := os.Getenv("SYMLAKE_SMALL_KIND"); only != "" && only != k.kind {
			continue
		}
		t.Run(k.kind, func(t *testing.T) {
			many := benchSmallRun(t, n, k.write, k.size)
			one := benchSmallRun(t, 1, k.write, k.size*1000)
			t.Logf("%s: %.0f objects a second of a core, %.0f bytes each; 1,000 of them cost %.2f of their sum", k.kind, 1/many.cpu, many.size, 1000*many.cpu/one.cpu)
		})
	}
}

type smallCost struct{ cpu, size float64 } // an object, s and bytes

func benchSmallRun(t *testing.T, n int, write func(i, size int) (name, text string), size int) (c smallCost) {
	t.Helper()
	dir := t.TempDir()
	total := 0
	for i := range n {
		name, text := write(i, size)
		folder := filepath.Join(dir, strconv.Itoa(i%100))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		total += len(text)
	}
	b, err := bucketfile.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "store")
	if err := file.Create(at); err != nil {
		t.Fatal(err)
	}
	s, err := file.Open(at, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ring, err := row.CreateKeyring(t.Context(), s.Catalog, kek.Ephemeral())
	if err != nil {
		t.Fatal(err)
	}
	began, from := time.Now(), formattest.Spent(t)
	r, err := Run(t.Context(), []discover.Source{{Bucket: b}}, Options{Store: s, Keyring: ring, Formats: all.Formats()})
	if err != nil || r.Objects.Loaded != n {
		t.Fatalf("%v %+v %v", err, r.Objects, r.Rejected)
	}
	took, cpu := time.Since(began), formattest.Spent(t)-from
	t.Logf("%d of %d bytes: %.2f s, %.0f objects/s; processor %.3f ms an object, %.1f MB a second", n, total/n, took.Seconds(), float64(n)/took.Seconds(),
		1000*cpu.Seconds()/float64(n), float64(total)/1e6/cpu.Seconds())
	if info, err := os.Stat(filepath.Join(at, "catalog.db")); err == nil {
		wal, _ := os.Stat(filepath.Join(at, "catalog.db-wal"))
		w := int64(0)
		if wal != nil {
			w = wal.Size()
		}
		t.Logf("catalog: %d bytes an object, and a log of %d bytes", info.Size()/int64(n), w)
	}
	return smallCost{cpu.Seconds() / float64(n), float64(total) / float64(n)}
}
