// Package core reads core files of Linux: ELF files of a process that stopped, with the registers of its threads and its memory.
//
// As with a minidump, the package makes a process, which package formats/unwind walks: by frame pointers and scans alone, or with
// the rules of a store (see report.Walk). Modules are the files that were mapped with code; their build-ids stand in memory.
//
// Files of other systems and of big-endian processors pass as they are.
package core

import (
	"io"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/walked"
)

// Dialect reads core files.
var Dialect = report.Dialect{
	Name:  "core",
	Forms: []*report.Form{coreFile},
	Files: []report.File{{Begins: begins, Read: read, Long: readLong}},
}

var coreFile = &report.Form{Name: "core", Frame0: report.Exact, Lines: "a core file of Linux: where each thread stood, and its callers, each with how it was found"}

// whyBehind is said of the long files that gdb's gcore writes.
const whyBehind = "the core file has its notes behind more memory than symlake holds: hand in the kernel's core file, or a minidump"

// read makes a report of a file; nil if it is none, or has no threads.
func read(b []byte, o report.Options) *report.Report {
	c := &core{File: walked.File{Head: b}}
	if !c.open() || !c.readNotes() {
		return nil
	}
	return c.report(o)
}

// readLong makes a report of a file that is too long to be held. It keeps the memory at stack pointers and at the beginning of
// modules; nil: it has read nothing of rest, and head is no such file. The kernel writes the notes in front of the memory. A
// file that has them behind it cannot be read in one go: its report says so.
func readLong(head []byte, rest io.Reader, o report.Options) (*report.Report, error) {
	c := &core{File: walked.File{Head: head}}
	if !c.open() {
		return nil, nil
	}
	noted := c.readNotes()
	if err := c.Keep(rest, c.wants()); err != nil {
		return nil, err
	}
	if !noted {
		return &report.Report{Text: []byte("Core: the threads are not known\n"), Unread: []report.Unread{{Why: whyBehind}}}, nil
	}
	if r := c.report(o); r != nil {
		return r, nil
	}
	return &report.Report{Text: []byte("Core: no thread has registers\n")}, nil
}

// report makes the report. The notes must be read.
func (c *core) report(o report.Options) *report.Report {
	c.process.Memory = c.memory()
	c.modules()
	for i := range c.process.Threads {
		t := &c.process.Threads[i]
		sp, _ := t.Registers.Get(c.process.Arch.SP)
		t.Stack = c.process.Memory.At(sp)
	}
	d := walked.Dump{Form: coreFile, Title: "Core", Arch: c.process.Arch.Name, Notes: c.notes, Process: &c.process}
	return d.Report(o)
}
