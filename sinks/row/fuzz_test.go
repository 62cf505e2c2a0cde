package row

import (
	"testing"

	"github.com/symlake/symlake/formats/symbol"
)

// bodies gives the opened rows of a load: the dictionary's first.
func (l *load) bodies(t testing.TB, o *Opened) (bodies [][]byte) {
	for i, r := range l.rows {
		key, form := rowKey(l.art.ID, l.out.Load, Dictionary, 0), bodyDictionary
		if i > 0 {
			key, form = o.key(i-1), bodyRanges
		}
		body, err := o.body(nil, key, r, form)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	return bodies
}

// Whatever stands in a row that passed its seal, opening it neither panics nor
// takes more memory than a row may, and what opens answers.
func FuzzBlock(f *testing.F) {
	k, _ := newRing(f)
	strs, runs := synthetic(60, 40)
	l := encode(f, k, artifact(1<<20), strs, runs)
	o := l.open(f)
	for i, b := range l.bodies(f, o)[1:] {
		f.Add(b, o.last[i], false)
	}
	f.Add([]byte{0, 1, 1}, uint64(10), false)
	seed := scriptSeed(f)
	f.Add(seed, uint64(3<<32-1), true)
	dict := o.dict.Load()
	f.Fuzz(func(t *testing.T, body []byte, last uint64, script bool) {
		form := bodyRanges
		if script {
			form = bodyScript
		}
		d := k.decompressor()
		defer k.decompressors.Put(d)
		b, err := decodeBlock(d, dict, body, last, form)
		if err != nil {
			return
		}
		if b.Bytes() > 16*maxBodyBytes {
			t.Fatalf("%d bytes of memory", b.Bytes())
		}
		at := b.from
		var asked []Question
		for range 50 {
			start, end := b.Range(at)
			if start > at || end <= at && end != 0 {
				t.Fatalf("Range(%#x) = [%#x, %#x)", at, start, end)
			}
			asked = append(asked, Question{Block: b, Pos: at}, Question{Block: b, Pos: end})
			if at = end; end == 0 || end > b.last {
				break
			}
		}
		together(t, asked)
		n := 0
		err = b.Each(func(start, end uint64, chain []symbol.Frame) error { n++; return nil })
		if err != nil || n > len(b.parts) {
			t.Fatalf("%d ranges, %v", n, err)
		}
	})
}

// scriptSeed is the body of a small block of a script.
func scriptSeed(t testing.TB) []byte {
	k, _ := newRing(t)
	strs := []string{"", "a.ts", "b.ts", "add", "cart", "n"}
	l := encodeScript(t, k, script(3<<32), strs, []*symbol.Script{{Run: symbol.Run{Rank: symbol.RankScript, Strings: strs,
		Scopes: []symbol.Scope{{Parent: -1, Function: 3}, {Parent: 0, Function: 4, Call: symbol.Site{File: 2, Line: 4, Column: 5}}},
		Ranges: []symbol.Range{{Start: 4, End: 9, At: symbol.Site{File: 1, Line: 3}}, {Start: 9, End: 12, Scope: 1, At: symbol.Site{File: 2, Line: 3, Column: 7}},
			{Start: 12, End: 1 << 32, At: symbol.Site{File: 1, Line: 9, Column: 2}}}},
		Marks: []symbol.Mark{{Name: 5}, {Flags: symbol.Linear}, {Name: 5, Flags: symbol.Ignored}}}})
	o := l.open(t)
	body, err := o.body(nil, o.key(0), l.rows[0], bodyScript)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func FuzzDictionary(f *testing.F) {
	k, _ := newRing(f)
	strs, runs := synthetic(60, 40)
	l := encode(f, k, artifact(1<<20), strs, runs)
	f.Add(l.bodies(f, l.open(f))[0])
	f.Add([]byte{1, 5, 1, 0, 1, 3, 0})
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := openDictionary(k, body)
		if err != nil {
			return
		}
		for i := range min(d.count, 5000) {
			_ = d.string(uint32(i))
		}
		if n := d.held.Load(); n > int64(len(d.pages))*(maxSharedBytes+pageStrings*int64(stringBytes)) {
			t.Fatalf("%d bytes held", n)
		}
	})
}

func FuzzFence(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0x80, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, last, err := Fence(b).rows()
		if err != nil {
			return
		}
		for i := 1; i < len(last); i++ {
			if last[i] <= last[i-1] {
				t.Fatalf("row %d ends at %#x after %#x", i, last[i], last[i-1])
			}
		}
	})
}
