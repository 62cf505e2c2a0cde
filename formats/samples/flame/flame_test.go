package flame

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/samples"
)

// hostile is a name that must be escaped in every place where it stands.
const hostile = "</title></script><script>alert(1)</script>]]>&\"'\x00\x1b\u2028\uffff\xff"

// builder makes a profile of stacks in text: "main;work;leaf".
type builder struct {
	*samples.Profile
	t *testing.T
}

func (b builder) add(thread int32, stack string, values ...int64) {
	b.t.Helper()
	at := int32(samples.None)
	for name := range strings.SplitSeq(stack, ";") {
		f, err := b.Frame(samples.Frame{Function: name, File: "src/" + name + ".c", Module: "lib" + name[:1] + ".so"})
		if err == nil {
			at, err = b.Push(at, f)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	if err := b.Add(samples.Sample{Stack: at, Thread: thread, Time: -1}, values...); err != nil {
		b.t.Fatal(err)
	}
}

func shop(t *testing.T) *samples.Profile {
	p := &samples.Profile{Name: "shop", Types: []samples.Type{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, Default: 1, Lost: 3,
		Threads: []samples.Thread{{PID: 1, TID: 1, Name: "main", Process: "shop"}, {PID: 1, TID: 2, Name: "render"}}}
	b := builder{p, t}
	b.add(0, "main;work;add", 2, 20e6)
	b.add(0, "main;work", 1, 10e6)
	b.add(1, "start;draw;"+hostile, 4, 40e6)
	b.add(1, "start;draw;tiny", 1, 1)
	b.add(samples.None, "lost", 1, -5)
	return p
}

func written(t *testing.T, write func(io.Writer, *samples.Profile) error, p *samples.Profile) string {
	t.Helper()
	var one, two bytes.Buffer
	for _, to := range []*bytes.Buffer{&one, &two} {
		if err := write(to, p); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("equal samples give other bytes")
	}
	return one.String()
}

// texts returns the texts of a well-formed XML document, by their elements.
func texts(t *testing.T, doc string) map[string][]string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(doc))
	out := map[string][]string{}
	var in []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			in = append(in, token.Name.Local)
			out[token.Name.Local] = append(out[token.Name.Local], "")
		case xml.EndElement:
			in = in[:len(in)-1]
		case xml.CharData:
			if len(in) > 0 {
				all := out[in[len(in)-1]]
				all[len(all)-1] += string(token)
			}
		}
	}
}

func TestSVG(t *testing.T) {
	t.Parallel()
	doc := written(t, writeSVG, shop(t))
	all := texts(t, doc)
	titles := strings.Join(all["title"], "\n")
	for _, want := range []string{"Flame graph of shop", "main (30.0 ms, 42.86 %)\nsrc/main.c\nlibm.so", "work (30.0 ms, 42.86 %)", "add (20.0 ms, 28.57 %)", "draw (40.0 ms, 57.14 %)", "<script>alert(1)</script>]]>&\"'��"} {
		if !strings.Contains(titles, want) {
			t.Errorf("no title has %q:\n%s", want, titles)
		}
	}
	about := all["desc"][0]
	for _, want := range []string{"cpu: 70.0 ms in 5 samples", "1 frames are too small", "1 samples have a value below 0", "3 samples have no stack"} {
		if !strings.Contains(about, want) {
			t.Errorf("%q lacks %q", about, want)
		}
	}
	if n := len(all["script"]); n != 1 {
		t.Errorf("%d scripts", n)
	}
	if strings.Contains(titles, "tiny") {
		t.Error("a frame below a tenth of a pixel is drawn")
	}
}

