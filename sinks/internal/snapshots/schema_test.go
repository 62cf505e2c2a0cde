package snapshots

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/symlake/symlake/sinks/internal/answers"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

const frames = `{"type":"struct","schema-id":3,"identifier-field-ids":[1],"fields":[{"id":1,"name":"address","required":true,"type":"long"},
{"id":2,"name":"props","required":false,"type":{"type":"map","key-id":3,"key":"string","value-id":4,"value":"string","value-required":false}}]}`

// Columns get ids that the source does not use, twice the same ones, and a mapping by name.
func TestEvolve(t *testing.T) {
	for _, stacks := range []bool{false, true} {
		s, err := parseSchema([]byte(frames))
		if err != nil {
			t.Fatal(err)
		}
		added := copyOf(answers.Columns("", stacks))
		last := 4
		if changed, err := s.evolve(s, added, &last); err != nil || !changed || last < firstID {
			t.Fatalf("changed %t, the last id is %d: %v", changed, last, err)
		}
		text, err := s.encode(7)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseSchema(text)
		if err != nil {
			t.Fatal(err)
		}
		source, err := parseSchema([]byte(frames))
		if err != nil {
			t.Fatal(err)
		}
		adopted, before := copyOf(answers.Columns("", stacks)), last
		if changed, err := again.evolve(source, adopted, &last); err != nil || changed || last != before {
			t.Errorf("again: changed %t, the last id is %d of %d: %v", changed, last, before, err)
		}
		for i := range added.Columns {
			a, b := added.Columns[i], adopted.Columns[i]
			if a.ID != b.ID || a.Element != b.Element || !slices.EqualFunc(a.Fields, b.Fields, func(x, y pqfile.Column) bool { return x.ID == y.ID }) {
				t.Errorf("%+v became %+v", a, b)
			}
		}
		m, err := again.mapping(map[string]string{mappingProperty: `[{"field-id":1,"names":["address","pc"]}]`})
		if err != nil {
			t.Fatal(err)
		}
		var all []mappedField
		if err := json.Unmarshal([]byte(m[mappingProperty]), &all); err != nil || len(all) != 2+len(added.Columns) || all[0].Names[1] != "pc" || all[1].Fields[1].ID != 4 {
			t.Errorf("%v: %s", err, m)
		}
	}
	renamed, err := parseSchema([]byte(`{"fields":[{"id":1,"name":"pc","required":true,"type":"long"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseSchema([]byte(frames))
	if err != nil {
		t.Fatal(err)
	}
	last := 4
	if changed, err := s.evolve(renamed, &pqfile.Table{}, &last); err != nil || !changed || s.fields[0].Name != "pc" {
		t.Errorf("renamed: changed %t, %v, %+v", changed, err, s.fields)
	}
	for text, other := range map[string]string{
		frames: `{"fields":[{"id":1,"name":"address","required":false,"type":"int"}]}`,
		`{"fields":[{"id":2,"name":"address","required":false,"type":"long"}]}`: frames,
		`{"fields":[{"id":9,"name":"line","required":false,"type":"string"}]}`:  `{"fields":[]}`,
		`{"fields":[{"id":9,"name":"must","required":true,"type":"string"}]}`:   `{"fields":[]}`,
	} {
		s, err := parseSchema([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		source, err := parseSchema([]byte(other))
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		if _, err := s.evolve(source, copyOf(answers.Columns("", false)), &last); !errors.Is(err, ErrTable) {
			t.Errorf("%s with %s: %v", text, other, err)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(frames))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseSchema(b)
		if err != nil {
			if !errors.Is(err, ErrTable) {
				t.Fatal(err)
			}
			return
		}
		last := 0
		if _, err := s.evolve(s, copyOf(answers.Columns("", true)), &last); err != nil {
			return
		}
		text, err := s.encode(1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseSchema(text); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if _, err := s.mapping(nil); err != nil {
			t.Fatal(err)
		}
	})
}
