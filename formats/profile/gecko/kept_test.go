package gecko_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/gecko"
	"github.com/symlake/symlake/formats/profile/profiletest"
)

// The form passes the suite, with a profile that samply made of perf's samples of a program of ours.
func TestSuite(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../testdata/profile/kept/tree.gecko.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	in, _, _, err := profile.Unpack(profile.Bytes("tree.gecko.json.gz", raw))
	if err != nil {
		t.Fatal(err)
	}
	from, err := in.Open()
	if err != nil {
		t.Fatal(err)
	}
	var plain bytes.Buffer
	if _, err := plain.ReadFrom(from); err != nil {
		t.Fatal(err)
	}
	stacks(t, plain.String())
	o := &profile.Options{Ask: nothing}
	if out := answered(t, plain.String(), o); out != plain.String() || o.Counts.Samples != 633 || o.Counts.Places != 145 || o.Counts.Named != 45 {
		t.Errorf("%+v", o.Counts)
	}
	profiletest.Run(t, gecko.Format,
		profiletest.Fixture{Name: "processed", Data: []byte(newest), Samples: 3, Places: 4},
		profiletest.Fixture{Name: "browser", Data: []byte(browser), Samples: 3, Places: 6, Again: true})
}
