package all_test

import (
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/formats/formattest"
)

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range all.Formats() {
		if f.Name == "" || f.Version < 1 || f.Detect == nil || f.Open == nil || seen[f.Name] {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
		if f.Detect("", nil) || f.Detect("x", []byte("x")) {
			t.Errorf("%s claims what is nothing", f.Name)
		}
	}
}

// Archives lead to the artifacts in them.
func TestArchivesLeadToArtifacts(t *testing.T) {
	for name, want := range map[string]int{"game.apk": 1, "symbols.tar.gz": 1, "symbols.tar.zst": 1, "libengine.a": 1} {
		artifacts := 0
		var dive func(in *formats.Input) error
		dive = func(in *formats.Input) error {
			_, obj, err := formats.Open(t.Context(), all.Formats(), in)
			if err != nil || obj == nil {
				return err
			}
			if obj.Close != nil {
				defer obj.Close()
			}
			artifacts += len(obj.Artifacts)
			for _, a := range obj.Artifacts {
				if !strings.HasPrefix(in.Name, name+"!") || a.Canonical == "" {
					t.Errorf("%s: %+v", in.Name, a.Artifact)
				}
			}
			if obj.Members == nil {
				return nil
			}
			return obj.Members(t.Context(), dive)
		}
		if err := dive(formattest.Input(t, formattest.Testdata(t, "elf/archive/"+name))); err != nil || artifacts < want {
			t.Errorf("%s: %d artifacts, %v", name, artifacts, err)
		}
	}
}
