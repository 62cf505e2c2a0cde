package dwarf

import (
	"errors"

	"github.com/symlake/symlake/formats"
)

// maxHeaderBytes bounds the header of one line table. A million files take
// less.
const maxHeaderBytes = 64 << 20

// readHeader reads the header of the open unit's line table.
func (r *Reader) readHeader(h *lineHeader) error {
	d, s, off := r.home, &r.home.line, r.outer.lines
	fail := func(want string) error {
		if r.err != nil {
			return r.err
		}
		return d.corrupt(s, off, want)
	}
	c := cursor{b: r.peek(s, off, 64), big: d.big}
	length, offSize := c.initial()
	h.offSize = offSize
	if c.bad || length > s.size-off-uint64(c.p) {
		return fail("the header of a line table")
	}
	h.end = off + uint64(c.p) + length
	h.version = uint16(c.uint(2))
	if h.version < 2 || h.version > 5 {
		return &formats.Error{Format: d.format, Section: s.name, Offset: int64(off), Want: "a line table of version 2 to 5", Err: formats.ErrUnsupported}
	}
	h.addrSize = d.addrSize
	if h.version >= 5 {
		h.addrSize = c.u8()
		c.u8() // segment selectors: none in use
	}
	n := c.uint(offSize)
	start := off + uint64(c.p)
	if c.bad || start > h.end || n > h.end-start || n > maxHeaderBytes {
		return fail("the length of a line table's header")
	}
	h.program = start + n
	b := r.peek(s, start, int(n))
	if s.b == nil {
		// Strings in other sections are not read here, but their offsets may be.
		b = append([]byte(nil), b...)
	}
	if uint64(len(b)) < n {
		return fail("the header of a line table")
	}
	c = cursor{b: b[:n], big: d.big}
	h.minInst, h.maxOps = c.u8(), 1
	if h.version >= 4 {
		h.maxOps = c.u8()
	}
	c.u8() // default_is_stmt: every row counts
	h.lineBase, h.lineRange, h.opcodeBase = int8(c.u8()), c.u8(), c.u8()
	if c.bad || h.lineRange == 0 || h.opcodeBase == 0 {
		return fail("the parameters of a line number program")
	}
	clear(h.operands[:])
	for op := 1; op < int(h.opcodeBase); op++ {
		h.operands[op] = c.u8()
	}
	h.maxFiles = min(d.lim.Files, noFile)
	if h.version >= 5 {
		return r.tables5(h, &c, start)
	}
	for {
		at := start + uint64(c.p)
		if name := c.skipString(); name == 0 {
			break
		}
		if err := h.room(d, len(h.dirs), at); err != nil {
			return err
		}
		h.dirs = append(h.dirs, textLine<<textShift|Text(at))
	}
	for {
		at := start + uint64(c.p)
		if name := c.skipString(); name == 0 {
			break
		}
		dir := c.uleb()
		c.uleb() // time
		c.uleb() // size
		if err := h.room(d, len(h.files), at); err != nil {
			return err
		}
		h.files = append(h.files, fileEntry{textLine<<textShift | Text(at), dir})
	}
	if c.bad {
		return fail("the file table of a line table")
	}
	return nil
}

// tables5 reads directories and files as version 5 has them: with the forms
// they are in.
func (r *Reader) tables5(h *lineHeader, c *cursor, base uint64) error {
	for table := range 2 {
		var format [255][2]uint64
		n := int(c.u8())
		for i := range n {
			format[i] = [2]uint64{c.uleb(), c.uleb()}
		}
		count := c.uleb()
		if c.bad || count > uint64(len(c.b)-c.p) && n > 0 || n == 0 && count > 0 {
			return r.home.corrupt(&r.home.line, base+uint64(c.p), "a file table that fits its header")
		}
		if err := h.room(r.home, int(min(count, 1<<30))-1, base+uint64(c.p)); err != nil {
			return err
		}
		for range count {
			var e fileEntry
			for _, f := range format[:n] {
				at := base + uint64(c.p)
				form := shortForm(f[1])
				v, ok := c.form(form, h)
				if !ok {
					return r.home.corrupt(&r.home.line, at, "a file table's entry")
				}
				switch f[0] {
				case lnctPath:
					if form == formString {
						v = at
					}
					e.name = r.home.stringForm(&r.blocks, h.offSize, r.outer.strOffsets, form, v, textLine)
				case lnctDirectoryIndex:
					e.dir = v
				}
			}
			if table == 0 {
				h.dirs = append(h.dirs, e.name)
			} else {
				h.files = append(h.files, e)
			}
		}
	}
	if r.err != nil {
		return r.err
	}
	return nil
}

