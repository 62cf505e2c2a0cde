package gecko

// fn returns the row of a frame's function. The function that the frame has now gets the name, if all its frames have
// answers; else a row is added.
func (p *plan) fn(f *frame, at *site, outermost bool) int32 {
	t, funcs := p.t, p.t.of("funcTable")
	old := int32(f.fn)
	if f.kind == script && outermost {
		return p.scriptFn(f, at, old)
	}
	key := fnKey{funcs.at("resource", f.fn), at.name, at.file, f.kind == script}
	if row, known := p.fnOf[key]; known {
		return row
	}
	made := &funcRow{base: old, name: t.list().add(at.name), file: null, original: null}
	switch {
	case f.kind == managed:
		made.keepFile, made.keepPlace = true, true
	case f.kind == script && p.hasOriginals():
		made.original, made.keepFile, made.keepPlace = p.locate(*at), true, true
	case at.file != "":
		made.file = t.fileOf(at.file)
	}
	_, taken := p.funcs[old]
	if outermost && !taken && p.answered[old] == p.total[old] {
		p.funcs[old] = made
		p.fnOf[key] = old
		return old
	}
	p.funced = append(p.funced, made)
	p.fnOf[key] = int32(funcs.rows + len(p.funced) - 1)
	return p.fnOf[key]
}

// scriptFn renames a script's function by the first of its frames that has an answer, and puts it where it begins in the source.
func (p *plan) scriptFn(f *frame, at *site, old int32) int32 {
	if _, done := p.funcs[old]; done {
		return old
	}
	made := &funcRow{base: old, name: null, file: null, original: null}
	if at.name != "" {
		made.name = p.t.list().add(at.name)
	}
	begins := site{file: at.file}
	if begin, ok := p.p.begin(f); ok {
		if chain := p.p.answer(begin); chain != nil {
			begins = chain[len(chain)-1]
		}
	}
	if p.hasOriginals() {
		made.keepFile, made.keepPlace = true, true
		if begins.line > 0 {
			made.original = p.locate(begins)
		}
	} else {
		made.at = [2]uint32{begins.line, begins.column}
		if made.keepFile = begins.file == ""; !made.keepFile {
			made.file = p.t.fileOf(begins.file)
		}
	}
	p.funcs[old] = made
	return old
}

// symbol returns the row of the native symbol that a frame is in; null: the profile has no table of them. Its address is the
// lowest one of its frames.
func (p *plan) symbol(row int32, f *frame, at *site) int32 {
	symbols := p.t.named["nativeSymbols"]
	if symbols == nil || !symbols.whole {
		return null
	}
	key := symbolKey{p.libOf(row, f), at.name}
	i, known := p.symbolOf[key]
	if !known {
		i = int32(len(p.symbols))
		p.symbolOf[key] = i
		p.symbols = append(p.symbols, symbolRow{key.lib, f.address, p.t.list().add(at.name)})
	}
	s := &p.symbols[i]
	s.address = min(s.address, f.address)
	return int32(symbols.rows) + i
}

// libOf returns the number of a frame's library.
func (p *plan) libOf(row int32, f *frame) int32 {
	frames := p.t.of("frameTable")
	if frames.has("lib") {
		return frames.at("lib", int(row))
	}
	resources := p.t.of("resourceTable")
	return resources.at("lib", p.t.of("funcTable").index("resource", f.fn, resources))
}

// fileOf returns what a function has for a file: a string, or the row of a source.
func (t *tables) fileOf(file string) int32 {
	if t.of("funcTable").has("source") {
		return t.source(file)
	}
	return t.list().add(file)
}

// source returns the row of a source that is added to the profile; null: its table is not whole.
func (t *tables) source(file string) int32 {
	if !t.table("sources").whole {
		return null
	}
	p := t.process
	if at, known := p.sourceOf[file]; known {
		return at
	}
	if p.sourceOf == nil {
		p.sourceOf = map[string]int32{}
	}
	at := int32(t.table("sources").rows + len(p.sources))
	p.sourceOf[file] = at
	p.sources = append(p.sources, t.list().add(file))
	return at
}

// hasOriginals reports whether the profile has columns for places in the sources of scripts.
func (p *plan) hasOriginals() bool {
	return p.t.of("frameTable").has("originalLocation") && p.t.of("funcTable").has("originalLocation") && p.t.of("sourceLocationTable").whole && p.t.named["sourceLocationTable"] != nil &&
		p.t.table("sources").whole
}

// locate returns the row of a place in a source.
func (p *plan) locate(at site) int32 {
	p.located = append(p.located, location{p.t.source(at.file), at.line, at.column})
	return int32(p.t.of("sourceLocationTable").rows + len(p.located) - 1)
}
