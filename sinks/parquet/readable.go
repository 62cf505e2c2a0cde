package parquet

import "github.com/symlake/symlake/formats/demangle"

// readableBytes is what a generation of readable names may take.
const readableBytes = 4 << 20

// roomBytes is what nearly every readable name fits in.
const roomBytes = 4 << 10

// readable gives the names of a load in their readable form. Those of the last rows it remembers, as row group after
// row group has them again and to make one costs more than all else about it.
type readable struct {
	demangler demangle.Demangler
	now, old  generation
}

// generation is readable forms, one behind the other.
type generation struct {
	data []byte
	ends []uint32
	form []uint32 // by string of the load: number of its form + 1; 0: none
}

// begin makes the strings of a load known to nobody.
func (r *readable) begin() {
	r.now.reset()
	r.old.reset()
}

// grow makes room for so many strings.
func (r *readable) grow(n int) { r.now.form, r.old.form = grown(r.now.form, n), grown(r.old.form, n) }

// of gives the readable form of name, which is string i of the load, valid until the next call.
func (r *readable) of(i uint32, name string) string {
	if n := r.now.form[i]; n > 0 {
		return r.now.at(n)
	}
	if len(r.now.data) >= readableBytes {
		r.now, r.old = r.old, r.now
		r.now.reset()
	}
	g := &r.now
	g.data = roomier(g.data, roomBytes)
	if n := r.old.form[i]; n > 0 {
		g.data = append(g.data, r.old.at(n)...)
	} else {
		g.data = r.demangler.Append(g.data, name)
	}
	g.ends = append(g.ends, uint32(len(g.data)))
	g.form[i] = uint32(len(g.ends))
	return g.at(g.form[i])
}

// at is the form with number n - 1, until reset.
func (g *generation) at(n uint32) string {
	from := uint32(0)
	if n > 1 {
		from = g.ends[n-2]
	}
	return view(g.data[from:g.ends[n-1]])
}

func (g *generation) reset() {
	if cap(g.data) > keptBytes {
		g.data = nil
	}
	g.data, g.ends = g.data[:0], g.ends[:0]
	clear(g.form)
}
