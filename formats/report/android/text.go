package android

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/report"
)

const (
	starLine = "*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***"
	dashLine = "--- --- --- --- --- --- --- --- --- --- --- --- --- --- --- ---"
)

// pbArchs are the ABIs by the number of Architecture.
var pbArchs = [...]string{"arm", "arm64", "x86", "x86_64", "riscv64"}

// render writes the text form: the crashed thread first, then the others. Each thread repeats the command line and what
// the report says of the process, so that a small message may have a long text: false, if it is too long.
func (t *pbTombstone) render(o *report.Options) ([]byte, bool) {
	w := &tombstoneWriter{o: o, wide: t.arch == 1 || t.arch >= 3}
	abi := "<unknown>"
	if t.arch < uint64(len(pbArchs)) {
		abi = pbArchs[t.arch]
	}
	w.line(starLine)
	w.line("Build fingerprint: '%s'", t.fingerprint)
	if t.kernel != "" {
		w.line("Kernel Release: '%s'", t.kernel)
	}
	w.line("Revision: '%s'", t.revision)
	w.line("ABI: '%s'", abi)
	if t.guested && t.guestArch < uint64(len(pbArchs)) {
		w.line("Guest architecture: '%s'", pbArchs[t.guestArch])
	}
	w.line("Timestamp: %s", t.timestamp)
	w.line("Process uptime: %ds", t.uptime)
	switch {
	case t.pageSize != 0 && t.pageSize != 4096:
		w.line("Page size: %d bytes", t.pageSize)
	case t.bigPages:
		w.line("Has been in 16 KB mode before: yes")
	}
	for i := range t.threads {
		if th := &t.threads[i]; th.id == t.tid {
			w.thread(t, th, true)
		}
	}
	w.maps(t.maps)
	for i := range t.threads {
		if th := &t.threads[i]; th.id != t.tid {
			w.line(dashLine)
			w.thread(t, th, false)
		}
	}
	for i := range t.guests {
		w.line(dashLine)
		w.thread(t, &t.guests[i], false)
	}
	if len(t.files) > 0 {
		w.line("")
		w.line("open files:")
	}
	for _, f := range t.files {
		owner := "unowned"
		if f.owner != "" {
			owner = fmt.Sprintf("owned by %s %#x", f.owner, f.tag)
		}
		w.line("    fd %d: %s (%s)", f.number, f.path, owner)
	}
	for _, l := range t.logs {
		w.line("--------- log %s", l.name)
		for _, line := range l.lines {
			w.line("%s", line)
		}
	}
	return w.Bytes(), !w.full
}

// tombstoneWriter writes lines.
type tombstoneWriter struct {
	bytes.Buffer
	o    *report.Options
	told int  // bytes that room was asked for
	full bool // the text is too long: nothing more is written
	wide bool // pointers of 8 bytes
}

// fits reports whether more may be written. It asks for room by the MiB, twice: a buffer that grows is copied.
func (w *tombstoneWriter) fits() bool {
	if n := w.Len() - w.told; n > 1<<20 {
		w.told += n
		w.full = w.full || !w.o.Takes(2*n)
	}
	w.full = w.full || w.Len() > report.MaxDocumentBytes
	return !w.full
}

func (w *tombstoneWriter) line(format string, args ...any) {
	if w.fits() {
		fmt.Fprintf(w, format, args...)
		w.WriteByte('\n')
	}
}

// pointer is an address at its full width.
func (w *tombstoneWriter) pointer(v uint64) string {
	if w.wide {
		return fmt.Sprintf("%016x", v)
	}
	return fmt.Sprintf("%08x", v)
}

