package il2cpp

import (
	"slices"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

func TestDetect(t *testing.T) {
	for text, want := range map[string]bool{
		`{"/b/Game.cpp":{"/p/Player.cs":{"10":5}}}`:                            true,
		`{"__debug-id__":"x","/b/Game.cpp":{"/p/Player.cs":{"10":5}}}`:         true,
		`{"/b/Game.cpp":{"/p/Player.cs":{"10"`:                                 true,
		`{"version":3,"mappings":""}`:                                          false,
		`{"a.cpp":"b.cs"}`:                                                     false,
		`{"version":3,"x":{"a.cs":{}},"/b/Game.cpp":{"/p/Player.cs":{"1":5}}}`: false,
		`[]`: false,
	} {
		if Format.Detect("any.json", []byte(text)) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
	line := []byte("f\tSystem.Void A::B()\tX\n")
	if !Methods.Detect("a/MethodMap.tsv", line) || Methods.Detect("a/other.tsv", line) || Methods.Detect("MethodMap.tsv", []byte("a\tb\tc\n")) {
		t.Error("methods")
	}
}

// A map is known by what it says and by the folders it lies in.
func TestCompanions(t *testing.T) {
	text := `{"__debug-id__":"A1","/b/Game.cpp":{"/p/Player.cs":{"10":5}}}`
	in := formattest.InputOf("s3://b/b9d17e0181e7a8fea94a4cf08bdaa1f888def41d/LineNumberMappings.json", []byte(text), formats.Limits{})
	obj := formattest.Open(t, &Format, in)
	want := []string{"il2cpp:b9d17e01-81e7-a8fe-a94a-4cf08bdaa1f8", "il2cpp:017ed1b9-e781-fea8-a94a-4cf08bdaa1f8", "il2cpp:a1"}
	if !slices.Equal(obj.Companions, want) || obj.Note != "" {
		t.Errorf("%v, %q", obj.Companions, obj.Note)
	}
	obj = formattest.Open(t, &Methods, formattest.InputOf("MethodMap.tsv", []byte("f\tSystem.Void A::B()\tX\n"), formats.Limits{}))
	if obj.Companions != nil || obj.Note == "" {
		t.Errorf("%v, %q", obj.Companions, obj.Note)
	}
}
