package sentry

import (
	"errors"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// TestRefused: each file is refused with a word that names what to hand in.
func TestRefused(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		"SYMC\x08\x00\x00\x00": "symcache",
		"CMYS\x00\x00\x03\xe8": "the PDB",
		"CIFC\x02\x00\x00\x00": "PE image",
		"CFIC\x00\x00\x00\x02": "PE image",
		"PDBC\x02\x00\x00\x00": "portable PDB",
		"SMCA\x01\x00\x00\x00": "source map",
		"SYSB\x02\x00\x00\x00": "source bundle",
	} {
		in := formattest.InputOf("x", []byte(head+strings.Repeat("\x00", 60)), formats.Limits{})
		if !Cache.Detect("x", []byte(head)) {
			t.Fatalf("%q is not recognized", head)
		}
		_, err := Cache.Open(t.Context(), in)
		if !errors.Is(err, formats.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", head, err)
		}
	}
	for _, head := range []string{"", "SYMC", "SYMC\x00\x00\x00\x00", "SYMCABCD", "SYSBABCD", "PK\x03\x04\x01\x00\x00\x00"} {
		if Cache.Detect("x", []byte(head)) {
			t.Errorf("%q is recognized", head)
		}
	}
}

func FuzzDetect(f *testing.F) {
	f.Add([]byte("SYMC\x08\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) { formattest.Fuzz(t, &Cache, "SYMC", data) })
}