// Profiles without samples, without values and with very deep stacks are drawn.
func TestSVGOdd(t *testing.T) {
	t.Parallel()
	zero := builder{&samples.Profile{Types: []samples.Type{{Name: "inuse", Unit: "bytes"}, {Name: "alloc", Unit: "bytes"}}}, t}
	zero.add(samples.None, "main", 0, 2048)
	deep := builder{&samples.Profile{}, t}
	deep.add(samples.None, strings.Repeat("f;", 20_000)+"g")
	for name, c := range map[string]struct {
		p    *samples.Profile
		want string
	}{
		"empty": {&samples.Profile{}, "samples: 0 samples in 0 samples"},
		"zero":  {zero.Profile, "alloc: 2.00 KiB in 1 samples"},
		"deep":  {deep.Profile, "1 frames are too small"},
	} {
		doc := written(t, writeSVG, c.p)
		if about := texts(t, doc)["desc"][0]; !strings.Contains(about, c.want) {
			t.Errorf("%s: %q, want %q", name, about, c.want)
		}
		d := dataOf(t, written(t, writePage, c.p))
		if len(d.Types) == 0 || len(d.Own) != len(d.Threads) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// dataOf reads the data of a page.
func dataOf(t *testing.T, page string) *data {
	t.Helper()
	const begin = `<script type="application/json" id="data">`
	_, text, ok := strings.Cut(page, begin)
	if !ok {
		t.Fatal("the page has no data")
	}
	text, _, _ = strings.Cut(text, "</script>")
	var d data
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

// stacks returns the values of a type of a page by stack.
func (d *data) stacks(thread, kind int) map[string]float64 {
	out := map[string]float64{}
	step := len(d.Types) + 1
	for i := 0; i < len(d.Own[thread]); i += step {
		n := int32(d.Own[thread][i])
		name := ""
		for {
			name = d.Functions[d.Nodes[2*n+1]].Name + ";" + name
			if d.Nodes[2*n] == 0 {
				break
			}
			n -= d.Nodes[2*n]
		}
		out[strings.TrimSuffix(name, ";")] += d.Own[thread][i+1+kind]
	}
	return out
}

func TestPage(t *testing.T) {
	t.Parallel()
	p := shop(t)
	page := written(t, writePage, p)
	d := dataOf(t, page)
	if want := []string{"main of shop (1)", "render (2)", "samples without a thread"}; fmt.Sprint(d.Threads) != fmt.Sprint(want) {
		t.Errorf("threads are %q, want %q", d.Threads, want)
	}
	if got, want := fmt.Sprint(d.stacks(0, 1)), "map[main;work:1e+07 main;work;add:2e+07]"; got != want {
		t.Errorf("stacks are %s, want %s", got, want)
	}
	if got := d.stacks(1, 0)["start;draw;tiny"]; got != 1 {
		t.Errorf("a frame that is small in one type only has %v", got)
	}
	if n := strings.Count(page, "<script"); n != 2 || strings.Contains(page, "alert(1)</script>") {
		t.Errorf("%d scripts", n)
	}
	for _, part := range []string{digest(pageScript), digest(pageStyle)} {
		if !strings.Contains(page, "'"+part+"'") {
			t.Errorf("the policy lacks %s", part)
		}
	}
	for _, other := range []string{"http:", "https:", "src=", "@import", "url("} {
		if strings.Contains(page, other) {
			t.Errorf("the page has %q", other)
		}
	}
}

// A page of many samples stays small, and what it folds stays in its sums.
func TestPageFolds(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	b := builder{&samples.Profile{}, t}
	sum := 0.0
	for range 13_000 {
		stack := "main"
		for range 2 + rnd.IntN(6) {
			stack += fmt.Sprintf(";f%d", rnd.IntN(40))
		}
		b.add(samples.None, stack)
		sum++
	}
	svg, page := written(t, writeSVG, b.Profile), written(t, writePage, b.Profile)
	d := dataOf(t, page)
	got := 0.0
	for _, v := range d.stacks(0, 0) {
		got += v
	}
	if got != sum || d.Folded == 0 || len(d.Nodes)/2 > 2*mostNodes {
		t.Errorf("the page has %v of %v samples in %d nodes, %d folded", got, sum, len(d.Nodes)/2, d.Folded)
	}
	if len(svg) > 3<<20 || len(page) > 1<<20 {
		t.Errorf("the picture has %d bytes, the page %d", len(svg), len(page))
	}
	t.Logf("the picture has %d bytes, the page %d in %d nodes", len(svg), len(page), len(d.Nodes)/2)
}

func TestValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v          float64
		unit, name string
		want       string
	}{
		{0, "nanoseconds", "cpu", "0 ns"}, {999, "nanoseconds", "cpu", "999 ns"}, {1500, "nanoseconds", "cpu", "1.50 µs"}, {123_456_789, "nanoseconds", "cpu", "123 ms"},
		{4.2e12, "nanoseconds", "cpu", "4200 s"}, {3 << 19, "bytes", "alloc", "1.50 MiB"}, {1234567, "count", "samples", "1,234,567 samples"}, {5, "", "", "5"}, {7, "widgets", "x", "7 widgets"},
	} {
		if got := value(c.v, c.unit, c.name); got != c.want {
			t.Errorf("%v %s is %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for room, want := range map[float64]string{10: "", 22: "λé…", 41.5: "λéxyzw", 400: "λéxyzw"} {
		if got := clip("λéxyzw", room); got != want {
			t.Errorf("%v pixels: %q, want %q", room, got, want)
		}
	}
}
