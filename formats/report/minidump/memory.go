package minidump

import (
	"io"
	"slices"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/walked"
	"github.com/symlake/symlake/formats/unwind"
)

// memory takes the memory that the file keeps. Pieces alias the file.
func (d *dump) memory() {
	var all []unwind.Piece
	d.eachPiece(func(start, size, at uint64) {
		d.Each(at, size, func(from uint64, b []byte) {
			all = append(all, unwind.Piece{Start: start + from - at, Bytes: b})
		})
	})
	d.process.Memory = unwind.Sorted(all)
}

// eachPiece visits the pieces of memory: where they were, their bytes, and where those stand in the file.
func (d *dump) eachPiece(visit func(start, size, at uint64)) {
	for _, m := range array(d.streams[memoryStream], 16, maxPieces) {
		visit(u64(m, 0), uint64(u32(m, 8)), uint64(u32(m, 12)))
	}
	s := d.streams[memory64Stream] // of dumps with full memory
	if len(s) < 16 {
		return
	}
	at := u64(s, 8)
	for _, m := range elements(s[16:], int(min(u64(s, 0), maxPieces)), 16) {
		start, size := u64(m, 0), u64(m, 8)
		if at+size < at {
			return
		}
		visit(start, size, at)
		at += size
	}
}

// noThreads stands for a long dump that gives no frames.
const noThreads = "Minidump: no thread with registers stands in its first 32 MiB\n"

// readLong makes a report of a dump that is too long to be held: head is its beginning, which must hold all streams but memory,
// and rest follows. It keeps the memory at stack pointers; nil: it has read nothing of rest, and head is no such dump.
func readLong(head []byte, rest io.Reader, o report.Options) (*report.Report, error) {
	d := &dump{file: file{File: walked.File{Head: head}}}
	if !d.open() {
		return nil, nil
	}
	d.read()
	if err := d.Keep(rest, d.wants()); err != nil {
		return nil, err
	}
	d.memory()
	d.threads()
	if r := d.report(o); r != nil {
		return r, nil
	}
	return &report.Report{Text: []byte(noThreads)}, nil
}

// wants are the stacks of all threads.
func (d *dump) wants() *walked.Wants {
	var w walked.Wants
	sps := d.pointers()
	d.eachPiece(func(start, size, at uint64) {
		if at+size <= uint64(len(d.Head)) || start+size < start {
			return
		}
		i, _ := slices.BinarySearch(sps, start)
		for ; i < len(sps) && sps[i]-start < size; i++ {
			w.Stack(at, size, sps[i]-start)
		}
	})
	return &w
}

// pointers are the stack pointers of all threads, ascending.
func (d *dump) pointers() (all []uint64) {
	if d.process.Arch == nil {
		return nil
	}
	contexts := [][]byte{d.context}
	for _, t := range array(d.streams[threadStream], 48, maxThreads) {
		contexts = append(contexts, d.location(t, 40))
	}
	for _, c := range contexts {
		var r unwind.Registers
		if d.registers(c, &r) {
			sp, _ := r.Get(d.process.Arch.SP)
			all = append(all, sp)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
