package all_test

import (
	"encoding/binary"
	"strings"

	"github.com/symlake/symlake/formats/formattest"
)

// gsymOf writes a GSYM file of version 1: functions are n descriptions, each begins step bytes behind the one before.
func gsymOf(n int, step uint32, files int, text string, info func(i int) []byte) string {
	le := binary.LittleEndian
	var starts, places, infos, table []byte
	tables := 48 + 8*n + 4 + 8*files
	from := (tables + len(text) + 3) &^ 3
	for i := range n {
		starts = le.AppendUint32(starts, 0x1000+uint32(i)*step)
		places = le.AppendUint32(places, uint32(from+len(infos)))
		infos = append(infos, info(i)...)
		for len(infos)%4 != 0 {
			infos = append(infos, 0)
		}
	}
	for i := range files {
		table = le.AppendUint32(le.AppendUint32(table, 1), uint32(min(i+1, len(text)-2)))
	}
	out := append([]byte("MYSG\x01\x00\x04\x14"), make([]byte, 8)...)
	out = le.AppendUint32(le.AppendUint32(le.AppendUint32(out, uint32(n)), uint32(tables)), uint32(len(text)))
	out = append(out, strings.Repeat("i", 20)...)
	out = append(append(append(out, starts...), places...), le.AppendUint32(nil, uint32(files))...)
	out = append(append(out, table...), text...)
	out = append(out, make([]byte, from-len(out))...)
	return string(append(out, infos...))
}

// gsymFunction describes a function of a size with pieces: kind, bytes.
func gsymFunction(size, name uint32, pieces ...any) []byte {
	le := binary.LittleEndian
	out := le.AppendUint32(le.AppendUint32(nil, size), name)
	for i := 0; i+1 < len(pieces); i += 2 {
		b := pieces[i+1].(string)
		out = append(le.AppendUint32(le.AppendUint32(out, uint32(pieces[i].(int))), uint32(len(b))), b...)
	}
	return append(out, make([]byte, 8)...)
}

// gsymLines is a table of n lines, 2 bytes of code each.
func gsymLines(n int) string { return "\x00\x00\x01" + strings.Repeat("\x03\x01\x02\x02", n) + "\x00" }

var gsymShapes = []formattest.Shape{
	of("gsym/functions", "a.gsym", 2000, func(n int) string {
		return gsymOf(n, 16, 1, "\x00f\x00", func(int) []byte { return gsymFunction(16, 1, 1, gsymLines(2)) })
	}),
	of("gsym/functions at one address", "a.gsym", 10000, func(n int) string {
		return gsymOf(n, 0, 1, "\x00f\x00", func(i int) []byte { return gsymFunction(uint32(i+1), 1, 1, gsymLines(1)) })
	}),
	of("gsym/symbols without a size at one address", "a.gsym", 20000, func(n int) string {
		return gsymOf(n, 0, 1, "\x00f\x00", func(i int) []byte { return gsymFunction(0, 1) })
	}),
	of("gsym/functions of 4 GiB", "a.gsym", 2000, func(n int) string {
		return gsymOf(n, 16, 1, "\x00f\x00", func(int) []byte { return gsymFunction(1<<32-1, 1) })
	}),
	of("gsym/lines", "a.gsym", 8000, func(n int) string {
		return gsymOf(1, 16, 1, "\x00f\x00", func(int) []byte { return gsymFunction(uint32(2*n+2), 1, 1, gsymLines(n)) })
	}),
	of("gsym/inlined in each other", "a.gsym", 2000, func(n int) string {
		one := "\x01\x00\xff\xff\x03\x01\x01\x00\x00\x00\x01\x02"
		return gsymOf(1, 16, 1, "\x00f\x00", func(int) []byte {
			return gsymFunction(0xffff, 1, 2, strings.Repeat(one, n)+strings.Repeat("\x00", n))
		})
	}),
	of("gsym/inlined beside each other", "a.gsym", 4000, func(n int) string {
		var list strings.Builder
		for i := range n {
			list.WriteString("\x01")
			list.Write(binary.AppendUvarint(nil, uint64(4*i)))
			list.WriteString("\x02\x00\x01\x00\x00\x00\x01\x02")
		}
		return gsymOf(1, 16, 1, "\x00f\x00", func(int) []byte {
			return gsymFunction(uint32(4*n), 1, 1, gsymLines(2*n), 2, "\x01\x00\xff\xff\xff\x0f\x01\x01\x00\x00\x00\x00\x00"+list.String()+"\x00")
		})
	}),
	of("gsym/ranges of an inlined function", "a.gsym", 4000, func(n int) string {
		var list strings.Builder
		for i := range n {
			list.Write(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(4*i)), 2))
		}
		return gsymOf(1, 16, 1, "\x00f\x00", func(int) []byte {
			inner := string(binary.AppendUvarint(nil, uint64(n))) + list.String() + "\x00\x01\x00\x00\x00\x01\x02"
			return gsymFunction(uint32(4*n), 1, 2, "\x01\x00\xff\xff\xff\x0f\x01\x01\x00\x00\x00\x00\x00"+inner+"\x00")
		})
	}),
	rejects("damaged functions", of("gsym/files and names in one string", "a.gsym", 2000, func(n int) string {
		return gsymOf(n, 16, n, "\x00"+strings.Repeat("x", 4*n)+"\x00", func(i int) []byte {
			return gsymFunction(16, uint32(4*i+1), 1, "\x00\x00\x01\x01"+string(binary.AppendUvarint(nil, uint64(i)))+"\x02\x01\x00")
		})
	})),
}
