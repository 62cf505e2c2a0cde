// Command raw writes a pprof profile that has addresses alone, of what perf prints. Agents that know no symbols leave
// such profiles: mappings with build-ids, locations without lines.
//
//	perf script -i DATA --show-mmap-events | raw [-pid PID] [-times N] BUILD-IDS > x.pb.gz
//
// BUILD-IDS is a file of what `perf buildid-list -i DATA` prints. With -times N each sample stands N times.
package main

import (
	"bufio"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// mapping is a file in the memory of a process.
type mapping struct {
	start, size, offset uint64
	file                string
}

// profile is what perf printed.
type profile struct {
	mappings  []mapping
	locations map[location]uint64 // number from 1
	ordered   []location
	samples   [][]uint64 // location numbers, innermost first
	period    uint64
}

// location is an address of a mapping. Mappings are numbered from 1, and 0 is none.
type location struct{ mapping, address uint64 }

var (
	mapLine    = regexp.MustCompile(`PERF_RECORD_MMAP2? (-?\d+)/\d+: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0) .*\]: (\S+) (.+)$`)
	frameLine  = regexp.MustCompile(`^\s+([0-9a-f]+) (.*) \((.*)\)$`)
	sampleLine = regexp.MustCompile(`^\S.* +(\d+) +[\d.]+: +(\d+) .*:\s*$`)
)

func main() {
	log.SetFlags(0)
	times := flag.Int("times", 1, "how often each sample stands in the profile")
	flag.Parse()
	ids, err := buildIDs(flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	p := &profile{locations: map[location]uint64{}}
	if err := p.read(os.Stdin); err != nil {
		log.Fatal(err)
	}
	z := gzip.NewWriter(os.Stdout)
	if _, err := z.Write(p.encode(ids, *times)); err != nil {
		log.Fatal(err)
	}
	if err := z.Close(); err != nil {
		log.Fatal(err)
	}
}

// buildIDs reads lines of an id and a file.
func buildIDs(name string) (map[string]string, error) {
	text, err := os.ReadFile(name)
	ids := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if id, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			ids[file] = id
		}
	}
	return ids, err
}

// read takes maps and stacks. A stack ends with an empty line.
func (p *profile) read(r io.Reader) error {
	var stack []uint64
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		if m := mapLine.FindStringSubmatch(line); m != nil {
			p.mapped(m)
		} else if m := sampleLine.FindStringSubmatch(line); m != nil {
			p.period, _ = strconv.ParseUint(m[2], 10, 64)
		} else if m := frameLine.FindStringSubmatch(line); m != nil {
			at, _ := strconv.ParseUint(m[1], 16, 64)
			if len(stack) > 0 { // pprof wants the call, not where it returns
				at--
			}
			stack = append(stack, p.location(at, m[3]))
		} else if line == "" && len(stack) > 0 {
			p.samples, stack = append(p.samples, stack), nil
		}
	}
	return lines.Err()
}

// mapped notes a mapping of code. It leaves out the kernel, and memory without a file.
func (p *profile) mapped(m []string) {
	if !strings.Contains(m[5], "x") || !strings.HasPrefix(m[6], "/") {
		return
	}
	hex := func(s string) uint64 {
		n, _ := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
		return n
	}
	p.mappings = append(p.mappings, mapping{hex(m[2]), hex(m[3]), hex(m[4]), m[6]})
}

// location returns the number of a place: an offset in a file, or an address of the kernel.
func (p *profile) location(at uint64, file string) uint64 {
	l := location{0, at}
	for i, m := range p.mappings {
		if m.file == file && at >= m.offset && at-m.offset < m.size {
			l = location{uint64(i + 1), at - m.offset + m.start}
			break
		}
	}
	n, known := p.locations[l]
	if !known {
		p.ordered = append(p.ordered, l)
		n = uint64(len(p.ordered))
		p.locations[l] = n
	}
	return n
}

// encode writes the protobuf of pprof's profile.proto.
func (p *profile) encode(ids map[string]string, times int) []byte {
	var b message
	table := []string{""}
	text := func(s string) uint64 {
		for i, t := range table {
			if t == s {
				return uint64(i)
			}
		}
		table = append(table, s)
		return uint64(len(table) - 1)
	}
	for _, t := range [][2]string{{"samples", "count"}, {"cpu", "nanoseconds"}} {
		var m message
		m.number(1, text(t[0]))
		m.number(2, text(t[1]))
		b.bytes(1, m)
	}
	for range times {
		for _, s := range p.samples {
			var m message
			m.packed(1, s)
			m.packed(2, []uint64{1, p.period})
			b.bytes(2, m)
		}
	}
	for i, of := range p.mappings {
		var m message
		m.number(1, uint64(i+1))
		m.number(2, of.start)
		m.number(3, of.start+of.size)
		m.number(4, of.offset)
		m.number(5, text(of.file))
		m.number(6, text(ids[of.file]))
		b.bytes(3, m)
	}
	for i, l := range p.ordered {
		var m message
		m.number(1, uint64(i+1))
		m.number(2, l.mapping)
		m.number(3, l.address)
		b.bytes(4, m)
	}
	for _, s := range table {
		b.bytes(6, message(s))
	}
	var kind message
	kind.number(1, text("cpu"))
	kind.number(2, text("nanoseconds"))
	b.bytes(11, kind)
	b.number(12, p.period)
	fmt.Fprintf(os.Stderr, "%d samples, %d locations, %d mappings\n", len(p.samples)*times, len(p.ordered), len(p.mappings))
	return b
}

// message is protobuf.
type message []byte

func (m *message) varint(n uint64) {
	for ; n >= 0x80; n >>= 7 {
		*m = append(*m, byte(n)|0x80)
	}
	*m = append(*m, byte(n))
}

func (m *message) number(field int, n uint64) {
	if n != 0 {
		m.varint(uint64(field) << 3)
		m.varint(n)
	}
}

func (m *message) bytes(field int, b message) {
	m.varint(uint64(field)<<3 | 2)
	m.varint(uint64(len(b)))
	*m = append(*m, b...)
}

func (m *message) packed(field int, list []uint64) {
	var b message
	for _, n := range list {
		b.varint(n)
	}
	m.bytes(field, b)
}
