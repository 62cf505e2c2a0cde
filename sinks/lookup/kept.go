package lookup

import (
	"strings"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
)

// kept bounds the memory of answers that a batch keeps until all are there. What stands in the client's caches is not
// counted: their own bounds hold for it. Each call answers for what it brings in.
//
// The strings of an answer are pieces of its block, so an answer keeps all of the block's text. That is the cheapest as
// long as new blocks are few. Beyond keptBlocks, answers get strings of their own.
type kept struct {
	room  func(bytes int64) error // nil: there is no bound
	bytes int64                   // of the blocks that were read
	long  map[string]string       // demangled names that may be too long for the cache, by linkage name
}

const (
	keptBlocks = 1 << 20
	// longName is the length from which on demangled names are counted, and remembered by the batch itself.
	longName = 1 << 10
)

// demangle fills in what people read. A name that is too long for the client's cache is made once a batch.
func (b *Batch) demangle(e *entry, frames []symbol.Frame) {
	if b.kept.room == nil || b.answers == nil {
		b.c.demangle(e, frames)
		return
	}
	for i := range frames {
		f := &frames[i]
		if name, known := b.long[f.Linkage]; known {
			f.Function = name
			continue
		}
		b.c.demangle(e, frames[i:i+1])
	}
}

// brought counts a block that was read for this batch.
func (b *Batch) brought(bytes int64) {
	if b.kept.room == nil || b.answers == nil {
		return
	}
	if b.bytes += bytes; b.bytes > keptBlocks {
		return
	}
	if err := b.kept.room(bytes); err != nil && b.failed == nil {
		b.failed = err
	}
}

// keep counts the memory of an answer that stays. The error is that of the room.
func (b *Batch) keep(frames []symbol.Frame) error {
	n := int64(len(frames)) * int64(unsafe.Sizeof(symbol.Frame{}))
	for i := range frames {
		f := &frames[i]
		same := f.Function == f.Linkage
		if b.bytes > keptBlocks {
			n += int64(len(f.Linkage) + len(f.File) + len(f.Name))
			f.Linkage, f.File, f.Name = strings.Clone(f.Linkage), strings.Clone(f.File), strings.Clone(f.Name)
		}
		switch {
		case same:
			f.Function = f.Linkage
		case len(f.Function) >= longName:
			if _, known := b.long[f.Linkage]; !known {
				if b.long == nil {
					b.long = map[string]string{}
				}
				b.long[f.Linkage] = f.Function
				n += int64(len(f.Function))
			}
		}
	}
	return b.kept.room(n)
}