func (w *tombstoneWriter) thread(t *pbTombstone, th *pbThread, crashed bool) {
	if !w.fits() {
		return
	}
	process := "<unknown>"
	if len(t.command) > 0 {
		process = t.command[0]
	}
	if th.guest {
		w.line("Guest thread information for tid: %d", th.id)
	}
	if t.executable != "" {
		w.line("Executable: %s", t.executable)
	}
	w.line("Cmdline: %s", strings.Join(t.command, " "))
	w.line("pid: %d, tid: %d, name: %s  >>> %s <<<", t.pid, th.id, th.name, process)
	w.line("uid: %d", t.uid)
	if crashed {
		w.signal(t)
	}
	for i := 0; i < len(th.registers); i += 4 {
		w.WriteString("   ")
		for _, r := range th.registers[i:min(i+4, len(th.registers))] {
			fmt.Fprintf(w, " %-3s %s ", r.name, w.pointer(r.value))
		}
		w.WriteByte('\n')
	}
	w.line("")
	w.line("%d total frames", len(th.frames))
	w.line("backtrace:")
	for _, n := range th.notes {
		w.line("  NOTE: %s", n)
	}
	w.frames(th.frames)
	if !crashed {
		return
	}
	for i := range t.history {
		w.record(&t.history[i])
	}
	for _, c := range t.causes {
		if len(t.causes) > 1 {
			w.line("")
			w.line("Cause: %s", c.text)
		}
		if len(c.deallocated) > 0 {
			w.line("")
			w.line("deallocated by thread %d:", c.freeTID)
			w.frames(c.deallocated)
		}
		if len(c.allocated) > 0 {
			w.line("")
			w.line("allocated by thread %d:", c.allocTID)
			w.frames(c.allocated)
		}
	}
}

func (w *tombstoneWriter) signal(t *pbTombstone) {
	if !t.signaled {
		w.line("signal information missing")
	} else {
		s := &t.signal
		sender, address := "", "--------"
		if s.hasSender {
			sender = fmt.Sprintf(" from pid %d, uid %d", s.senderPID, s.senderUID)
		}
		if s.hasAddress {
			address = "0x" + w.pointer(s.address)
		}
		w.line("signal %d (%s), code %d (%s%s), fault addr %s", int32(s.number), s.name, int32(s.code), s.codeName, sender, address)
	}
	if len(t.causes) == 1 {
		w.line("Cause: %s", t.causes[0].text)
	}
	if t.abort != "" {
		w.line("Abort message: '%s'", t.abort)
	}
	for _, d := range t.details {
		w.line("Extra crash detail: %s: '%s'", d.name, d.data)
	}
}

// record writes an entry of the history of stack frames.
func (w *tombstoneWriter) record(r *pbRecord) {
	build := ""
	if r.frame.build != "" {
		build = " (BuildId: " + r.frame.build + ")"
	}
	w.line("stack_record fp:%#x tag:%#x pc:%s+%#x%s", r.fp, r.tag, r.frame.file, r.frame.relPC, build)
}

func (w *tombstoneWriter) frames(frames []pbFrame) {
	for i := range frames {
		f := &frames[i]
		if !w.fits() {
			return
		}
		fmt.Fprintf(w, "      #%02d pc %s  %s", i, w.pointer(f.relPC), f.file)
		if f.mapOffset != 0 {
			fmt.Fprintf(w, " (offset %#x)", f.mapOffset)
		}
		if f.FunctionName != "" {
			fmt.Fprintf(w, " (%s+%d)", f.FunctionName, f.offset)
		}
		if f.build != "" {
			fmt.Fprintf(w, " (BuildId: %s)", f.build)
		}
		w.WriteByte('\n')
	}
}

func (w *tombstoneWriter) maps(maps []pbMap) {
	w.line("")
	if len(maps) == 0 {
		w.line("No memory maps found")
		return
	}
	w.line("memory map (%d entries):", len(maps))
	for _, m := range maps {
		flags := []byte("---")
		for i, set := range []bool{m.read, m.write, m.execute} {
			if set {
				flags[i] = "rwx"[i]
			}
		}
		fmt.Fprintf(w, "    %s-%s %s  %8x  %8x", w.pointer(m.begin), w.pointer(m.end-1), flags, m.offset, m.end-m.begin)
		if m.name != "" {
			w.WriteString("  " + m.name)
		}
		if m.build != "" {
			fmt.Fprintf(w, " (BuildId: %s)", m.build)
		}
		if m.bias != 0 {
			fmt.Fprintf(w, " (load bias %#x)", m.bias)
		}
		w.WriteByte('\n')
	}
}
