package records

import (
	"bytes"
	"testing"

	"github.com/symlake/symlake/formats/samples"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	p := &samples.Profile{Name: "shop", Types: []samples.Type{{Name: "cpu", Unit: "nanoseconds"}, {Name: "cpu", Unit: "count"}, {Name: "cpu", Unit: "count"}},
		Threads: []samples.Thread{{PID: 7, TID: 8, Name: "main", Process: "shop"}}}
	main, err := p.Frame(samples.Frame{Function: "main <\"1\">", File: "main.c", Line: 3, Module: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	add, err := p.Frame(samples.Frame{Function: "add", Linkage: "_Z3add", Inlined: true})
	if err != nil {
		t.Fatal(err)
	}
	outer, err := p.Push(samples.None, main)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := p.Push(outer, add)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []samples.Sample{{Stack: inner, Thread: 0, Time: 12}, {Stack: samples.None, Thread: samples.None, Time: -1}} {
		if err := p.Add(s, 5, 6, -7); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := Format.Write(&out, p); err != nil {
		t.Fatal(err)
	}
	const want = `{"profile":"shop","sample":0,"process":"shop","pid":7,"thread":"main","tid":8,"time":12,"values":{"cpu":5,"cpu_count":6,"cpu_count_2":-7},"frames":[` +
		`{"function":"add","linkage":"_Z3add","file":"","line":0,"column":0,"module":"","inlined":true},` +
		`{"function":"main <\"1\">","linkage":"","file":"main.c","line":3,"column":0,"module":"shop","inlined":false}]}` + "\n" +
		`{"profile":"shop","sample":1,"process":"","pid":0,"thread":"","tid":0,"time":null,"values":{"cpu":5,"cpu_count":6,"cpu_count_2":-7},"frames":[]}` + "\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	out.Reset()
	if err := Format.Write(&out, &samples.Profile{}); err != nil || out.Len() > 0 {
		t.Errorf("an empty profile gives %q, %v", out.String(), err)
	}
}
