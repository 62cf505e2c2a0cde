package shape

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	scripts "github.com/symlake/symlake/formats/report/internal/script"
)

// kindOf finds out how a frame names its code; ok is false if the object is no frame of the row.
func (e *walk) kindOf(s *Shape, f *frame) (ok bool) {
	switch {
	case f.has(bytecode):
		f.kind = script
		return f.has(column) && f.has(file)
	case e.isNative(s, &f.facts):
		f.kind = native
	case e.isScript(s, &f.facts):
		f.kind = script
	case e.isManaged(s, &f.facts):
		f.kind = managed
	default:
		return false
	}
	return true
}

// isNative reports whether a frame has an address, or an offset in an image.
func (e *walk) isNative(s *Shape, f *facts) bool {
	if _, ok := e.place(s, f, address); ok {
		return true
	}
	_, ok := e.place(s, f, offset)
	return ok && (e.isSaid(f, imageAddr) || e.isSaid(f, imageIndex) || e.isSaid(f, imageName) || e.isSaid(f, imageID))
}

// isSaid reports whether a field has a value other than null and nothing.
func (e *walk) isSaid(f *facts, what field) bool {
	return f.has(what) && !isEmpty(e.Bytes[f[what][0]:f[what][1]])
}

// place returns an address or an offset; false: the field holds none.
func (e *walk) place(s *Shape, f *facts, what field) (uint64, bool) {
	if !f.has(what) {
		return 0, false
	}
	v := bytes.Trim(e.Bytes[f[what][0]:f[what][1]], `" `)
	quoted := e.Bytes[f[what][0]] == '"'
	switch {
	case len(v) == 0 || v[0] == 'n' || v[0] == 't' || v[0] == 'f' && !s.Hex:
		return 0, false
	case len(v) > 2 && v[0] == '0' && v[1]|0x20 == 'x':
		n, end, ok := scan.Hex(v, 2)
		return n, ok && end == len(v)
	case s.Hex && quoted:
		n, end, ok := scan.Hex(v, 0)
		return n, ok && end == len(v)
	}
	if n, err := strconv.ParseUint(string(v), 10, 64); err == nil {
		return n, true
	}
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil { // an address above 2^63
		return uint64(n), true
	}
	n, err := strconv.ParseFloat(string(v), 64)
	return uint64(n), err == nil && n >= 0 && n < 1<<63
}

// isScript reports whether a frame has a place in a script.
func (e *walk) isScript(s *Shape, f *facts) bool {
	if !e.isSaid(f, line) || !e.isSaid(f, column) || e.isSaid(f, class) && s.names[class][0] != "module" && e.isManaged(s, f) {
		return false
	}
	return e.script(s, f) != ""
}

// script returns the URL of a frame's script: the longest of its names; "": it has none.
func (e *walk) script(s *Shape, f *facts) (url string) {
	for _, what := range [...]field{file, location} {
		if name := strings.TrimPrefix(e.text(f, what), "address at "); len(name) > len(url) && scripts.Is([]byte(name), false) && !otherSource[strings.ToLower(path.Ext(scripts.Path(name)))] {
			url = name
		}
	}
	return url
}

// otherSource are the endings of sources in languages that are no scripts.
var otherSource = map[string]bool{".dart": true, ".py": true, ".rb": true, ".cs": true, ".go": true, ".rs": true, ".swift": true, ".m": true, ".mm": true,
	".c": true, ".cc": true, ".cpp": true, ".h": true, ".kt": true, ".java": true, ".ex": true, ".erl": true, ".pl": true, ".lua": true, ".scala": true}

// managedSource are the endings of sources of the JVM.
var managedSource = map[string]bool{".java": true, ".kt": true, ".kts": true, ".scala": true, ".groovy": true, ".clj": true}

// isManaged reports whether a frame names a method of the JVM.
func (e *walk) isManaged(s *Shape, f *facts) bool {
	class, method := e.method(s, f)
	if class == "" || method == "" || strings.ContainsAny(class, " \t/\\:()") || strings.ContainsAny(method, " \t(:/\\#.") {
		return false
	}
	if e.isSaid(f, platform) {
		return e.text(f, platform) == "java"
	}
	name := scripts.Path(e.text(f, file))
	if strings.HasPrefix(name, "<") && !strings.HasPrefix(strings.ToLower(name), "<unknown") { // of a script's engine
		return false
	}
	ext := strings.ToLower(path.Ext(name))
	return managedSource[ext] || !otherSource[ext] && !scripts.Is([]byte(name), false)
}

