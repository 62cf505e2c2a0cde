package wasmfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

const header = "\x00asm\x01\x00\x00\x00"

// vec is bytes with their count before them.
func vec(b string) string {
	return string(binary.AppendUvarint(nil, uint64(len(b)))) + b
}

// section is a section of a module.
func section(id byte, body string) string { return string(id) + vec(body) }

// custom is a custom section.
func custom(title, body string) string { return section(0, vec(title)+body) }

func open(t *testing.T, b string, lim formats.Limits) (*File, *Functions, error) {
	t.Helper()
	f, err := Open(formattest.InputOf("m.wasm", []byte(b), lim))
	if err != nil {
		return nil, nil, err
	}
	all, err := f.Functions(t.Context())
	return f, all, err
}

// Bad input is rejected with its section, an offset and an expectation.
func TestHostile(t *testing.T) {
	code := section(sectionCode, "\x01\x02\x00\x0b")
	for name, c := range map[string]struct {
		file string
		err  error
		want string
	}{
		"no magic":               {"\x00asn\x01\x00\x00\x00", formats.ErrCorrupt, "magic"},
		"cut header":             {"\x00asm\x01", formats.ErrCorrupt, "8 bytes"},
		"version 2":              {"\x00asm\x02\x00\x00\x00", formats.ErrUnsupported, "version"},
		"size beyond the file":   {header + "\x0a\xff\xff\x03\x00", formats.ErrCorrupt, "bytes of section 10"},
		"size of 33 bits":        {header + "\x0a\xff\xff\xff\xff\x1f\x00", formats.ErrCorrupt, "number of 32 bits"},
		"size of six bytes":      {header + "\x0a\x80\x80\x80\x80\x80\x00", formats.ErrCorrupt, "number of 32 bits"},
		"size without end":       {header + "\x0a\x80\x80", formats.ErrCorrupt, "size of a section"},
		"two code sections":      {header + code + code, formats.ErrCorrupt, "one section 10"},
		"more functions":         {header + section(sectionCode, "\xff\xff\xff\xff\x0f\x02\x00\x0b"), formats.ErrCorrupt, "room for 4294967295 of functions"},
		"function beyond":        {header + section(sectionCode, "\x01\x09\x00\x0b"), formats.ErrCorrupt, "9 bytes of function 0"},
		"more imports":           {header + section(sectionImport, "\x70\x01a\x01b\x00\x00") + code, formats.ErrCorrupt, "room for 112 of imports"},
		"import of what":         {header + section(sectionImport, "\x01\x01a\x01b\x09\x00") + code, formats.ErrCorrupt, "known kind of import"},
		"import in Latin-1":      {header + section(sectionImport, "\x01\x01\xe4\x01b\x00\x00") + code, formats.ErrCorrupt, "UTF-8"},
		"a memory of 65 bits":    {header + section(sectionImport, "\x01\x01a\x01b\x02\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02") + code, formats.ErrCorrupt, "number of 64 bits"},
		"more exports":           {header + section(sectionExport, "\x7f\x01a\x00\x00") + code, formats.ErrCorrupt, "room for 127 of exports"},
		"a type of heap forever": {header + section(sectionImport, "\x01\x01a\x01b\x03\x63\x80\x80\x80\x80\x80\x80") + code, formats.ErrCorrupt, "type of heap"},
	} {
		_, _, err := open(t, c.file, formats.Limits{})
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %v: %s", name, err, c.err, c.want)
		}
	}
	many := header + section(sectionCode, "\x05"+strings.Repeat("\x02\x00\x0b", 5))
	if _, _, err := open(t, many, formats.Limits{Symbols: 4}); !errors.Is(err, formats.ErrLimit) {
		t.Errorf("5 of 4 functions: %v", err)
	}
}

