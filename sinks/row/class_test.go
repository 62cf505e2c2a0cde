package row

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// randomClasses makes classes that use everything there is, and the facts.
func randomClasses(r *rand.Rand, n int) []*symbol.Class {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	lines := func() symbol.Lines {
		l := symbol.Lines{Count: uint8(r.IntN(3))}
		if l.Count > 0 {
			l.First = uint32(r.IntN(1 << r.IntN(32)))
			l.Last = l.First
		}
		if l.Count > 1 {
			l.Last = uint32(int(l.First) + r.IntN(5) - min(2, int(l.First)))
		}
		return l
	}
	all := []*symbol.Class{{Facts: &symbol.Facts{Version: "2.2", Packages: []string{"", "a", "b.c"}}}}
	for i := range n {
		c := &symbol.Class{Name: fmt.Sprintf("n%d", i), Original: pick("x.Y", "x.Y$1", "Z", "", "x.$A", "kotlin.TextKt") + pick("", fmt.Sprint(i)), Synthesized: r.IntN(9) == 0}
		c.File = pick("", "Y.java", "Y.kt", "Text.kt", "Z.java", "\xff.kt", ".java", "SourceFile")
		for range r.IntN(1 << r.IntN(7)) {
			m := symbol.Member{Name: pick("a", "b", "c", "z", "<init>", "ab", "\xf0", ""), Method: &symbol.Method{Class: pick("", "", "o.P", "o.Q$R", c.Original+"x"), Original: pick("run", "<init>", "a", "m"+fmt.Sprint(r.IntN(9))), Type: pick("void", "int[]", "")}, Lines: lines(), From: lines()}
			if m.Field = r.IntN(5) == 0; !m.Field {
				m.Params = pick("", "int", "int,x.Y", ",,", strings.Repeat("long,", r.IntN(20)))
			}
			for range r.IntN(5) * r.IntN(2) {
				rule := symbol.Rule{Kind: symbol.RuleKind(1 + r.IntN(5)), Undeclared: r.IntN(2) == 0, Text: pick("", "La;", "(I)V")}
				if rule.Kind == symbol.RewriteFrame {
					rule.Conditions, rule.Actions = []string{"throws(La;)"}, []string{"removeInnerFrames(1)", "x"}
				}
				if rule.Kind == symbol.OutlineCallsite {
					rule.Positions = []symbol.OutlinePosition{{Outline: 1, Line: uint32(r.IntN(1 << 20))}, {Outline: 1<<32 - 1, Line: 0}}
				}
				m.Rules = append(m.Rules, rule)
			}
			c.Members = append(c.Members, m)
		}
		slices.SortStableFunc(c.Members, func(a, b symbol.Member) int { return cmp.Compare(a.Name, b.Name) })
		seen := map[string]bool{"": true}
		for _, m := range c.Members {
			if f := pick("", "P.kt", "Q.java", "other"); f != "" && !seen[m.Class] {
				c.Files = append(c.Files, symbol.ClassFile{Class: m.Class, File: f})
			}
			seen[m.Class] = true
		}
		sortFiles(c.Files)
		all = append(all, c)
	}
	return all
}

// classLoad is a load of classes, made with a table of strings or none.
type classLoad struct {
	ring   *Keyring
	out    *Loaded
	rows   []sinks.Row
	opened *Opened
}

func encodeClasses(t fataler, k *Keyring, classes []*symbol.Class, table Table) *classLoad {
	t.Helper()
	secret, err := NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	table.Secret = secret
	classes = slices.Clone(classes)
	slices.SortFunc(classes, func(a, b *symbol.Class) int { return cmp.Compare(secret.Position(a.Name), secret.Position(b.Name)) })
	l := &classLoad{ring: k}
	a := symbol.Artifact{ID: symbol.NewID(symbol.R8, "cafe"), Kind: symbol.R8, Canonical: "cafe"}
	e, err := NewEncoder(k, &a, NewLoad(time.Now()), table, func(r sinks.Row) error { l.rows = append(l.rows, r); return nil })
	if err != nil {
		t.Fatal(err)
	}
	packer := NewPacker(func(s string) uint32 { return uint32(max(0, slices.Index(table.Strings, s))) })
	for _, c := range classes {
		if err := e.AddClass(&Packed{Position: secret.Position(c.Name), Form: packer.Append(nil, c)}); err != nil {
			t.Fatal(err)
		}
	}
	if l.out, err = e.Close(); err != nil {
		t.Fatal(err)
	}
	if l.opened, err = k.Open(a.ID, l.out); err != nil {
		t.Fatal(err)
	}
	if l.opened.shared > 0 {
		if err := l.opened.SetDictionary(l.rows[0]); err != nil {
			t.Fatal(err)
		}
		l.rows = l.rows[1:]
	}
	return l
}

