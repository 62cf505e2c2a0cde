package loads

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
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/classes"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/rowtest"
)

// classLoad is a load of classes, made with a table of strings or none.
type classLoad struct {
	ring   *row.Keyring
	out    *row.Loaded
	rows   []sinks.Row
	opened *Opened
}

func encodeClasses(t fataler, k *row.Keyring, all []*symbol.Class, table dictionary.Table) *classLoad {
	t.Helper()
	secret := row.NewSecret()
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b *symbol.Class) int { return cmp.Compare(secret.Position(a.Name), secret.Position(b.Name)) })
	l := &classLoad{ring: k}
	a := symbol.Artifact{ID: symbol.NewID(symbol.R8, "cafe"), Kind: symbol.R8, Canonical: "cafe"}
	e, err := NewEncoder(k, &a, row.NewLoad(time.Now()), secret, table, func(r sinks.Row) error { l.rows = append(l.rows, r); return nil })
	if err != nil {
		t.Fatal(err)
	}
	packer := classes.NewPacker(func(s string) uint32 { return uint32(max(0, slices.Index(table.Strings, s))) })
	for _, c := range all {
		if err := e.AddClass(&classes.Packed{Position: secret.Position(c.Name), Form: packer.Append(nil, c)}); err != nil {
			t.Fatal(err)
		}
	}
	if l.out, err = e.Close(); err != nil {
		t.Fatal(err)
	}
	if l.opened, err = Open(k, a.ID, l.out); err != nil {
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
func classTable(all []*symbol.Class) dictionary.Table {
	t := dictionary.Table{Strings: []string{""}, Runs: []uint32{0}}
	at := map[string]int{}
	p := classes.NewPacker(func(s string) uint32 {
		if at[s] == 0 {
			at[s] = len(t.Strings)
			t.Strings, t.Runs = append(t.Strings, s), append(t.Runs, 0)
		}
		t.Runs[at[s]] += 10_000 // worth a dictionary
		return uint32(at[s])
	})
	for _, c := range all {
		p.Append(nil, c)
	}
	return t
}

func TestClassesComeBack(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	k, _ := newRing(t)
	all := rowtest.Classes(r, 6000)
	var digest [32]byte
	for i, table := range []dictionary.Table{{Strings: []string{""}, Runs: []uint32{0}}, classTable(all)} {
		l := encodeClasses(t, k, all, table)
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
		for _, c := range all {
			at, ok := l.opened.IndexOf(c.Name)
			if !ok {
				t.Fatalf("no row speaks for %q", c.Name)
			}
			got, err := blocks[at].Classes.Class(c.Name)
			if err != nil || !reflect.DeepEqual(got.Whole(), c) {
				t.Fatalf("%v\n got %+v\nwant %+v", err, got, c)
			}
			sameMembers(t, got, c)
		}
		if at, _ := l.opened.IndexOf("not there"); true {
			if got, err := blocks[at].Classes.Class("not there"); got != nil || err != nil {
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
	all[17].Synthesized = !all[17].Synthesized
	if l := encodeClasses(t, k, all, dictionary.Table{Strings: []string{""}, Runs: []uint32{0}}); l.out.Digest == digest {
		t.Fatal("another class has the same digest")
	}
}

// sameMembers compares the members of each name, and of names that are none.
func sameMembers(t testing.TB, got *classes.Class, c *symbol.Class) {
	t.Helper()
	names := []string{"", "a", "not there", "~"}
	for i := range c.Members {
		if name := c.Members[i].Name; name != names[len(names)-1] {
			names = append(names, name)
		}
	}
	for _, name := range names {
		for _, named := range []func(string) []symbol.Member{got.Named, got.Whole().Named} {
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
	l := encodeClasses(t, k, []*symbol.Class{{Name: "secretname", Original: "com.example.Secret"}}, dictionary.Table{Strings: []string{""}, Runs: []uint32{0}})
	for _, r := range l.rows {
		if all := string(r.Key) + string(r.Value); strings.Contains(all, "secretname") || strings.Contains(all, "Secret") {
			t.Fatalf("row %x tells", r.Key)
		}
	}
	changed := slices.Clone(l.rows[0].Value)
	changed[len(changed)-1] ^= 1
	if _, err := l.opened.Block(0, sinks.Row{Key: l.rows[0].Key, Value: changed}); !errors.Is(err, row.ErrUnauthentic) {
		t.Fatal(err)
	}
}

// A class that no reader would take is left out and counted; its neighbors stay.
func TestGiantClassIsDropped(t *testing.T) {
	k, _ := newRing(t)
	giant := &symbol.Class{Name: "g", Original: "G"}
	for i := range 120_000 {
		giant.Members = append(giant.Members, symbol.Member{Name: fmt.Sprintf("%090d", i), Method: &symbol.Method{Original: "m", Type: "void"}})
	}
	l := encodeClasses(t, k, []*symbol.Class{giant, {Name: "a", Original: "A"}, {Name: "b", Original: "B"}}, dictionary.Table{Strings: []string{""}, Runs: []uint32{0}})
	if l.out.Dropped.Ranges != 1 || l.out.Ranges != 2 {
		t.Fatalf("%+v", l.out)
	}
}
