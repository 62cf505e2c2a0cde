package breakpad

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/cfi"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

var (
	stackCFIWord  = []byte("STACK CFI ")
	stackInitWord = []byte("STACK CFI INIT ")
	stackWinWord  = []byte("STACK WIN ")
)

const (
	maxTexts   = 4096 // parsed rules that are kept
	maxProgram = unwind.MaxBytes - 64
)

// stacks reads the STACK records of a file.
type stacks struct {
	arch  *unwind.Arch
	table *cfi.Table
	lim   *formats.Limits
	texts map[string]*unwind.Rules // nil: they do not parse

	// The function of the last STACK CFI INIT: its rules from at on.
	open    bool
	at, end uint64
	rules   unwind.Rules

	frames   []window // of STACK WIN, in the file's order
	programs []string
	numbers  map[string]uint32
}

// window is a STACK WIN record.
type window struct {
	start, end                      uint64
	params, saved, locals, maxStack uint32
	program                         uint32 // index, 0: none
	usesBase, data                  bool
}

// unwind emits the STACK records.
func (o *object) unwind(ctx context.Context, arch string, emit func(*symbol.Unwind) error) (symbol.Quality, error) {
	if err := ctx.Err(); err != nil {
		return symbol.Quality{}, err
	}
	t, err := o.prepare(ctx)
	if err != nil {
		return symbol.Quality{}, err
	}
	table := cfi.NewTable(0, []native.Span{{End: t.end}}, o.in.Limits, emit)
	s := stacks{arch: unwind.ArchOf(arch), table: table, lim: o.in.Limits, texts: map[string]*unwind.Rules{}, programs: []string{""}, numbers: map[string]uint32{"": 0}}
	if err = s.read(newScanner(ctx, o.in, t.stack)); err == nil {
		err = s.finish(s.end)
	}
	if err == nil {
		err = s.windows()
	}
	if err == nil {
		err = table.Flush()
	}
	return table.Quality, err
}

func (s *stacks) read(in *scanner) error {
	for {
		more, err := in.next()
		if !more || err != nil {
			return err
		}
		want := ""
		switch {
		case !bytes.HasPrefix(in.line, stackWord):
		case in.isCut():
			want = "a record of fewer bytes"
		case bytes.HasPrefix(in.line, stackInitWord):
			want, err = s.init(fields{in.line[len(stackInitWord):], true})
		case bytes.HasPrefix(in.line, stackCFIWord):
			want, err = s.change(fields{in.line[len(stackCFIWord):], true})
		case bytes.HasPrefix(in.line, stackWinWord):
			if want = s.window(fields{in.line[len(stackWinWord):], true}); len(s.frames) > s.lim.Symbols {
				return &formats.Error{Format: name, Offset: in.from, Want: fmt.Sprintf("at most %d records of this kind", s.lim.Symbols), Err: formats.ErrLimit}
			}
		default:
			want = "CFI or WIN"
		}
		if err != nil {
			return err
		}
		if want != "" {
			s.table.Drop("STACK", uint64(in.from), want)
		}
	}
}

// init begins a function. If it is damaged, want says what should stand there.
func (s *stacks) init(f fields) (want string, err error) {
	if err := s.finish(s.end); err != nil {
		return "", err
	}
	s.table.Quality.Units++
	start, size := f.number(16), f.number(16)
	if !f.ok || start+size < start {
		return "INIT, address, size and rules", nil
	}
	s.open, s.at, s.end, s.rules = true, start, start+size, unwind.Rules{}
	return s.merge(f.rest()), nil
}

// change has other rules from an address on: the record names the rules that differ.
func (s *stacks) change(f fields) (want string, err error) {
	at := f.number(16)
	switch {
	case !f.ok:
		want = "an address and rules"
	case !s.open:
		return "", nil // told at its function
	case at < s.at || at >= s.end:
		want = "an address of the function, behind the one before"
	default:
		if err := s.add(at); err != nil {
			return "", err
		}
		want = s.merge(f.rest())
	}
	if want != "" {
		s.open = false
	}
	return want, nil
}

