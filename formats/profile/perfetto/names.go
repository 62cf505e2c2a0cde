package perfetto

import (
	"bytes"
	"github.com/symlake/symlake/formats/internal/protobuf"
	"hash/maphash"
	"slices"
)

// names are classes of Java that a mapping may have renamed, by the package that they belong to.
type names struct {
	*ledger
	of    map[string]map[string]bool // by package, "": not known. false: in names of slices and counters alone
	had   map[uint64]bool            // classes that the trace has names of, by package and class
	seed  maphash.Seed
	lastP string // the class that came last, and its package: mostly the next one too
	lastC string
}

func newNames(l *ledger) *names {
	return &names{ledger: l, of: map[string]map[string]bool{}, had: map[uint64]bool{}, seed: maphash.MakeSeed()}
}

// group returns the classes of a package.
func (n *names) group(pkg string) map[string]bool {
	of := n.of[pkg]
	if of == nil && n.take(nil, imageBytes+int64(len(pkg))) {
		of = map[string]bool{}
		n.of[pkg] = of
	}
	return of
}

// maxClassName bounds the name of a class.
const maxClassName = 1 << 10

// add adds a class.
func (n *names) add(pkg string, class []byte) { n.note(pkg, class, true) }

func (n *names) note(pkg string, class []byte, certain bool) {
	if len(class) == 0 || len(class) > maxClassName || certain && n.lastP == pkg && n.lastC == string(class) || isPlatform(class) {
		return
	}
	of := n.group(pkg)
	if of == nil {
		return
	}
	was, known := of[string(class)]
	if known && (was || !certain) || !known && !n.take(nil, stringBytes+int64(len(class))) {
		return
	}
	name := string(class)
	of[name] = certain
	if certain {
		n.lastP, n.lastC = pkg, name
	}
}

// frame adds the class of a function.
func (n *names) frame(pkg, function string) {
	if class, _ := javaClass([]byte(function)); class != nil {
		n.add(pkg, class)
	}
}

// maxSaid bounds the names of slices and counters that are read.
const maxSaid = 4 << 10

// say adds the words of a text that may be classes: "inflate a.b.c", "a.b.c#onCreate".
func (n *names) say(text []byte) {
	if bytes.IndexByte(text, '.') < 0 || len(text) > maxSaid {
		return
	}
	for i := 0; i < len(text); {
		from := i
		for i < len(text) && isName(text[i]) {
			i++
		}
		word := bytes.TrimRight(text[from:i], ".")
		if dot := bytes.LastIndexByte(word, '.'); dot > 0 && word[0] != '.' && (word[0] < '0' || word[0] > '9') {
			n.note("", word, false)
			n.note("", word[:dot], false) // the last part may be a method
		}
		if i == from {
			i++
		}
	}
}

func isName(c byte) bool {
	return c == '.' || c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// javaClass returns the class and the method or field of a name of Java; nil: it is none.
func javaClass(name []byte) (class, member []byte) {
	dot := bytes.LastIndexByte(name, '.')
	if dot <= 0 || dot == len(name)-1 || len(name) > maxClassName || bytes.ContainsAny(name, " (:/") {
		return nil, nil
	}
	return name[:dot], name[dot+1:]
}

// bareType returns the class of a type of a heap: "java.lang.Class<a.b[]>" is of a.b.
func bareType(name []byte) []byte {
	if inner, ok := bytes.CutPrefix(name, []byte("java.lang.Class<")); ok && bytes.HasSuffix(inner, []byte(">")) {
		name = inner[:len(inner)-1]
	}
	for bytes.HasSuffix(name, []byte("[]")) {
		name = name[:len(name)-2]
	}
	return name
}

// isPlatform reports whether a class is a part of Java or Android, which no mapping renames.
func isPlatform(class []byte) bool {
	if bytes.HasPrefix(class, []byte("android.")) {
		return !bytes.HasPrefix(class, []byte("android.support.")) && !bytes.HasPrefix(class, []byte("android.arch."))
	}
	for _, p := range [...]string{"java.", "javax.", "dalvik.", "libcore.", "sun.", "jdk.", "com.android.internal."} {
		if len(class) > len(p) && string(class[:len(p)]) == p {
			return true
		}
	}
	return false
}

func (n *names) key(pkg, class string) uint64 {
	var h maphash.Hash
	h.SetSeed(n.seed)
	h.WriteString(pkg)
	h.WriteByte(0)
	h.WriteString(class)
	return h.Sum64()
}

// renamed takes names that the trace has already.
func (n *names) renamed(f *protobuf.Fields) {
	pkg, classes := readRenamed(f)
	for _, b := range classes {
		c := protobuf.Read(b)
		for c.Next() {
			if c.Is(classOld) && len(n.had) < int(n.room/stringBytes) { // what finds no room is asked for again
				n.had[n.key(pkg, string(c.Bytes))] = true
			}
		}
	}
}

// wanted returns the classes of packages that the trace has no names of yet, ascending. said: also the words that may be none.
func (n *names) wanted(packages []string, said bool) (open []string, named uint64) {
	all := map[string]bool{}
	for _, pkg := range append(packages[:len(packages):len(packages)], "") {
		for class, certain := range n.of[pkg] {
			if !certain && !said {
				continue
			}
			had := pkg != "" && n.had[n.key(pkg, class)]
			if pkg == "" {
				had = !slices.ContainsFunc(packages, func(p string) bool { return !n.had[n.key(p, class)] })
			}
			if had {
				named++
				continue
			}
			all[class] = true
		}
	}
	for class := range all {
		open = append(open, class)
	}
	slices.Sort(open)
	return open, named
}
