package core

import (
	"bytes"
	"encoding/hex"
	"slices"
	"sort"
	"strings"

	"github.com/symlake/symlake/formats/report/internal/walked"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// mapping is a file that was mapped, or a part of one.
type mapping struct {
	start, end, offset uint64
	path               string
}

const (
	maxMappings = 1 << 16
	pageBytes   = 4 << 10 // that hold a module's headers
	vdsoName    = "linux-vdso.so.1"
	noteBuildID = 3
)

// mapped takes the list of mapped files.
func (c *core) mapped(f fields) {
	word := c.process.Arch.Word
	count, page := f.word(0), f.word(word)
	table := uint64(2 * word)
	if count > maxMappings || table+count*uint64(3*word) > uint64(len(f.b)) || page > 1<<30 {
		return
	}
	names := f.b[table+count*uint64(3*word):]
	for i := range int(count) {
		at := int(table) + 3*i*word
		path, rest, ended := bytes.Cut(names, []byte{0})
		if !ended {
			return
		}
		names = rest
		c.files = append(c.files, mapping{f.word(at), f.word(at + word), f.word(at+2*word) * page, string(path)})
	}
}

// modules makes modules of the files that were mapped with code: the parts of a file from its first byte on.
func (c *core) modules() {
	for i := 0; i < len(c.files); {
		first := c.files[i]
		end, executed := first.end, c.executes(first)
		for i++; i < len(c.files) && c.files[i].path == first.path && c.files[i].offset != 0; i++ {
			end = max(end, c.files[i].end)
			executed = executed || c.executes(c.files[i])
		}
		if first.offset == 0 && first.start < end && executed {
			c.add(first.start, end, first.path)
		}
	}
	if i := c.segmentFrom(c.vdso); c.vdso != 0 && i < len(c.loads) && c.loads[i].addr == c.vdso {
		c.add(c.vdso, c.vdso+c.loads[i].size, vdsoName)
	}
	c.process.SortModules()
}

func (c *core) add(base, end uint64, path string) {
	m := unwind.Module{Base: base, Size: end - base, Path: strings.TrimSuffix(path, " (deleted)"), Kind: symbol.ELF}
	if id := c.buildID(base); id != "" {
		m.IDs = []string{id}
	}
	c.process.Modules = append(c.process.Modules, m)
}

// executes reports whether a mapping holds code.
func (c *core) executes(m mapping) bool {
	i, _ := slices.BinarySearch(c.code, m.start)
	return i < len(c.code) && c.code[i] < m.end
}

// segmentFrom returns the index of the first segment at or behind an address.
func (c *core) segmentFrom(addr uint64) int {
	return sort.Search(len(c.loads), func(i int) bool { return c.loads[i].addr >= addr })
}

// buildID reads the build-id of the module that was mapped at base from memory; "": there is none.
func (c *core) buildID(base uint64) (id string) {
	image := c.process.Memory.At(base)
	b := image.Bytes
	if uint64(len(b)) < base-image.Start+64 {
		return ""
	}
	b = b[base-image.Start:]
	if !bytes.HasPrefix(b, []byte("\x7fELF")) {
		return ""
	}
	whole := core{File: walked.File{Head: b}, wide: c.wide}
	whole.headers(b[:64], 0, func(kind uint32, s segment) {
		if kind != segmentNote || id != "" {
			return
		}
		eachNote(whole.At(s.offset, s.size), func(name string, kind uint32, desc []byte) { // the first page is mapped as the file has it
			if name == "GNU" && kind == noteBuildID && len(desc) >= 8 && len(desc) <= 64 && id == "" {
				id = hex.EncodeToString(desc)
			}
		})
	})
	return id
}

// memory is the memory that the file keeps.
func (c *core) memory() unwind.Pieces {
	var all []unwind.Piece
	for _, s := range c.loads {
		c.Each(s.offset, s.size, func(at uint64, b []byte) {
			all = append(all, unwind.Piece{Start: s.addr + at - s.offset, Bytes: b})
		})
	}
	return unwind.Sorted(all)
}

// wants are the parts of a long file that are kept: stacks, and the first page of each module.
func (c *core) wants() *walked.Wants {
	var w walked.Wants
	for _, m := range c.files {
		if i := c.segmentFrom(m.start); m.offset == 0 && i < len(c.loads) && c.loads[i].addr == m.start {
			w.Add(c.loads[i].offset, min(c.loads[i].size, pageBytes))
		}
	}
	for i := range c.process.Threads {
		sp, _ := c.process.Threads[i].Registers.Get(c.process.Arch.SP)
		if k := c.segmentFrom(sp+1) - 1; k >= 0 && sp != 1<<64-1 {
			w.Stack(c.loads[k].offset, c.loads[k].size, sp-c.loads[k].addr)
		}
	}
	return &w
}