// method returns the class and the method of a frame.
func (e *walk) method(s *Shape, f *facts) (className, method string) {
	method = e.text(f, function)
	if e.isSaid(f, class) {
		return e.text(f, class), method
	}
	if s.InFile {
		if class := classOfFile(e.text(f, file)); class != "" {
			return class, method
		}
	}
	if !s.Qualified {
		return "", ""
	}
	method = strings.TrimSuffix(method, "()")
	if dot := strings.LastIndexByte(method, '.'); dot > 0 {
		return method[:dot], method[dot+1:]
	}
	return "", ""
}

// classOfFile returns the class that a class file holds, of its path within a jar; "": it is no such path.
func classOfFile(name string) string {
	name, ok := strings.CutSuffix(name, ".class")
	if !ok {
		return ""
	}
	if _, inside, ok := strings.Cut(name, "!"); ok {
		name = inside
	}
	return strings.ReplaceAll(strings.Trim(name, "/"), "/", ".")
}

// isNamed reports whether an object is a frame that has its names already, in a language without symbols here.
func (e *walk) isNamed(f *facts) bool {
	return e.isSaid(f, function) && (e.isSaid(f, file) || e.isSaid(f, location) || e.isSaid(f, line) || e.isSaid(f, class)) ||
		e.isSaid(f, line) && (e.isSaid(f, file) || e.isSaid(f, location))
}

// hasAll reports whether an object has members of all names.
func (e *walk) hasAll(names []string, values []value) bool {
	for _, name := range names {
		if !slices.ContainsFunc(values, func(v value) bool { return string(e.Bytes[v.key[0]:v.key[1]]) == name }) {
			return false
		}
	}
	return true
}

// facts finds the fields of an object; ok is false if it says none. Of members with one name the last counts, of
// several names of a field the best name with a value.
func (s *Shape) facts(what int, text []byte, values []value, f *facts) (ok bool) {
	var ranks [fieldCount]int8
	for _, v := range values {
		said, known := s.said[what][string(text[v.key[0]:v.key[1]])]
		if !known {
			continue
		}
		if was := f[said.field]; was[1] != 0 && int(ranks[said.field]) != said.rank {
			old, now := isEmpty(text[was[0]:was[1]]), isEmpty(text[v.at[0]:v.at[1]])
			if now && !old || old == now && int(ranks[said.field]) < said.rank {
				continue
			}
		}
		f[said.field], ranks[said.field] = [2]int32{int32(v.at[0]), int32(v.at[1])}, int8(said.rank)
		ok = true
	}
	return ok
}

// isEmpty reports whether a value is null or an empty string.
func isEmpty(v []byte) bool { return len(v) == 0 || v[0] == 'n' || string(v) == `""` }

// add adds the fields of another object that are not said yet.
func (f *facts) add(other *facts) {
	for what := range other {
		if !f.has(field(what)) {
			f[what] = other[what]
		}
	}
}

// has reports whether an object says a field.
func (f *facts) has(what field) bool { return f[what][1] != 0 }

// sub returns a walker of a field's value.
func (e *walk) sub(f *facts, what field) *json.Walker {
	return &json.Walker{Bytes: e.Bytes[:f[what][1]], Pos: int(f[what][0])}
}

// text returns a field that is a string; "" if it is not said.
func (e *walk) text(f *facts, what field) string {
	if !f.has(what) {
		return ""
	}
	w := e.sub(f, what)
	if w.Peek() == '[' { // of a list, the first
		w.Pos++
	}
	return w.Text()
}

// isTrue reports whether a field is true.
func (e *walk) isTrue(f *facts, what field) bool { return f.has(what) && e.sub(f, what).IsTrue() }

// number returns a field that is a number, or a string that spells a number.
func (e *walk) number(f *facts, what field) uint64 {
	if !f.has(what) {
		return 0
	}
	return e.sub(f, what).Number()
}

// hasStack reports whether an object has a whole stack as text. The stack says more than a place beside it.
func (e *walk) hasStack(values []value) bool {
	return slices.ContainsFunc(values, func(v value) bool {
		key, text := bytes.ToLower(e.Bytes[v.key[0]:v.key[1]]), e.Bytes[v.at[0]:v.at[1]]
		return bytes.Contains(key, []byte("stack")) && bytes.Contains(text, []byte(`\n`)) && bytes.Count(text, []byte{':'}) > 1
	})
}

// keepBeside keeps an exception that stands beside its frames, until the object around both ends.
func (e *walk) keepBeside(values []value, threads int) {
	if len(e.threads) > threads {
		return
	}
	for _, s := range e.shapes {
		if s.Beside == "" || !e.at(s, ofBeside) {
			continue
		}
		x := &exception{}
		if s.facts(ofException, e.Bytes, values, &x.facts) {
			e.beside, e.besideDepth = x, len(e.path)-1
		}
	}
}
