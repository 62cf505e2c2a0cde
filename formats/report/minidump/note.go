package minidump

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/unwind"
)

// maxNotes bounds the lines of the rendering's head.
const maxNotes = 1 << 10

// exception notes why a process failed.
func (d *dump) exception(e []byte) {
	code, at := u32(e, 8), u64(e, 24)
	d.note("Exception", fmt.Sprintf("code %#x at %#x", code, at))
}

// assertion notes what Breakpad keeps of an assertion that failed.
func (d *dump) assertion(b []byte) {
	const words = 128 * 2
	if len(b) < 3*words+8 {
		return
	}
	expression, function, name := wide(b[:words]), wide(b[words:2*words]), wide(b[2*words:3*words])
	d.note("Assertion", fmt.Sprintf("%s in %s (%s:%d)", expression, function, name, u32(b, 3*words)))
}

// misc notes which process it was.
func (d *dump) misc(b, cmdline []byte) {
	if u32(b, 4)&1 != 0 { // flags: the process id is said
		d.note("Process", fmt.Sprint(u32(b, 8)))
	}
	if line := bytes.TrimRight(cmdline[:min(len(cmdline), 4<<10)], "\x00\n"); len(line) > 0 {
		d.note("Command", strings.ReplaceAll(string(line), "\x00", " "))
	}
}

// crashpad notes the annotations of a process and of its modules.
func (d *dump) crashpad(b []byte) {
	if len(b) < 52 {
		return
	}
	d.dictionary("Annotation", d.location(b, 36))
	list := array(d.streams[moduleStream], 108, maxModules)
	for _, link := range array(d.location(b, 44), 12, maxModules) {
		info, name := d.location(link, 4), ""
		if i := u32(link, 0); int64(i) < int64(len(list)) {
			m := unwind.Module{Path: d.text(u32(list[i], 20))}
			name = " of " + m.Name()
		}
		if len(info) < 20 {
			continue
		}
		for _, at := range array(d.location(info, 4), 4, maxNotes) {
			d.note("Annotation"+name, d.narrow(u32(at, 0)))
		}
		d.dictionary("Annotation"+name, d.location(info, 12))
		for _, object := range array(d.location(info, 20), 12, maxNotes) {
			if u16(object, 4) == 1 { // a string
				d.note("Annotation"+name, d.narrow(u32(object, 0))+" = "+d.narrow(u32(object, 8)))
			}
		}
	}
}

// dictionary notes the entries of a simple dictionary.
func (d *dump) dictionary(key string, b []byte) {
	for _, e := range array(b, 8, maxNotes) {
		d.note(key, d.narrow(u32(e, 0))+" = "+d.narrow(u32(e, 4)))
	}
}
