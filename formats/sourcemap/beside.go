package sourcemap

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
)

// A bundler may write the map of a script twice: into the script, and into a file beside it. They are one artifact: the
// map that says more, with the ids of both. The other object gives nothing.

// otherNote says why a map gives no artifact.
const otherNote = "companion: the map in its script says more"

// pair looks for the other map of the script. kept is false if that one says more.
func (o *object) pair(ctx context.Context) (kept bool, err error) {
	if o.script == nil {
		return o.pairedScript(ctx)
	}
	at, err := findInline(o.script)
	if err != nil {
		return false, err
	}
	if o.ids, err = scriptIDs(o.script, at); err != nil {
		return false, err
	}
	return o.pairedMap(ctx)
}

// pairedScript finds the script of a map that is a file, and reads its ids. kept is false if the script holds a map that
// says more.
func (o *object) pairedScript(ctx context.Context) (kept bool, err error) {
	stem := stemOf(o.in.Name)
	if stem == "" || o.layout.Hermes {
		return true, nil
	}
	if o.beside, err = optional(ctx, o.in, stem); o.beside == nil || err != nil {
		return true, err
	}
	inner, at, err := inlineMap(o.beside)
	if err != nil && !formats.Rejects(err) {
		return true, err
	}
	if o.ids, err = scriptIDs(o.beside, at); err != nil || inner == nil {
		return true, err
	}
	other, err := layoutOf(inner)
	if err != nil || other == nil || other.Hermes {
		return true, errors.Join(err, release(inner))
	}
	o.ids = append(o.ids, other.DebugIDs...)
	return !other.SaysMore(o.layout), release(inner)
}

// pairedMap finds the map beside a script that holds one, and reads its ids. kept is false unless the script's map says
// more.
func (o *object) pairedMap(ctx context.Context) (kept bool, err error) {
	if o.layout.Hermes {
		return true, nil
	}
	found, err := optional(ctx, o.script, formats.Base(o.script.Name)+".map")
	if found == nil || err != nil {
		return true, err
	}
	other, err := layoutOf(found)
	if err != nil || other == nil || other.Hermes {
		return true, errors.Join(err, release(found))
	}
	o.ids = append(o.ids, other.DebugIDs...)
	return o.layout.SaysMore(other), release(found)
}

// stemOf is the name of the script that a map lies beside: its own without .map; "": it has another name.
func stemOf(file string) string {
	base := formats.Base(file)
	if stem := base[:max(0, len(base)-len(".map"))]; len(stem) > 0 && isScript(stem) && base[len(stem):] == ".map" {
		return stem
	}
	return ""
}

// optional finds a companion whose absence is no loss; nil: it is missing.
func optional(ctx context.Context, in *formats.Input, name string) (*formats.Input, error) {
	if in.Companion == nil {
		return nil, nil
	}
	c, err := in.Companion(ctx, formats.Ref{Name: name, Optional: true})
	if errors.Is(err, formats.ErrNoCompanion) {
		return nil, nil
	}
	return c, err
}

// leave returns an object without an artifact: the other map of the script has it.
func (o *object) leave() *formats.Object {
	obj := &formats.Object{Note: otherNote}
	if o.script != nil {
		obj.Note, obj.Companions = "", scriptKeys(o.script)
	}
	return obj
}

// scriptKeys are the ids by which a script is a companion.
func scriptKeys(script *formats.Input) []string {
	return []string{"script:" + formats.Base(script.Name)}
}

// close gives back what the object holds besides its file.
func (o *object) close() error {
	if o.script != nil {
		return release(o.in)
	}
	return release(o.beside)
}

// layoutOf reads the layout of a map; nil: it is none.
func layoutOf(in *formats.Input) (*mapfile.Layout, error) {
	l, _, err := mapfile.Read(in, 0, 0)
	if err != nil && formats.Rejects(err) {
		return nil, nil // its own object tells the fault
	}
	return l, err
}

func release(in *formats.Input) error {
	if in == nil || in.Release == nil {
		return nil
	}
	return in.Release()
}

// idBytes is how much of a script's beginning and end is searched for its ids: tools write them first or last.
const idBytes = 4 << 10

// scriptIDs returns the debug ids that a script carries: of a comment //# debugId=…, and of the statement that Sentry's
// tools put in front. at is where the data of a map in the script begins, or negative: the comment may stand before it.
func scriptIDs(in *formats.Input, at int64) ([]string, error) {
	var ids []string
	spans := [][2]int64{{0, min(in.Size, idBytes)}, {max(0, in.Size-idBytes), in.Size}}
	if at >= 0 {
		spans = append(spans, [2]int64{max(0, at-idBytes), at})
	}
	for _, s := range spans {
		b, err := in.View(s[0], s[1]-s[0])
		if err != nil {
			return nil, err
		}
		for _, id := range idsIn(b) {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// idKeys stand before an id in a script.
var idKeys = [][]byte{[]byte("debugId="), []byte("debug_id="), []byte("debugid="), []byte("sentry-dbid-")}

func idsIn(b []byte) (ids []string) {
	for i, key := range idKeys {
		rest := b
		for {
			before, behind, found := bytes.Cut(rest, key)
			if !found {
				break
			}
			rest = behind
			if i+1 < len(idKeys) && !isComment(before) {
				continue
			}
			n := 0
			for n < len(behind) && n < len("01234567-89ab-cdef-0123-456789abcdef") && bytes.IndexByte([]byte("-0123456789abcdefABCDEF"), behind[n]) >= 0 {
				n++
			}
			if id := mapfile.UUID(string(behind[:n])); id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