// classTable is a table of the types of classes.
func classTable(classes []*symbol.Class) Table {
	t := Table{Strings: []string{""}, Runs: []uint32{0}}
	at := map[string]int{}
	p := NewPacker(func(s string) uint32 {
		if at[s] == 0 {
			at[s] = len(t.Strings)
			t.Strings, t.Runs = append(t.Strings, s), append(t.Runs, 0)
		}
		t.Runs[at[s]] += 10_000 // worth a dictionary
		return uint32(at[s])
	})
	for _, c := range classes {
		p.Append(nil, c)
	}
	return t
}

func TestClassesComeBack(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	k, _ := newRing(t)
	classes := randomClasses(r, 6000)
	var digest [32]byte
	for i, table := range []Table{{Strings: []string{""}, Runs: []uint32{0}}, classTable(classes)} {
		l := encodeClasses(t, k, classes, table)
		if l.opened.Rows() < 3 || (l.opened.shared > 0) != (i == 1) {
			t.Fatalf("%d rows, %d shared strings", l.opened.Rows(), l.opened.shared)
		}
		blocks := make([]*Block, l.opened.Rows())
		for i := range blocks {
			var err error
			if blocks[i], err = l.opened.Block(i, l.rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range classes {
			at, ok := l.opened.IndexOf(c.Name)
			if !ok {
				t.Fatalf("no row speaks for %q", c.Name)
			}
			got, err := blocks[at].Class(c.Name)
			if err != nil || !reflect.DeepEqual(got.Whole(), c) {
				t.Fatalf("%v\n got %+v\nwant %+v", err, got, c)
			}
			sameMembers(t, got, c)
		}
		if at, _ := l.opened.IndexOf("not there"); true {
			if got, err := blocks[at].Class("not there"); got != nil || err != nil {
				t.Fatalf("%+v, %v", got, err)
			}
		}
		// Neither the key, nor the order that it gives, nor the dictionary shows in the digest.
		if digest != [32]byte{} && digest != l.out.Digest {
			t.Fatal("the digest depends on more than content")
		}
		digest = l.out.Digest
		v := l.opened.Verify()
		v.row = 0
		for _, row := range l.rows {
			if _, err := v.Add(row); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := v.Digest(); err != nil || got != l.out.Digest {
			t.Fatalf("%x, %v, want %x", got, err, l.out.Digest)
		}
	}
	classes[17].Synthesized = !classes[17].Synthesized
	if l := encodeClasses(t, k, classes, Table{Strings: []string{""}, Runs: []uint32{0}}); l.out.Digest == digest {
		t.Fatal("another class has the same digest")
	}
}

// sameMembers compares the members of each name, and of names that are none.
func sameMembers(t testing.TB, got *Class, c *symbol.Class) {
	t.Helper()
	names := []string{"", "a", "not there", "~"}
	for i := range c.Members {
		if name := c.Members[i].Name; name != names[len(names)-1] {
			names = append(names, name)
		}
	}
	for _, name := range names {
		for _, named := range []func(string) []symbol.Member{got.named, got.Named} {
			if some, want := named(name), c.Named(name); len(some) != len(want) || len(want) > 0 && !reflect.DeepEqual(some, want) {
				t.Fatalf("%q\n got %+v\nwant %+v", name, some, want)
			}
		}
	}
	if head := got.Head(); got.Size() != len(c.Members) || head.Members != nil || !reflect.DeepEqual(head.Files, c.Files) {
		t.Fatalf("%d members, want %d; %+v", got.Size(), len(c.Members), head)
	}
}

// No name of a class stands in a key or, in clear, in a row.
func TestClassesStandNowhereInClear(t *testing.T) {
	k, _ := newRing(t)
	l := encodeClasses(t, k, []*symbol.Class{{Name: "secretname", Original: "com.example.Secret"}}, Table{Strings: []string{""}, Runs: []uint32{0}})
	for _, r := range l.rows {
		if all := string(r.Key) + string(r.Value); strings.Contains(all, "secretname") || strings.Contains(all, "Secret") {
			t.Fatalf("row %x tells", r.Key)
		}
	}
	changed := slices.Clone(l.rows[0].Value)
	changed[len(changed)-1] ^= 1
	if _, err := l.opened.Block(0, sinks.Row{Key: l.rows[0].Key, Value: changed}); !errors.Is(err, ErrUnauthentic) {
		t.Fatal(err)
	}
}

// A class that no reader would take is left out and counted; its neighbours stay.
func TestGiantClassIsDropped(t *testing.T) {
	k, _ := newRing(t)
	giant := &symbol.Class{Name: "g", Original: "G"}
	for i := range 120_000 {
		giant.Members = append(giant.Members, symbol.Member{Name: fmt.Sprintf("%090d", i), Method: &symbol.Method{Original: "m", Type: "void"}})
	}
	l := encodeClasses(t, k, []*symbol.Class{giant, {Name: "a", Original: "A"}, {Name: "b", Original: "B"}}, Table{Strings: []string{""}, Runs: []uint32{0}})
	if l.out.Dropped.Ranges != 1 || l.out.Ranges != 2 {
		t.Fatalf("%+v", l.out)
	}
}

// Whatever stands in a row of classes that passed its seal, opening it neither panics nor takes more memory than a
// row may, and so do its classes.
func FuzzClasses(f *testing.F) {
	k, _ := newRing(f)
	classes := randomClasses(rand.New(rand.NewPCG(1, 2)), 40)
	l := encodeClasses(f, k, classes, classTable(classes))
	body, err := l.opened.body(nil, l.opened.key(0), l.rows[0], bodyClasses)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add(exampleClassBlock(f))
	dict := l.opened.dict.Load()
	f.Fuzz(func(t *testing.T, body []byte) {
		d := k.decompressor()
		defer k.decompressors.Put(d)
		b, err := decodeClasses(d, dict, body, 1<<64-1)
		if err != nil {
			return
		}
		if b.Bytes() > 32*maxBodyBytes {
			t.Fatalf("%d bytes of memory", b.Bytes())
		}
		p := NewPacker(nil)
		for i := range min(b.Classes(), 100) {
			if x, err := b.Class(b.ClassName(i)); err == nil {
				whole, err := x.whole() // what was checked can be made
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range whole.Members[:min(10, len(whole.Members))] {
					x.Named(m.Name)
				}
			}
			c, err := b.ClassAt(i)
			if err != nil {
				continue
			}
			if len(c.Members) > len(body)*1000 {
				t.Fatalf("%d members", len(c.Members))
			}
			p.Append(nil, c)
		}
	})
}

// The sorter hands on only what it was given; a packed class that is broken is an error all the same.
func FuzzPacked(f *testing.F) {
	share := func(s string) uint32 { return uint32(len(s) % 3) }
	p := NewPacker(share)
	for _, c := range randomClasses(rand.New(rand.NewPCG(3, 4)), 20) {
		f.Add(p.Append(nil, c))
	}
	t := &Table{Strings: []string{"", "a.B", "int"}}
	f.Fuzz(func(test *testing.T, b []byte) {
		w := newClassWriter(t, []sorted{{at: 2}})
		w.open(0)
		var packed packedClass
		if packed.read(b) == nil && len(b) < classBytes {
			_ = w.add(&packed) // it may refuse
		}
		c, err := t.Unpack(b)
		if err != nil {
			return
		}
		again := NewPacker(nil).Append(nil, c)
		// A class that names itself as another may come back with one more source file.
		if d, err := t.Unpack(again); err != nil || d.Original != c.Original || d.File != c.File || !reflect.DeepEqual(c.Members, d.Members) {
			test.Fatalf("%v: %+v, then %+v", err, c, d)
		}
	})
}

// What the lake is given is the class that was packed, whichever of its strings have numbers.
func TestUnpack(t *testing.T) {
	table := &Table{Strings: []string{"", "void", "x.Y", "o.P"}, Numbers: []uint32{0, 0, 3, 1, 2}}
	p := NewPacker(func(s string) uint32 {
		return map[string]uint32{"void": 3, "x.Y": 4, "o.P": 2}[s]
	})
	for _, c := range randomClasses(rand.New(rand.NewPCG(5, 6)), 500) {
		b := p.Append(nil, c)
		got, err := table.Unpack(b)
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Fatalf("%v\n got %+v\nwant %+v", err, got, c)
		}
		if name, err := PackedName(b); err != nil || name != c.Name {
			t.Fatalf("%q, %v, want %q", name, err, c.Name)
		}
	}
}