// A module with damaged custom sections stands.
func TestDamagedCustomSections(t *testing.T) {
	code := section(sectionCode, "\x02\x02\x00\x0b\x02\x00\x0b")
	for name, c := range map[string]struct {
		file   string
		names  string
		damage bool
	}{
		"sound":             {code + custom("name", "\x01\x07\x02\x00\x01f\x01\x01g"), "f g", false},
		"other parts":       {code + custom("name", "\x00\x02\x01m\x07\x01\x00\x01\x04\x01\x01\x01g\x09\x01\x00"), "g", false},
		"cut":               {code + custom("name", "\x01\x07\x02\x00\x01f\x01\x09g"), "f", true},
		"more names":        {code + custom("name", "\x01\x04\x7f\x00\x01f"), "", true},
		"beyond the part":   {code + custom("name", "\x01\x03\x01\x00\x02ff"), "", true},
		"no such function":  {code + custom("name", "\x01\x04\x01\x07\x01f"), "", false},
		"an empty name":     {code + custom("name", "\x01\x03\x01\x00\x00"), "", false},
		"twice":             {code + custom("name", "\x01\x07\x02\x00\x01f\x00\x01g"), "f", false},
		"a second section":  {code + custom("name", "\x01\x04\x01\x00\x01f") + custom("name", "\x01\x04\x01\x01\x01g"), "f", false},
		"a title cut short": {code + section(0, "\x7fname"), "", false},
		"a build_id of one": {code + custom("build_id", "\x01"), "", false},
		"a link in Latin-1": {code + custom("external_debug_info", "\x01\xe4"), "", false},
	} {
		f, all, err := open(t, header+c.file, formats.Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var names []string
		for _, n := range all.Names {
			names = append(names, n.Text)
		}
		if got := strings.Join(names, " "); got != c.names || (all.Damage != nil) != c.damage {
			t.Errorf("%s: %q, %v", name, got, all.Damage)
		}
		if url, err := f.ExternalDebugInfo(); url != "" || err != nil {
			t.Errorf("%s: %q, %v", name, url, err)
		}
	}
}

// Imports come in the shapes of every proposal that has an encoding.
func TestImports(t *testing.T) {
	imports := "\x0a" +
		"\x01a\x01b\x00\x07" + // a function
		"\x01a\x01b\x01\x70\x00\x01" + // tables
		"\x01a\x01b\x01\x63\x80\x01\x01\x01\x02" + // of references to a type
		"\x01a\x01b\x02\x01\x01\x02" + // memories
		"\x01a\x01b\x02\x04\x80\x80\x80\x80\x80\x01" + // of 64 bits
		"\x01a\x01b\x02\x08\x01\x00" + // with pages of one byte
		"\x01a\x01b\x03\x7f\x01" + // a global
		"\x01a\x01b\x04\x00\x03" + // a tag
		"\x01m\x00\x7f\x02\x01p\x00\x01\x01q\x03\x7f\x00" + // imports of one module
		"\x01n\x00\x7e\x00\x02\x02\x01r\x01s" // and of one type
	f, all, err := open(t, header+section(sectionImport, imports)+section(sectionCode, "\x01\x02\x00\x0b"), formats.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a.b", "m.p", "n.r", "n.s"}; !slices.Equal(all.Imported, want) {
		t.Errorf("%q, want %q", all.Imported, want)
	}
	if imported, defined, err := f.CountFunctions(); imported != 4 || defined != 1 || err != nil {
		t.Error(imported, defined, err)
	}
}

// A build_id is a vector of bytes, or the bytes alone.
func TestBuildID(t *testing.T) {
	id := "0123456789abcdef"
	for payload, want := range map[string]string{vec(id): id, id: id, "": "", "\x00": ""} {
		f, err := Open(formattest.InputOf("m.wasm", []byte(header+custom("build_id", payload)), formats.Limits{}))
		if err != nil {
			t.Fatal(err)
		}
		got, all, err := f.BuildID()
		if err != nil || string(got) != want || !bytes.Equal(all, []byte(payload)) {
			t.Errorf("%q: %q of %q, %v", payload, got, all, err)
		}
	}
}
