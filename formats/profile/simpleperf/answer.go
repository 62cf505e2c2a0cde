package simpleperf

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// place is what samples know of code: an address of a file, and the symbol that simpleperf found there.
type place struct {
	address uint64
	file    uint32
	symbol  int32
}

// placeBytes is about what a place takes while it is asked for.
const placeBytes = 96

// askAtOnce is how many questions are made at a time.
const askAtOnce = 8 << 10

// answers are the names of places, as the files will number them.
type answers struct {
	*contents
	places map[place]int32 // to chains; -1: the entry stays
	chains []chain
	names  map[uint32]*names // that files get
	renew  map[uint32]map[int32]string
}

// chain is the symbols of a place, innermost first.
type chain []int32

// names are symbols that a file gets behind its own.
type names struct {
	symbols, mangled []string
	numbers          map[[2]string]int32
	first            int32
}

// number returns the number of a symbol that a file gets.
func (n *names) number(symbol, mangled string) int32 {
	key := [2]string{symbol, mangled}
	if at, known := n.numbers[key]; known {
		return at
	}
	at := n.first + int32(len(n.symbols))
	n.numbers[key] = at
	n.symbols, n.mangled = append(n.symbols, symbol), append(n.mangled, mangled)
	return at
}

// answer writes a profile with answers.
func answer(ctx context.Context, in *profile.Input, out io.Writer, o *profile.Options) error {
	a := &answers{places: map[place]int32{}}
	room := o.Room()
	c, err := read(ctx, in, room/2, &o.Counts, func(sample []byte) error {
		whole := protobuf.Each(sample, func(f *protobuf.Fields) {
			if f.Number != sampleChain {
				return
			}
			e, ok := parseEntry(f.Bytes)
			p := place{e.address, e.file, e.symbol}
			if _, known := a.places[p]; known || !ok {
				return
			}
			if int64(len(a.places))*placeBytes > room/2 {
				o.Counts.Keep("the profile has more places than memory holds, and entries of the last ones stay", "samples")
				return
			}
			a.places[p] = none
		})
		if !whole {
			o.Counts.Keep("a sample holds bytes that are no message", "samples")
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.contents = c
	if err := a.askNative(ctx, o); err != nil {
		return err
	}
	if err := a.askManaged(ctx, o); err != nil {
		return err
	}
	return a.write(ctx, in, out)
}

// askNative asks for the places of libraries, one library after the other.
func (a *answers) askNative(ctx context.Context, o *profile.Options) error {
	var wanted []place
	for p := range a.places {
		switch f := a.files[p.file]; {
		case f == nil || !f.isImage():
		case p.symbol == none || int(p.symbol) >= len(f.symbols) || isPlace(f.symbols[p.symbol]):
			wanted = append(wanted, p)
		default:
			o.Counts.Named++
		}
	}
	slices.SortFunc(wanted, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.address, b.address), cmp.Compare(a.symbol, b.symbol))
	})
	a.names = map[uint32]*names{}
	questions := make([]report.Frame, 0, min(len(wanted), askAtOnce))
	for len(wanted) > 0 {
		some, last := 0, -1 // an address with and without a symbol is asked for once
		of := make([]int, 0, askAtOnce)
		questions = questions[:0]
		for ; some < len(wanted) && some < askAtOnce; some++ {
			p := wanted[some]
			if last < 0 || wanted[last].file != p.file || wanted[last].address != p.address {
				questions = append(questions, a.files[p.file].native(p.address))
			}
			of, last = append(of, len(questions)-1), some
		}
		found := make([]int32, len(questions))
		at := 0
		err := o.Look(ctx, questions, func(i int, answer *symbol.Answer) {
			for of[at] < i {
				at++
			}
			found[i] = a.chain(wanted[at].file, answer)
		})
		if err != nil {
			return err
		}
		for i, p := range wanted[:some] {
			a.places[p] = found[of[i]]
		}
		wanted = wanted[some:]
	}
	return nil
}

// chain notes the names of an answer for a file.
func (a *answers) chain(id uint32, found *symbol.Answer) int32 {
	if found.Status != symbol.Found || len(found.Frames) == 0 {
		return none
	}
	of := a.files[id]
	n := a.names[id]
	if n == nil {
		n = &names{numbers: map[[2]string]int32{}, first: int32(len(of.symbols))}
		a.names[id] = n
	}
	c := make(chain, len(found.Frames))
	for i := range found.Frames {
		f := &found.Frames[i]
		c[i] = n.number(f.Readable(), cmp.Or(f.Linkage, f.Readable()))
	}
	a.chains = append(a.chains, c)
	return int32(len(a.chains) - 1)
}

// askManaged asks for the methods of applications' own Java, which a mapping may have renamed.
func (a *answers) askManaged(ctx context.Context, o *profile.Options) error {
	type method struct {
		file     uint32
		symbol   int32
		from, to int
	}
	met := map[place]bool{}
	var methods []method
	for p := range a.places {
		f := a.files[p.file]
		if p.address = 0; f == nil || !f.isDex() || f.isSystem() || p.symbol < 0 || int(p.symbol) >= len(f.symbols) || met[p] {
			continue
		}
		met[p] = true
		if _, from, to, ok := managed(f.symbols[p.symbol]); ok {
			methods = append(methods, method{p.file, p.symbol, from, to})
		}
	}
	slices.SortFunc(methods, func(x, y method) int {
		return cmp.Or(cmp.Compare(a.files[x.file].symbols[x.symbol], a.files[y.file].symbols[y.symbol]), cmp.Compare(x.file, y.file), cmp.Compare(x.symbol, y.symbol))
	})
	a.renew = map[uint32]map[int32]string{}
	for some := range slices.Chunk(methods, askAtOnce) {
		var questions []report.Frame
		of := make([]int, len(some)) // several files may have one method
		for i := range some {
			name := a.files[some[i].file].symbols[some[i].symbol]
			if i > 0 && a.files[some[i-1].file].symbols[some[i-1].symbol] == name {
				of[i] = of[i-1]
				continue
			}
			q, _, _, _ := managed(name)
			questions, of[i] = append(questions, q), len(questions)
		}
		originals := make([]string, len(questions))
		err := o.Look(ctx, questions, func(i int, answer *symbol.Answer) { originals[i] = original(questions[i].Managed, answer) })
		if err != nil {
			return err
		}
		for i, m := range some {
			if name := a.files[m.file].symbols[m.symbol]; originals[of[i]] != "" {
				if a.renew[m.file] == nil {
					a.renew[m.file] = map[int32]string{}
				}
				a.renew[m.file][m.symbol] = name[:m.from] + originals[of[i]] + name[m.to:]
			}
		}
	}
	return nil
}

// original returns the name of a method in the source; "": it is not known. Where a mapping has several methods for one name,
// the class alone is certain.
func original(m *report.Managed, found *symbol.Answer) string {
	if found.Status != symbol.Found || len(found.Frames) == 0 {
		return ""
	}
	name := found.Frames[len(found.Frames)-1].Readable()
	for _, other := range found.Or {
		if len(other) > 0 && other[len(other)-1].Readable() != name {
			for i := len(name) - 1; i >= 0; i-- {
				if name[i] == '.' {
					return name[:i+1] + m.Method
				}
			}
		}
	}
	return name
}
