package trace

import (
	"reflect"
	"testing"

	"github.com/symlake/symlake/formats/internal/json"
)

// One pass reads the same as a look at each value.
func FuzzChromePlain(f *testing.F) {
	for _, s := range []string{
		`{"name":"a.B.c()","cat":"m","ph":"X","ts":1.5,"dur":2,"pid":1,"tid":"x"},{"ph":"i","ts":5}`,
		"{ \"args\" : {\"a\":[1,{\"b\":\"]\"}]} ,\n\t\"ph\":\"B\",\"ts\":-1e3 ,\"name\":\"\", \"tid\":null}",
		`{"ph":"M","name":"thread_name","args":{"name":"t\"}"}}`, `{"ph":"B","name":"\u00e9","ts":3}`, `{"ph":"B",}`, `{"ph":"BB"}`, `{}`, `{"ph":"B"`, `{"a":1:2,"ph":"E"}`, `{"ph" "E"}`, `{"ph":"E""ts":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || data[0] != '{' {
			return
		}
		var e, want chromeEvent
		n := e.plain(data)
		if n == 0 {
			return
		}
		var s json.Scan
		if end, whole, ok := s.Value(data); !ok || !whole || end != n {
			t.Fatalf("an event of %d bytes; it has %d, %v, %v", n, end, whole, ok)
		}
		if !want.read(data[:n]) || !reflect.DeepEqual(e, want) {
			t.Fatalf("%s\n got %+v\nwant %+v", data[:n], e, want)
		}
	})
}

// Events as tracers write them are read in one pass: the numbers of the bench depend on it.
func TestChromePlain(t *testing.T) {
	var e chromeEvent
	const text = `{"name":"a.B.c()","cat":"m","ph":"X","ts":1.5, "dur":2,"pid":1,"tid":"x","args":{"data":{"x":[1]}}}`
	if n := e.plain([]byte(text + ",")); n != len(text) || string(e.name) != "a.B.c()" || e.phase != 'X' || string(e.dur) != "2" || string(e.tid) != `"x"` {
		t.Errorf("%d of %d: %+v", n, len(text), e)
	}
	for cut := range len(text) {
		if n := e.plain([]byte(text[:cut])); n != 0 {
			t.Fatalf("cut at %d: %d", cut, n)
		}
	}
}
