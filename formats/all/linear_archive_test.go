package all_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/formats/formattest"
)

// smallMap is a member that asks for others.
const smallMap = `{"version":3,"file":"a.js","sources":["a"],"names":[],"mappings":"AAAA"}`

type entry struct{ name, body string }

func entries(n int, name, body string) (all []entry) {
	for i := range n {
		all = append(all, entry{fmt.Sprintf(name, i), body})
	}
	return all
}

func same(n int, e entry) []entry { return slices.Repeat([]entry{e}, n) }

func zipOf(all []entry) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range all {
		to, err := w.Create(e.name)
		if err == nil {
			_, err = to.Write([]byte(e.body))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// listedAgain is a zip of one member with a directory that lists it n times.
func listedAgain(z string, n int) string {
	directory, end := strings.Index(z, "PK\x01\x02"), strings.Index(z, "PK\x05\x06")
	listed := strings.Repeat(z[directory:end], n)
	tail := []byte(z[end:])
	le := binary.LittleEndian
	le.PutUint16(tail[8:], uint16(n))
	le.PutUint16(tail[10:], uint16(n))
	le.PutUint32(tail[12:], uint32(len(listed)))
	return z[:directory] + listed + string(tail)
}

func tarOf(all []entry) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range all {
		err := w.WriteHeader(&tar.Header{Name: e.name, Mode: 0o600, Size: int64(len(e.body))})
		if err == nil {
			_, err = w.Write([]byte(e.body))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

func arOf(all []entry) string {
	var b strings.Builder
	b.WriteString("!<arch>\n")
	for _, e := range all {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", fmt.Sprintf("#1/%d", len(e.name)), 0, 0, 0, "644", len(e.name)+len(e.body), e.name+e.body)
		if b.Len()%2 != 0 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func zstdOf(body string) string {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return string(w.EncodeAll([]byte(body), nil))
}

// partitionOf is what METADATA says of n classes.
func partitionOf(n int) string {
	names := each(n, ";", "b%d")
	return "\xaa\xa8\x00\x00\x00\x032.2" + string(binary.BigEndian.AppendUint32(nil, uint32(len(names)))) + names
}

func partitions(n int) (all []entry) {
	for i := range n {
		all = append(all, entry{fmt.Sprint("b", i), fmt.Sprintf("a.A%d -> b%[1]d:\n    1:9:void m():7:15 -> c\n", i)})
	}
	return all
}

func gzipOf(body string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(body)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// archives makes a shape of each kind of archive.
func archives(name string, n int, members func(n int) []entry) []formattest.Shape {
	return []formattest.Shape{
		of("zip/"+name, "a.zip", n, func(n int) string { return zipOf(members(n)) }),
		of("tar/"+name, "a.tar", n, func(n int) string { return tarOf(members(n)) }),
		of("ar/"+name, "a.a", n, func(n int) string { return arOf(members(n)) }),
	}
}

var archiveShapes = func() (all []formattest.Shape) {
	add := func(name string, n int, members func(n int) []entry) {
		all = append(all, archives(name, n, members)...)
	}
	add("members", 1000, func(n int) []entry { return entries(n, "a/b%d.txt", "x") })
	add("empty members", 1000, func(n int) []entry { return entries(n, "b%d", "") })
	add("one name", 1000, func(n int) []entry { return same(n, entry{"a/b.txt", "x"}) })
	add("folders", 1000, func(n int) []entry { return append(entries(n, "d%d/e/f/g/h/", ""), entry{"a", "x"}) })
	add("members that ask for a neighbor", 300, func(n int) []entry { return entries(n, "d%d/a.js.map", smallMap) })
	add("members that have a neighbor of one name", 200, func(n int) []entry {
		return append(entries(n, "d%d/a.js", "function f(){}"), entries(n, "d%d/a.js.map", smallMap)...)
	})
	add("members that have a far neighbor", 200, func(n int) []entry {
		return append(entries(n, "e%d/a.js", "function f(){}"), entries(n, "d%d/a.js.map", smallMap)...)
	})
	add("symbol folders", 300, func(n int) []entry { return entries(n, "d%d.dSYM/Contents/Info.plist", "<plist></plist>") })
	add("deep names", 200, func(n int) []entry { return entries(n, strings.Repeat("d/", 400)+"a%d.js.map", smallMap) })
	add("long member", 1<<20, func(n int) []entry { return []entry{{"a.sym", module + "PUBLIC 0 0 " + strings.Repeat("p", n)}} })
	add("maps", 50, func(n int) []entry { return entries(n, "a%d.js.map", mapOf(each(500, ",", "CAAC"), "")) })
	return append(all,
		rejects("lie over each other", of("zip/one member under many names", "a.zip", 1000, func(n int) string {
			return listedAgain(zipOf([]entry{{"a.sym", module + each(1000, "\n", "PUBLIC %x 0 p")}}), n)
		})),
		of("gzip/members", "a.gz", 200, func(n int) string { return strings.Repeat(gzipOf("FILE 0 a\n"), n) }),
		of("gzip/bomb", "a.sym.gz", 256<<10, func(n int) string { return gzipOf(module + strings.Repeat("\n", n) + "PUBLIC 0 0 p") }),
		of("cabinet/blocks", "a.sy_", 256<<10, func(n int) string { return cabOf(module + strings.Repeat("\n", n) + "PUBLIC 0 0 p") }),
		of("tar.gz/members", "a.tar.gz", 1000, func(n int) string { return gzipOf(tarOf(entries(n, "a%d.txt", "x"))) }),
		of("tar.gz/members that ask", "a.tar.gz", 200, func(n int) string { return gzipOf(tarOf(entries(n, "d%d/a.js.map", smallMap))) }),
		of("zip/zips", "a.zip", 200, func(n int) string { return zipOf(entries(n, "a%d.zip", zipOf(entries(3, "a%d.js.map", smallMap)))) }),
		of("zip/nested zips that ask", "a.zip", 50, func(n int) string {
			return zipOf(append(entries(n, "d%d/a.js", "f()"), entries(n, "a%d.zip", zipOf(entries(3, "a%d.js.map", smallMap)))...))
		}),
		of("r8-partition/classes", "mapping.zip", 500, func(n int) string {
			return zipOf(append([]entry{{"METADATA", partitionOf(n)}}, partitions(n)...))
		}),
		rejects("lie over each other", of("r8-partition/one class under many names", "mapping.zip", 500, func(n int) string {
			return listedAgain(zipOf([]entry{{"METADATA", partitionOf(0) + each(2000, " ", "%x")}}), n)
		})),
		of("zstd/bomb", "a.sym.zst", 256<<10, func(n int) string { return zstdOf(module + strings.Repeat("\n", n) + "PUBLIC 0 0 p") }),
		of("zstd/frames", "a.sym.zst", 200, func(n int) string {
			return zstdOf(module) + strings.Repeat(zstdOf("FILE 0 a\n"), n) + zstdOf("PUBLIC 0 0 p")
		}),
	)
}()

// recorded makes a shape of a trace.
func recorded(name string, n int, make func(n int) string) formattest.Shape {
	s := of("trace/"+name, "a.trace", n, make)
	s.Kind = "trace"
	return s
}

// chunk is one of a ring container.
func chunk(kind uint32, payload []byte) string {
	b := binary.LittleEndian.AppendUint32(nil, kind)
	return string(append(binary.LittleEndian.AppendUint32(b, uint32(len(payload))), payload...))
}

func words(of ...uint64) (b []byte) {
	for _, w := range of {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

const ringHead = "symring\x00\x01\x00\x00\x00\x01\x00\x00\x00"

var traceShapes = []formattest.Shape{
	recorded("nanoscope calls", 10000, func(n int) string { return each(n, "\n", "%d0:a.B.c(int)\n%[1]d5:POP") + "\n" }),
	recorded("nanoscope nested calls", 5000, func(n int) string { return each(n, "\n", "%d:a.B.c()") + "\n" + each(n, "\n", "9%06d:POP") + "\n" }),
	recorded("nanoscope names", 5000, func(n int) string { return each(n, "\n", "%d0:a.B.c%[1]d(int)\n%[1]d5:POP") + "\n" }),
	recorded("nanoscope exits", 10000, func(n int) string { return "1:a.B.c()\n" + each(n, "\n", "%d2:POP") + "\n" }),
	recorded("nanoscope backward times", 10000, func(n int) string { return "99:a.B.c()\n98:POP\n" + each(n, "\n", "9:a.B.c()\n8:POP") + "\n" }),
	recorded("chrome events", 5000, func(n int) string {
		return "[" + each(n, ",", `{"name":"a","ph":"X","ts":%d,"dur":1,"pid":1,"tid":1}`) + "]"
	}),
	recorded("chrome nested events", 3000, func(n int) string {
		return "[" + each(n, ",", `{"name":"a","ph":"B","ts":%d,"pid":1,"tid":1}`) + "," + each(n, ",", `{"ph":"E","ts":9%06d,"pid":1,"tid":1}`) + "]"
	}),
	recorded("chrome backward events", 3000, func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"name":"a","ph":"X","ts":%d,"dur":%d,"pid":1,"tid":1}`, n-i, n)
		}
		return "[" + b.String()[1:] + "]"
	}),
	recorded("chrome one time", 3000, func(n int) string {
		return "[" + each(n, ",", `{"name":"a","ph":"X","ts":1,"dur":1,"pid":1,"tid":1}`) + "]"
	}),
	recorded("chrome threads", 3000, func(n int) string {
		return "[" + each(n, ",", `{"name":"a","ph":"X","ts":1,"dur":1,"pid":%d,"tid":%[1]d}`) + "]"
	}),
	recorded("chrome thread names", 3000, func(n int) string {
		return `[{"name":"a","ph":"X","ts":1,"dur":1,"pid":1,"tid":1},` + each(n, ",", `{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"t%d"}}`) + "]"
	}),
	recorded("chrome names", 3000, func(n int) string {
		return "[" + each(n, ",", `{"name":"a%d","ph":"X","ts":%[1]d,"dur":1,"pid":1,"tid":1}`) + "]"
	}),
	recorded("chrome counters", 3000, func(n int) string {
		return `[{"ph":"C","name":"c","ts":1,"pid":1,"args":{` + each(n, ",", `"k%d":1`) + "}}]"
	}),
	recorded("chrome nested arguments", 20000, func(n int) string {
		return `[{"name":"a","ph":"X","ts":1,"dur":1,"pid":1,"tid":1,"args":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}]"
	}),
	recorded("ring calls", 10000, func(n int) string {
		b := words(1)
		for i := range n {
			b = append(b, words(uint64(2*i+1), 0x10, uint64(2*i+2), 0)...)
		}
		return ringHead + chunk(3, b)
	}),
	recorded("ring chunks", 5000, func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(chunk(3, words(1, uint64(2*i+1), 0x10, uint64(2*i+2), 0)))
		}
		return ringHead + b.String()
	}),
	recorded("ring threads", 5000, func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(chunk(1, append(words(uint64(i)), "t"...)) + chunk(3, words(uint64(i), 1, 0x10, 2, 0)))
		}
		return ringHead + b.String()
	}),
	recorded("ring nested calls", 5000, func(n int) string {
		b := words(1)
		for i := range n {
			b = append(b, words(uint64(i+1), uint64(i+1))...)
		}
		return ringHead + chunk(3, b)
	}),
	recorded("ring locks", 5000, func(n int) string {
		b := words(1)
		for i := range n {
			b = append(b, words(uint64(2*i), uint64(2*i+1), uint64(i), 2)...)
		}
		return ringHead + chunk(3, words(1, 1, 0x10, 2, 0)) + chunk(5, b)
	}),
	recorded("ring names", 10000, func(n int) string {
		var b []byte
		for i := range n {
			b = append(append(b, words(uint64(i))...), 1, 0, 'n')
		}
		return ringHead + chunk(2, b) + chunk(3, words(1, 1, 0x10, 2, 0))
	}),
	recorded("ring one name", 10000, func(n int) string {
		var b []byte
		for range n {
			b = append(append(b, words(16)...), 1, 0, 'n')
		}
		return ringHead + chunk(2, b) + chunk(3, words(1, 1, 0x10, 2, 0))
	}),
	recorded("ring passed chunks", 20000, func(n int) string {
		return ringHead + strings.Repeat(chunk(77, nil), n) + chunk(3, words(1, 1, 0x10, 2, 0))
	}),
}

// cabOf is a cabinet of one file, stored in blocks.
func cabOf(text string) string {
	const block = 32 << 10
	n := (len(text) + block - 1) / block
	f := new(blob).u8('M', 'S', 'C', 'F').u32(0).u32(0).u32(0).u32(44).u32(0).u8(3, 1).u16(1).u16(1).u16(0).u32(0)
	f.u32(44 + 16 + 6).u16(uint16(n)).u16(0).u32(uint32(len(text))).u32(0).u64(0).str("a.sym")
	for ; text != ""; text = text[min(len(text), block):] {
		piece := text[:min(len(text), block)]
		f.u32(0).u16(uint16(len(piece))).u16(uint16(len(piece))).u8([]byte(piece)...)
	}
	return string(f.b)
}