// merge takes rules into the function's. If they are damaged, want says what should stand there.
func (s *stacks) merge(text []byte) (want string) {
	r, known := s.texts[string(text)]
	if !known {
		if len(s.texts) >= maxTexts {
			clear(s.texts)
		}
		r = &unwind.Rules{}
		if err := r.Merge(s.arch, s.integers(string(text))); err != nil || len(r.Append(nil)) > unwind.MaxBytes/2 {
			r = nil
		}
		s.texts[string(text)] = r
	}
	if r == nil {
		s.open = false
		return "rules of the processor's registers"
	}
	if r.CFA.How != unwind.Unsaid {
		s.rules.CFA = r.CFA
	}
	if r.RA.How != unwind.Unsaid {
		s.rules.RA = r.RA
	}
	for i := range r.Regs {
		if r.Regs[i].How != unwind.Unsaid {
			s.rules.Regs[i] = r.Regs[i]
		}
	}
	return ""
}

// integers returns rules without registers that hold no integers, which some programs write too.
func (s *stacks) integers(text string) string {
	words := strings.Fields(text)
	kept, keep := words[:0], true
	for _, w := range words {
		if name, isName := strings.CutSuffix(w, ":"); isName {
			name = strings.TrimPrefix(name, "$")
			switch strings.TrimRight(name, "0123456789") {
			case "b", "d", "f", "q", "s", "st", "v", "xmm":
				keep = s.arch.Register(name) != unwind.None
			default:
				keep = true
			}
		}
		if keep {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// finish adds the last rules of the open function.
func (s *stacks) finish(end uint64) error {
	if !s.open {
		return nil
	}
	err := s.add(end)
	s.open = false
	return err
}

// add adds the rules up to an address.
func (s *stacks) add(to uint64) error {
	at := s.at
	s.at = to
	if at >= to {
		return nil
	}
	s.table.Rank = symbol.UnwindDebug
	return s.table.Add(at, to, &s.rules)
}

// window reads a STACK WIN record. If it is damaged, want says what should stand there.
func (s *stacks) window(f fields) (want string) {
	s.table.Quality.Units++
	kind, start, size := f.number(16), f.number(16), f.number(16)
	f.number(16) // bytes of the prolog
	f.number(16) // and of the epilog
	w := window{start: start, end: start + size, data: kind == 4}
	for _, to := range [...]*uint32{&w.params, &w.saved, &w.locals, &w.maxStack} {
		v := f.number(16)
		f.ok = f.ok && v < 1<<32
		*to = uint32(v)
	}
	programmed := f.number(16)
	rest := bytes.TrimRight(f.rest(), " ")
	if !f.ok || w.end < w.start || len(rest) > maxProgram {
		return "WIN, type, address, seven numbers, and a program or a flag"
	}
	if kind != 0 && kind != 4 {
		return "type 0 or 4"
	}
	if programmed == 0 {
		w.usesBase = len(rest) == 1 && rest[0] == '1'
	} else {
		n, known := s.numbers[string(rest)]
		if !known {
			n = uint32(len(s.programs))
			own := string(rest)
			s.programs, s.numbers[own] = append(s.programs, own), n
		}
		w.program = n
	}
	s.frames = append(s.frames, w)
	return ""
}

// windows adds STACK WIN records. Of two of a type that overlap the inner one counts, and frame data before FPO.
func (s *stacks) windows() error {
	for i, data := range [...]bool{true, false} {
		s.table.Rank = symbol.UnwindDebug + symbol.UnwindRank(i)
		var all []window
		for _, w := range s.frames {
			if w.data == data && w.start < w.end {
				all = append(all, w)
			}
		}
		slices.SortStableFunc(all, func(a, b window) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
		if err := s.nest(all); err != nil {
			return err
		}
	}
	return nil
}

// nest adds records that ascend: a place belongs to the last record that began before it, among records that have not ended.
func (s *stacks) nest(all []window) error {
	var open []*window
	at := uint64(0)
	upTo := func(to uint64) error {
		for len(open) > 0 && at < to {
			w := open[len(open)-1]
			if end := min(w.end, to); at < end {
				if err := s.addWindow(at, end, w); err != nil {
					return err
				}
				at = end
			}
			if w.end <= at {
				open = open[:len(open)-1]
			}
		}
		return nil
	}
	for i := range all {
		if err := upTo(all[i].start); err != nil {
			return err
		}
		at = all[i].start
		open = append(open, &all[i])
	}
	return upTo(1<<64 - 1)
}

func (s *stacks) addWindow(start, end uint64, w *window) error {
	r := unwind.Rules{Windows: &unwind.Windows{Params: w.params, Saved: w.saved, Locals: w.locals, MaxStack: w.maxStack, UsesBase: w.usesBase,
		Program: s.programs[w.program]}}
	return s.table.Add(start, end, &r)
}
