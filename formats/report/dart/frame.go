package dart

import (
	"strconv"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// rootUnit is the number of the loading unit that a program begins with.
const rootUnit = 1

// add adds the frame that find found.
func (r *lines) add(found *report.Found) {
	f, step := r.b.Frame(&found.Place)
	if !r.native {
		r.place(&f, step)
	}
	r.b.Add(f)
}

// place fills in what a line of Dart says of its image and place.
func (r *lines) place(f *report.Frame, step report.Stepper) {
	d, h := &r.line, &r.header
	unit := d.unit
	f.At = symbol.Where{}
	at := func(space symbol.Space, value, load uint64, anchor string) {
		w := symbol.Where{Space: space, Value: step.Step(value), Load: load, Anchor: anchor}
		if f.At == (symbol.Where{}) {
			f.At = w
		} else {
			f.Or = append(f.Or, w)
		}
	}
	if d.anchor != "" {
		at(symbol.Anchored, d.offset, 0, d.anchor)
	} else if start, anchor, of, ok := h.nearest(d.abs, unit); ok {
		at(symbol.Anchored, d.abs-start, 0, anchor)
		unit = of
	}
	if d.hasVirt {
		at(symbol.Unslid, d.virt, 0, "")
	}
	base := h.base
	if unit > rootUnit {
		base = h.units[unit].base
	}
	if base != 0 && d.abs > base {
		at(symbol.Loaded, d.abs, base, "")
	}
	if f.At == (symbol.Where{}) { // the report does not say where it was loaded
		at(symbol.Loaded, d.abs, report.Nowhere, "")
	}
	f.Deferred = unit > rootUnit
	if h.build != "" {
		f.Program = r.b.Intern([]byte(h.build))
	}
	f.Kind = h.kind()
	f.Image = r.image(f.Image, unit)
}

// image names the artifact of a loading unit. names are the names in the line itself. A unit without a
// name is not the root's.
func (r *lines) image(names []string, unit int) []string {
	if given := r.b.Options().Units[unit]; given != "" {
		return []string{given}
	}
	build := r.header.build
	if unit > 0 {
		if u, known := r.header.units[unit]; known && u.build != "" {
			build = u.build
		} else if unit > rootUnit {
			return []string{"loading unit " + strconv.Itoa(unit)}
		}
	}
	if build != "" {
		names = append([]string{r.b.Intern([]byte(build))}, names...)
	}
	return names
}

// nearest is the beginning of the instructions that lies nearest below an
// address, and the loading unit that they belong to. Where the line names the
// unit, only that one's are meant.
func (h *header) nearest(addr uint64, unit int) (start uint64, anchor string, of int, ok bool) {
	try := func(at uint64, name string, n int) {
		if at == 0 || at > addr || ok && at < start || unit > 0 && n != unit {
			return
		}
		start, anchor, of, ok = at, name, n, true
	}
	try(h.vm, symbol.DartVM, rootUnit)
	try(h.isolate, symbol.DartIsolate, rootUnit)
	for n, u := range h.units {
		if n != rootUnit {
			try(u.start, symbol.DartIsolate, n)
		}
	}
	return start, anchor, of, ok
}

// kind of the artifacts that a trace's frames name, as far as the system tells.
func (h *header) kind() symbol.Kind {
	switch h.system {
	case "ios", "macos":
		return "" // Mach-O now, ELF in older SDKs
	case "":
		return ""
	}
	return symbol.ELF
}