// form passes over a value of a form and returns it if it is a number.
func (c *cursor) form(form uint8, h *lineHeader) (uint64, bool) {
	sh := shape{version: 5, addrSize: h.addrSize, offSize: h.offSize}
	size := sh.size(form)
	switch {
	case form == formIndirect || form == formImplicitConst || size == -2:
		return 0, false
	case size > 8:
		c.take(uint64(size))
	case size >= 0:
		return c.uint(uint8(size)), !c.bad
	case skipOp(form) == opLEB && form != formSdata:
		return c.uleb(), !c.bad
	default:
		q := skipValue(skipOp(form), c.b, c.p, sh, c.big)
		if q < 0 || q > len(c.b) {
			return 0, false
		}
		c.p = q
	}
	return 0, !c.bad
}

// Path is the path of a file of the open unit's line table, joined from the
// unit's directory, the file's directory and its name as llvm-symbolizer
// joins them; empty if there is no such file. It is valid until the next call
// of a method. The text is its identity, 0 if it has none but its bytes.
func (r *Reader) Path(file uint32) ([]byte, Text, error) {
	if err := r.lineHeader(); err != nil {
		return nil, 0, err
	}
	h := &r.line.header
	i := uint64(file)
	if h.bad {
		return nil, 0, nil
	}
	if h.version < 5 {
		i--
	}
	if i >= uint64(len(h.files)) {
		return nil, 0, nil
	}
	f := h.files[i]
	name := r.String(f.name)
	if name == "" || absolute(name) {
		r.path = append(r.path[:0], name...)
		return r.path, f.name, r.err
	}
	var dirText, compText Text
	if h.version >= 5 {
		if f.dir < uint64(len(h.dirs)) {
			dirText = h.dirs[f.dir]
		}
	} else if f.dir > 0 && f.dir <= uint64(len(h.dirs)) {
		dirText = h.dirs[f.dir-1]
	}
	dir := r.String(dirText)
	b := r.path[:0]
	// Directory 0 of version 5 is the unit's own.
	if (h.version < 5 || f.dir != 0) && !absolute(dir) {
		compText = r.outer.compDir
		b = join(b, r.String(compText))
	}
	b = join(join(b, dir), name)
	r.path = b
	return b, pathText(compText, dirText, f.name), r.err
}

// pathText packs three offsets in .debug_line_str, 0 if they do not fit.
func pathText(parts ...Text) Text {
	var key Text
	for _, t := range parts {
		off := t&textMask + 1
		switch {
		case t == 0:
			off = 0
		case t>>textShift != textLineStr || off >= 1<<20:
			return 0
		}
		key = key<<20 | off
	}
	return textPath<<textShift | key
}

// join appends part to a path with one slash between them.
func join(path []byte, part string) []byte {
	if part == "" {
		return path
	}
	if n := len(path); n > 0 && path[n-1] == '/' {
		for part != "" && part[0] == '/' {
			part = part[1:]
		}
	} else if n > 0 && part[0] != '/' {
		path = append(path, '/')
	}
	return append(path, part...)
}

// absolute reports whether a path is absolute on POSIX or Windows systems:
// code is built on either.
func absolute(path string) bool {
	if path == "" {
		return false
	}
	if path[0] == '/' || len(path) > 2 && path[0] == '\\' && path[1] == '\\' {
		return true
	}
	letter := path[0] | 0x20
	return len(path) > 2 && letter >= 'a' && letter <= 'z' && path[1] == ':' && (path[2] == '/' || path[2] == '\\')
}

// lineHeader reads the header of the unit's line table, once. Damage is
// counted and leaves the header bad.
func (r *Reader) lineHeader() error {
	l := &r.line
	if l.loaded {
		return nil
	}
	l.loaded, l.header.bad = true, true
	if !r.outer.hasLines {
		return nil
	}
	err := r.readHeader(&l.header)
	switch {
	case err == nil:
		l.header.bad = false
	case errors.Is(err, formats.ErrCorrupt) || errors.Is(err, formats.ErrUnsupported):
		l.Broken++
	default:
		return err
	}
	return nil
}
