package minidump

import (
	"bufio"
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// walkText reads the output of minidump_stackwalk: Breakpad's, with return addresses as offsets
// (stackwalk_common.cc prints ReturnAddress), and rust-minidump's, which are stepped
// (process_state.rs prints instruction). The registers below a frame tell them apart.
var walkText = report.Document{Begins: walkBegins, Follow: followWalk, Read: readWalk}

func walkBegins(b []byte) bool {
	b = bytes.TrimLeft(b, " \t")
	if len(b) == 0 || b[0] != 'O' && b[0] != 'T' {
		return false
	}
	if bytes.HasPrefix(b, []byte("Operating system: ")) || bytes.HasPrefix(b, []byte("OS|")) && bytes.Count(b, []byte{'|'}) == 2 {
		return true
	}
	_, crashed, ok := parseWalkThread(scan.TrimEnd(b))
	return ok && crashed
}

// parseWalkThread reads "Thread 0 (crashed)", "Thread 34 worker (crashed) - tid: 958997" and "Thread 1".
func parseWalkThread(b []byte) (t walkThread, crashed, ok bool) {
	rest, ok := bytes.CutPrefix(b, []byte("Thread "))
	if !ok {
		return t, false, false
	}
	n, end, ok := scan.Digits(rest, 0)
	if !ok {
		return t, false, false
	}
	t.id = uint64(n)
	rest, tid, said := bytes.Cut(rest[end:], []byte(" - tid: "))
	if said {
		t.id, _, _ = scan.Number(tid, 0)
	}
	rest, crashed = bytes.CutSuffix(rest, []byte(" (crashed)"))
	t.name, t.crashed = string(bytes.TrimSpace(rest)), crashed
	return t, crashed, said || crashed || len(rest) == 0
}

// parseWalkFrame reads
//
//	0  libcart.so + 0x228fe
//	1  shop!main [main.cpp : 35 + 0x5]
//
// A place in a function does not lead to an address: that is what its registers are for.
func parseWalkFrame(b []byte) (f walkFrame, ok bool) {
	b = bytes.TrimRight(b, " \t")
	start := scan.SkipSpace(b, 0)
	_, p, ok := scan.Digits(b, start)
	if !ok || !bytes.HasPrefix(b[p:], []byte("  ")) {
		return f, false
	}
	p = scan.SkipSpace(b, p)
	f.span = [2]int{start, len(b)}
	rest := b[p:]
	f.indent = p - start
	if open := bytes.LastIndex(rest, []byte(" (")); open > 0 && rest[len(rest)-1] == ')' { // as symlake renders dumps
		if f.trust = unwind.ParseTrust(string(rest[open+2 : len(rest)-1])); f.trust != unwind.Untold {
			rest = rest[:open]
		}
	}
	if bang := bytes.IndexByte(rest, '!'); bang > 0 {
		f.module = string(rest[:bang])
		return f, true
	}
	plus := bytes.LastIndex(rest, []byte(" + 0x"))
	if plus <= 0 {
		return f, false
	}
	v, end, ok := scan.Hex(rest, plus+len(" + 0x"))
	if !ok || end != len(rest) {
		return f, false
	}
	f.module, f.offset, f.inside = string(rest[:plus]), v, true
	return f, true
}

// walkCounter is the program counter in a line of registers: "    rip = 0x00005586cb314ff7".
func walkCounter(b []byte) (pc uint64, ok bool) {
	for _, name := range []string{" rip = 0x", " eip = 0x", " pc = 0x"} {
		if i := bytes.Index(b, []byte(name)); i >= 0 {
			pc, _, ok = scan.Hex(b, i+len(name))
			return pc, ok
		}
	}
	return 0, false
}

// parseWalkModule reads "0x5586cb314000 - 0x5586cb315fff  shop  ???  (main)  (WARNING: No symbols, shop, C8B64B56…0)".
func parseWalkModule(b []byte) (img crash.Image, ok bool) {
	b = bytes.TrimLeft(b, " \t")
	if !bytes.HasPrefix(b, scan.HexMark) {
		return img, false
	}
	var p int
	img.Start, p, ok = scan.Hex(b, 2)
	rest, dash := bytes.CutPrefix(b[p:], []byte(" - 0x"))
	if !ok || !dash {
		return img, false
	}
	last, p, ok := scan.Hex(rest, 0)
	rest, gap := bytes.CutPrefix(rest[p:], []byte("  "))
	if !ok || !gap || last < img.Start {
		return img, false
	}
	img.End = last + 1
	name, rest, _ := bytes.Cut(rest, []byte("  "))
	img.Name = string(name)
	if _, warning, found := bytes.Cut(rest, []byte("(WARNING: ")); found {
		warning = bytes.TrimRight(warning, ") ")
		if id := warning[bytes.LastIndexByte(warning, ' ')+1:]; scan.IsHex(id) {
			img.UUID = string(id)
		}
	}
	return img, img.Name != ""
}

func followWalk() report.Follower {
	frames, modules, idle, first := false, false, 0, true
	return func(b []byte) report.Extent {
		b = scan.TrimEnd(b)
		head := first
		first = false
		trimmed := bytes.TrimLeft(b, " \t")
		_, module := parseWalkModule(b)
		_, frame := parseWalkFrame(b)
		_, _, thread := parseWalkThread(trimmed)
		switch {
		case head || len(trimmed) == 0:
			return report.GoesOn
		case frames && (bytes.HasPrefix(trimmed, []byte("Operating system: ")) || bytes.HasPrefix(trimmed, []byte("OS|"))):
			return report.EndedBefore
		case bytes.HasSuffix(trimmed, []byte("oaded modules:")), module:
			modules = true
			return report.GoesOn
		case modules:
			return report.EndedBefore
		case frame || thread || isWalkFields(trimmed):
			frames, idle = frames || !thread, 0
			return report.GoesOn
		}
		if idle++; idle > report.MaxIdleLines {
			return report.EndedBefore
		}
		return report.GoesOn
	}
}

// isWalkFields: a frame for machines, "THREAD|FRAME|MODULE|FUNCTION|FILE|LINE|OFFSET".
func isWalkFields(b []byte) bool {
	_, end, ok := scan.Digits(b, 0)
	return ok && end < len(b) && b[end] == '|' && bytes.Count(b, []byte{'|'}) == 6
}

func readWalk(text []byte, o report.Options) *report.Report {
	w := &stackwalk{form: walkPlain, modules: map[string]walkModule{}}
	var images crash.Images
	var below *walkFrame // its registers come next
	above, rust := 0, false
	fields := map[string]int{} // threads of lines for machines, by number
	scan.EachLine(text, func(at int, line []byte) {
		trimmed := bytes.TrimLeft(line, " \t")
		if img, ok := parseWalkModule(line); ok {
			images = append(images, img)
			w.modules[img.Name] = walkModule{debug: img.UUID}
			return
		}
		if w.machineLine(at, line, fields) {
			return
		}
		if key, value, found := strings.Cut(string(trimmed), ": "); found && len(w.threads) == 0 {
			switch word := strings.TrimSpace(value); key {
			case "Operating system":
				w.system = word
			case "CPU":
				w.arch = report.ProcessorArch(word)
			}
		}
		if t, _, ok := parseWalkThread(trimmed); ok {
			rust = rust || bytes.Contains(trimmed, []byte(" - tid: "))
			w.threads = append(w.threads, t)
			below, above = nil, 0
			return
		}
		if f, ok := parseWalkFrame(line); ok && len(w.threads) > 0 {
			f.span[0] += at
			f.span[1] += at
			t := &w.threads[len(w.threads)-1]
			t.frames = append(t.frames, f)
			below = &t.frames[len(t.frames)-1]
			below.stepped = rust
			below.above, above = above, 0
			return
		}
		if below == nil {
			return
		}
		if bytes.Equal(trimmed, []byte("Found by: inlining")) { // into the next
			t := &w.threads[len(w.threads)-1]
			above = below.above + 1
			t.frames, below = t.frames[:len(t.frames)-1], nil
			return
		}
		if pc, ok := walkCounter(line); ok {
			below.addr, below.placed = pc, true
			if below.inside { // images begin on pages
				below.stepped = (pc-below.offset)%4096 != 0
			} else {
				below.stepped = false
			}
		}
	})
	images.Sort()
	for i := range w.threads {
		for j := range w.threads[i].frames {
			f := &w.threads[i].frames[j]
			if img := images.At(f.addr); !f.inside && f.placed && img != nil && img.Name == f.module {
				f.offset, f.inside = f.addr-img.Start, true
			}
		}
		w.threads[i].frames = slices.DeleteFunc(w.threads[i].frames, func(f walkFrame) bool { return !f.inside && !f.placed })
	}
	return w.stack(text, o)
}

// machineLine takes a line of the output for machines.
func (w *stackwalk) machineLine(at int, line []byte, threads map[string]int) bool {
	if bytes.Count(line, []byte{'|'}) < 2 {
		return false
	}
	fields := strings.Split(string(line), "|")
	switch fields[0] {
	case "OS":
		w.system = fields[1]
		return true
	case "CPU":
		w.arch = report.ProcessorArch(fields[1])
		return true
	case "Module":
		if len(fields) > 4 {
			w.modules[fields[1]] = walkModule{debug: fields[4]}
		}
		return true
	}
	if !isWalkFields(line) {
		return false
	}
	w.form = walkFields
	t, known := threads[fields[0]]
	if !known {
		t = len(w.threads)
		threads[fields[0]] = t
		id, _ := strconv.ParseUint(fields[0], 10, 64)
		w.threads = append(w.threads, walkThread{id: id})
	}
	f := walkFrame{span: [2]int{at, at + len(line)}, module: fields[2]}
	if fields[3] == "" && f.module != "" { // else it counts from the function
		f.offset, _, f.inside = scan.Hex([]byte(strings.TrimPrefix(fields[6], "0x")), 0)
	}
	w.threads[t].frames = append(w.threads[t].frames, f)
	return true
}

// printWalk writes answers in place of the text behind a frame's number.
func printWalk(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer) {
	crash.PrintBehind(out, s, answers, func(out *bufio.Writer, f *report.Frame, at *symbol.Frame) {
		out.WriteString(scan.OneLine(f.File) + "!" + scan.OneLine(report.FunctionName(at)))
		if at.File != "" {
			out.WriteString(" [" + scan.OneLine(path.Base(at.File)) + " : " + strconv.FormatUint(uint64(at.Line), 10) + "]")
		}
	})
}

// printWalkFields fills a frame's fields, a line for each function of its chain, innermost first.
func printWalkFields(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer) {
	done := 0
	report.Each(s, answers, func(f *report.Frame, chain []symbol.Frame) {
		out.Write(s.Text[done:f.Span[0]])
		done = f.Span[1]
		fields := bytes.Split(s.FrameText(f), []byte{'|'})
		field := func(text string) string { return strings.ReplaceAll(scan.OneLine(text), "|", "/") }
		for i := range chain {
			if i > 0 {
				out.WriteString(scan.LineEnd(s.Text, f.Span[1]))
			}
			line := ""
			if chain[i].File != "" {
				line = strconv.FormatUint(uint64(chain[i].Line), 10)
			}
			out.Write(bytes.Join(fields[:3], []byte{'|'}))
			out.WriteString("|" + field(report.FunctionName(&chain[i])) + "|" + field(chain[i].File) + "|" + line + "|")
			out.Write(fields[6])
		}
	})
	out.Write(s.Text[done:])
}
