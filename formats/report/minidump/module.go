package minidump

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// module takes an entry of the list of modules.
func (d *dump) module(b []byte) {
	m := unwind.Module{Base: u64(b, 0), Size: uint64(u32(b, 8)), Path: d.text(u32(b, 20)), Kind: d.kind()}
	record := d.At(uint64(u32(b, 80)), uint64(min(u32(b, 76), report.MaxLineBytes)))
	m.IDs = ids(record, m.Kind)
	if m.Kind == symbol.PE && (u32(b, 16) != 0 || m.Size != 0) {
		m.IDs = append(m.IDs, codeID(u32(b, 16), u32(b, 8)))
	}
	if m.Size > 0 && m.Base+m.Size > m.Base {
		d.process.Modules = append(d.process.Modules, m)
	}
}

// codeID spells the name of a Windows image by its timestamp and its size, as symbol servers do.
func codeID(stamp, size uint32) string { return fmt.Sprintf("%08X%x", stamp, size) }

// ids returns the names of an image by its CodeView record, best first; none: the record says nothing, or only zeros.
func ids(record []byte, kind symbol.Kind) []string {
	switch {
	case len(record) >= 24 && string(record[:4]) == "RSDS":
		id := record[4:20]
		guid := fmt.Sprintf("%08x-%04x-%04x-%x-%x", u32(id, 0), u16(id, 4), u16(id, 6), id[8:10], id[10:])
		switch {
		case len(bytes.Trim(id, "\x00")) == 0:
			return nil
		case kind == symbol.PE:
			return []string{guid + "-" + strconv.FormatUint(uint64(u32(record, 20)), 16)}
		}
		return []string{guid}
	case len(record) >= 16 && string(record[:4]) == "NB10": // of a PDB before version 7: a timestamp and an age
		return []string{fmt.Sprintf("%08X%x", u32(record, 8), u32(record, 12))}
	case len(record) > 4 && len(record) <= 4+64 && string(record[:4]) == "LEpB": // 'BpEL'
		id := record[4:]
		if len(bytes.Trim(id, "\x00")) == 0 {
			return nil
		}
		names := []string{hex.EncodeToString(id)}
		if len(id) != 16 { // files of Breakpad know 16 bytes of it
			var cut [16]byte
			copy(cut[:], id)
			names = append(names, hex.EncodeToString(cut[:]))
		}
		return names
	}
	return nil
}

// unloaded reads the list of modules that were mapped once. It has a header of its own.
func (d *dump) unloaded(b []byte) {
	header, entry, n := u32(b, 0), u32(b, 4), u32(b, 8)
	if header < 12 || uint64(header) > uint64(len(b)) || entry < 24 || entry > 1<<10 {
		return
	}
	for _, e := range elements(b[header:], int(min(n, maxUnloaded)), int(entry)) {
		m := unwind.Module{Base: u64(e, 0), Size: uint64(u32(e, 8)), Path: d.text(u32(e, 20)), Kind: d.kind()}
		if m.Kind == symbol.PE {
			m.IDs = []string{codeID(u32(e, 16), u32(e, 8))}
		}
		d.process.Unloaded = append(d.process.Unloaded, m)
	}
}

// mapped takes modules from the maps of Linux, for dumps without a list: of each file, from its first mapping to its last.
func (d *dump) mapped(maps []byte) {
	var last *unwind.Module
	scan.EachLine(maps, func(_ int, line []byte) {
		if len(d.process.Modules) == maxModules {
			return
		}
		fields := strings.Fields(string(line))
		if len(fields) < 6 || fields[5][0] != '/' {
			return
		}
		from, to, _ := strings.Cut(fields[0], "-")
		start, err := strconv.ParseUint(from, 16, 64)
		end, wrong := strconv.ParseUint(to, 16, 64)
		if err != nil || wrong != nil || end <= start || !d.counts(len(line)) {
			return
		}
		path := strings.Join(fields[5:], " ")
		if last != nil && last.Path == path && end > last.Base {
			last.Size = end - last.Base
			return
		}
		d.process.Modules = append(d.process.Modules, unwind.Module{Base: start, Size: end - start, Path: path, Kind: d.kind()})
		last = &d.process.Modules[len(d.process.Modules)-1]
	})
}
