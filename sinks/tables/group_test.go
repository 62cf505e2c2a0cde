package tables

import (
	"errors"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// The numbers are durable: users compare stored ones with new ones. printf 'a\nb\n' | sha256sum makes them.
func TestGroupOf(t *testing.T) {
	for _, c := range []struct {
		want  string
		names []string
	}{
		{"", nil},
		{"1:911169ddaaf146af", []string{"a", "b"}},
		{"1:911169ddaaf146af", []string{"a.cold", "b.isra.0.part.1"}},
		{"1:86dc03602dcf3852", []string{"a", "b", "c", "d", "e"}},
		{"1:86dc03602dcf3852", []string{"a", "b", "c", "d", "e", "f"}},
		{"1:b441ac55a2492a8d", []string{"_ZN4core9panicking5panic17h0123456789abcdefE"}},
		{"1:b441ac55a2492a8d", []string{"_ZN4core9panicking5panicE"}},
	} {
		if got := groupOf(c.names); got != c.want {
			t.Errorf("%v: %s, want %s", c.names, got, c.want)
		}
	}
}

// A group of a stack rests on the application's frames alone, and is there once they are final.
func TestGroupOfStack(t *testing.T) {
	type frame struct {
		file, function string // "": its artifact is not stored
	}
	const libc, app = "/apex/com.android.runtime/lib64/bionic/libc.so", "/data/app/shop/lib/arm64/libcart.so"
	ab := groupOf([]string{"a", "b"})
	for name, c := range map[string]struct {
		want   string
		frames []frame
	}{
		"all found":                        {ab, []frame{{app, "a"}, {app, "b"}}},
		"the system's do not count":        {ab, []frame{{libc, "abort"}, {app, "a"}, {libc, "qsort"}, {app, "b"}}},
		"nor need they be final":           {ab, []frame{{libc, ""}, {app, "a"}, {app, "b"}, {libc, ""}}},
		"one of the application's is not":  {"", []frame{{app, "a"}, {app, ""}, {app, "b"}}},
		"one behind the last that counts":  {groupOf([]string{"a", "b", "c", "d", "e"}), []frame{{app, "a"}, {app, "b"}, {app, "c"}, {app, "d"}, {app, "e"}, {app, ""}}},
		"the system's alone":               {groupOf([]string{"abort"}), []frame{{libc, "abort"}}},
		"the system's alone and not final": {"", []frame{{libc, "abort"}, {libc, ""}}},
		"nothing":                          {"", nil},
	} {
		var table textTable
		table.reset()
		x := newStackAnswer(&table)
		for _, f := range c.frames {
			a := symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Linkage: f.function}}}
			if f.function == "" {
				a = symbol.Answer{Status: symbol.NoArtifact, Err: errors.New("unknown")}
			}
			x.add(&report.Frame{File: f.file}, &a)
		}
		if got := table.list[x.end().Group]; got != c.want {
			t.Errorf("%s: group %q, want %q", name, got, c.want)
		}
	}
}
