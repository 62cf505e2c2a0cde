package dwarf

import (
	"bytes"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// String reads a text. It is "" when it is missing, and cut (symbol.CutName) when it is longer than
// Limits.NameBytes. It aliases mapped sections unless it is cut.
func (r *Reader) String(t Text) string {
	off, d := uint64(t)&offMask, r.home
	var s *section
	switch kind := t >> textShift; kind {
	case textStr:
		s = &d.str
	case textLineStr:
		s = &d.lineStr
	case textInfo:
		s = &d.info
	case textLine:
		s = &d.line
	case textStr + textAlt, textLineStr + textAlt, textInfo + textAlt:
		if d.altData == nil {
			return ""
		}
		s = [...]*section{&d.altData.str, &d.altData.lineStr, &d.altData.info}[kind-textStr-textAlt]
	case textSplitStr, textSplitInfo:
		if Ref(t&textMask).file() != r.d.file {
			return ""
		}
		if s = &r.d.str; kind == textSplitInfo {
			s = &r.d.info
		}
		return strings.Clone(r.stringAt(s, off)) // the file may be gone before the name is
	case textQualified:
		return r.qualified(Ref(t & textMask))
	default:
		return ""
	}
	return r.stringAt(s, off)
}

// stringAt reads the string at off, and cuts it if it is too long.
func (r *Reader) stringAt(s *section, off uint64) string {
	name, ok := r.cstring(s, off, int(r.home.lim.NameBytes))
	if ok || off >= s.size {
		return name
	}
	var c symbol.Cutter
	for at := off; at < s.size; {
		b := r.peek(s, at, cutBytes)
		if len(b) == 0 {
			return "" // r.err says why
		}
		b = b[:min(len(b), cutBytes)]
		end := bytes.IndexByte(b, 0)
		if err := r.home.chargeName(s, at, len(b)); err != nil {
			r.err = err
			return ""
		}
		if end >= 0 {
			c.Write(b[:end])
			return c.Name()
		}
		c.Write(b)
		at += uint64(len(b))
	}
	return "" // it does not end
}

// cutBytes is how much of a long name is read at once.
const cutBytes = 16 << 10

// chargeName counts n bytes of a name that is cut. Such names may share their bytes, so a small file could ask for
// endless work.
func (d *Data) chargeName(s *section, off uint64, n int) error {
	const share = 64 // times the section; sound files ask for less than 2
	if d.cut.Add(int64(n)) > int64(16<<20+share*s.size) {
		return &formats.Error{Format: d.format, Section: s.name, Offset: int64(off), Want: "long names that do not share their bytes without end", Err: formats.ErrLimit}
	}
	return nil
}

// Aliases reports whether String yields the text's bytes in the object, not a
// copy.
func (d *Data) Aliases(t Text) bool { return d.str.b != nil && t>>textShift < textQualified }

// maxHops bounds the way from an inlined function over abstract instances
// and specifications to a name; compilers need three.
const maxHops = 16

// Name is the name of the function that an entry describes, found by way of
// its abstract origins and specifications: the linkage name, else the
// qualified name (in languages with scopes of functions, and as far as
// the scopes are in the unit that is open and have been walked), else the
// bare one.
func (r *Reader) Name(ref Ref) (Text, error) {
	linkage, bare, last := r.names(ref)
	if r.err != nil {
		return 0, r.err
	}
	switch {
	case linkage != 0:
		return linkage, nil
	case bare == 0:
		return 0, nil
	}
	if off := last.offset(); r.root.qualifies && last.file() == r.u.file && off > r.u.off && off < r.u.end && r.scopes.of(uint32(off-r.u.off)) >= 0 {
		return textQualified<<textShift | Text(last), nil
	}
	return bare, nil
}

// names follows the origins of an entry. last is the last entry on the way:
// the declaration: it has the scopes of the function.
func (r *Reader) names(ref Ref) (linkage, bare Text, last Ref) {
	a := &r.named
	for hop := 0; hop < maxHops && ref != 0; hop++ {
		d, u, root, _ := r.entryAt(ref, a)
		if u == nil {
			break
		}
		last = ref
		if bare == 0 {
			bare = d.stringAttr(&r.blocks, u, root, a, slotName)
		}
		if linkage = d.stringAttr(&r.blocks, u, root, a, slotLinkage); linkage != 0 {
			return linkage, bare, last
		}
		if ref = u.ref(a, slotOrigin); ref == 0 {
			ref = u.ref(a, slotSpecification)
		}
	}
	return 0, bare, last
}

// entryAt reads the attributes of any entry; the unit is nil if there is none
// at ref.
func (r *Reader) entryAt(ref Ref, a *attrs) (*Data, *unit, *rootAttrs, uint32) {
	off, d := ref.offset(), r.d
	if ref.file() != r.u.file {
		if d = d.altData; d == nil || ref.file() != d.file {
			return nil, nil, nil, 0
		}
	}
	if d == r.d && off > r.u.off && off < r.u.end {
		// The unit's own entries are in buf, but for large ones in windows.
		var b []byte
		p := 0
		if off >= r.base && off < r.base+uint64(len(r.buf)) {
			b, p = r.buf, int(off-r.base)
		}
		if tag, ok := d.entry(r.t, b, p, r.base, r.u, a); ok {
			return d, r.u, &r.root, tag
		}
		if tag, ok := r.peekEntry(d, r.u, r.t, off, a); ok {
			return d, r.u, &r.root, tag
		}
		return nil, nil, nil, 0
	}
	u := d.at(off)
	if u == nil || u.bad || off < u.first {
		return nil, nil, nil, 0
	}
	o := r.other(d, u)
	if o.t == nil {
		return nil, nil, nil, 0
	}
	tag, ok := r.peekEntry(d, u, o.t, off, a)
	if !ok {
		return nil, nil, nil, 0
	}
	return d, u, &o.root, tag
}

// entry reads the entry at b[p:].
func (d *Data) entry(t *abbrevs, b []byte, p int, base uint64, u *unit, a *attrs) (tag uint32, ok bool) {
	code, p := uleb(b, p)
	if p < 0 {
		return 0, false
	}
	ab := t.find(code)
	if ab == nil || ab.class == classBad || t.readEntry(ab, b, p, base, u.shape, d.big, a) < 0 {
		return 0, false
	}
	return ab.tag, true
}

func (r *Reader) peekEntry(d *Data, u *unit, t *abbrevs, off uint64, a *attrs) (tag uint32, ok bool) {
	for want := 256; want <= 1<<20; want *= 16 {
		b := r.peek(&d.info, off, want)
		whole := uint64(len(b)) >= u.end-off
		if whole {
			b = b[:u.end-off]
		}
		if tag, ok = d.entry(t, b, 0, off, u, a); ok || whole || r.err != nil {
			return tag, ok
		}
	}
	return 0, false
}

// maxOthers bounds the other units that are remembered while a unit is read.
const maxOthers = 1024

func (r *Reader) other(d *Data, u *unit) *otherUnit {
	if o := r.foreign[u]; o != nil {
		return o
	}
	if r.foreign == nil || len(r.foreign) >= maxOthers {
		r.foreign = make(map[*unit]*otherUnit)
	}
	o := &otherUnit{}
	r.foreign[u] = o
	t, err := d.table(&r.blocks, u, nil)
	if err != nil {
		return o
	}
	a, _, err := d.rootOf(&r.blocks, u, t)
	if err != nil {
		return o
	}
	o.t, o.root = t, r.rootAttrs(d, u, &a)
	return o
}

// qualified is the name of an entry of the open unit behind the names of its
// scopes, outermost first.
func (r *Reader) qualified(ref Ref) string {
	var chain []int32
	for i := r.scopes.of(uint32(ref.offset() - r.u.off)); i >= 0 && len(chain) < maxHops*2; i = r.scopes.list[i].parent {
		chain = append(chain, i)
	}
	slices.Reverse(chain)
	name := r.path[:0]
	for _, i := range chain {
		scope := Ref(r.u.off+uint64(r.scopes.list[i].off)) | r.u.file
		if _, u, _, tag := r.entryAt(scope, &r.named); u != nil {
			name = append(append(name, r.scopeName(scope, tag)...), "::"...)
		}
	}
	_, bare, _ := r.names(ref)
	name = append(name, r.String(bare)...)
	r.path = name
	return symbol.ShortName(string(name), r.d.lim.NameBytes)
}

func (r *Reader) scopeName(ref Ref, tag uint32) string {
	_, bare, _ := r.names(ref)
	if s := r.String(bare); s != "" {
		return s
	}
	switch tag {
	case tagNamespace:
		return "(anonymous namespace)"
	case tagClass:
		return "(anonymous class)"
	case tagUnion:
		return "(anonymous union)"
	}
	return "(anonymous struct)"
}
