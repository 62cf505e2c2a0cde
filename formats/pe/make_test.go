package pe

import (
	"encoding/binary"

	"github.com/symlake/symlake/formats/internal/pefile"
)

// piece is a section of an image that a test makes.
type piece struct {
	name string
	addr uint32
	size uint32 // in memory; 0: the size of body
	code bool
	body []byte
}

// imageOf makes an image of 64 bits.
func imageOf(machine uint16, directories map[int]pefile.Directory, pieces ...piece) []byte {
	le := binary.LittleEndian
	b := make([]byte, 64)
	copy(b, "MZ")
	le.PutUint32(b[60:], 64)
	b = append(b, "PE\x00\x00"...)
	b = le.AppendUint16(le.AppendUint16(b, machine), uint16(len(pieces)))
	b = le.AppendUint32(b, 0x5f000000)
	b = append(b, make([]byte, 8)...)
	b = le.AppendUint16(le.AppendUint16(b, 240), 0x2022)
	optional := make([]byte, 240)
	le.PutUint16(optional, 0x20b)
	le.PutUint64(optional[24:], 0x180000000)
	le.PutUint32(optional[56:], 0x100000)
	le.PutUint32(optional[60:], 0x400)
	le.PutUint32(optional[108:], 16)
	for i, d := range directories {
		le.PutUint32(optional[112+8*i:], d.Addr)
		le.PutUint32(optional[116+8*i:], d.Size)
	}
	b = append(b, optional...)
	at := len(b) + 40*len(pieces)
	var bodies []byte
	for _, p := range pieces {
		var h [40]byte
		copy(h[:8], p.name)
		le.PutUint32(h[8:], max(p.size, uint32(len(p.body))))
		le.PutUint32(h[12:], p.addr)
		le.PutUint32(h[16:], uint32(len(p.body)))
		if len(p.body) > 0 {
			le.PutUint32(h[20:], uint32(at+len(bodies)))
		}
		le.PutUint32(h[36:], 0x40000040)
		if p.code {
			le.PutUint32(h[36:], 0x60000020)
		}
		b = append(b, h[:]...)
		bodies = append(bodies, p.body...)
	}
	return append(b, bodies...)
}

const (
	codeAt  = 0x1000
	tableAt = 0x100000
	codeFor = 0x80000
)

// framesOf makes an image of code with a function table; what the table leads to lies behind it.
func framesOf(machine uint16, table, information []byte) []byte {
	d := map[int]pefile.Directory{pefile.DirException: {Addr: tableAt, Size: uint32(len(table))}}
	return imageOf(machine, d, piece{name: ".text", addr: codeAt, size: codeFor, code: true},
		piece{name: ".pdata", addr: tableAt, body: append(table[:len(table):len(table)], information...)})
}

// words is numbers of 32 bits.
func words(all ...uint32) (b []byte) {
	for _, v := range all {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}
