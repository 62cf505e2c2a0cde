package parquet

import "github.com/symlake/symlake/formats/demangle"

// readableBytes is what a generation of readable names may take.
const readableBytes = 4 << 20

// readable gives names in their readable form. Those of the last rows it remembers, as row group after row group has
// them again and to make one costs more than all else about it.
type readable struct {
	demangler demangle.Demangler
	now, old  generation
}

// generation is names with their readable forms.
type generation struct {
	names, forms *texts
	form         []uint32 // by name
}

func newGeneration() generation { return generation{names: newTexts(), forms: newTexts()} }

func newReadable() *readable { return &readable{now: newGeneration(), old: newGeneration()} }

// of gives the readable form of a name, valid until the next call.
func (r *readable) of(name string) string {
	if n, ok := r.now.names.find(name); ok {
		return view(r.now.forms.at(r.now.form[n]))
	}
	if len(r.now.names.data)+len(r.now.forms.data) >= readableBytes {
		r.now, r.old = r.old, r.now
		r.now.names.reset()
		r.now.forms.reset()
		r.now.form = r.now.form[:0]
	}
	form := ""
	if n, ok := r.old.names.find(name); ok {
		form = view(r.old.forms.at(r.old.form[n]))
	} else {
		form = r.demangler.Name(name)
	}
	r.now.names.add(name)
	n := r.now.forms.add(form)
	r.now.form = append(r.now.form, n)
	return view(r.now.forms.at(n))
}
