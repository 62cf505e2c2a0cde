package ingest

import (
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/upkeep"
	"github.com/symlake/symlake/sinks/catalog"
)

// apps are the names that a record has from apps.
func (w *world) apps(id string) []string {
	var apps []string
	for _, n := range w.record(id).Names {
		if n.Kind == symbol.NameApp {
			apps = append(apps, n.Text)
		}
	}
	return apps
}

// rename runs Rename over the world's source.
func (w *world) rename() *report.Report {
	w.t.Helper()
	report, err := upkeep.Rename(w.t.Context(), []discover.Source{w.src}, upkeep.RenameOptions{Stores: w.projection(), Now: w.o.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

func TestRename(t *testing.T) {
	w := newWorld(t)
	w.src.Names = "android/{app}/{build}/**"
	w.put("android/shop/12/x/liba.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("android/mail/3/x/liba.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("android/shop/12/x/libb.so", "FAKE\nid "+idB+"\nf 0 8 b 1\n")
	w.run()
	before := w.record(idA).Published.Load

	if r := w.rename(); r.Objects.Renamed != 0 || r.Objects.Seen != 3 {
		t.Fatalf("nothing is called otherwise: %+v", r.Objects)
	}
	// Another pattern, and a sidecar for one of the two objects that hold A.
	w.src.Names = "android/{app}/{build}/x/libb.so"
	w.put("android/shop/12/x/liba.so.symlake.json", `{"app":"Store","build":"12"}`)
	w.put("new.so", "FAKE\nid "+idC+"\nf 0 8 c 1\n")
	dry := upkeep.RenameOptions{Stores: w.projection(), DryRun: true, Now: w.o.Now}
	if r, err := upkeep.Rename(t.Context(), []discover.Source{w.src}, dry); err != nil || r.Objects.Renamed != 2 || len(w.apps(idA)) != 4 {
		t.Fatalf("dry run: %+v, %v, %v", r.Objects, err, w.apps(idA))
	}
	if r := w.rename(); r.Objects.Renamed != 2 || r.Objects.Loaded != 0 {
		t.Fatalf("%+v", r.Objects)
	}
	if got, want := w.apps(idA), []string{"Store@12", "Store@12/liba.so"}; !slices.Equal(got, want) {
		t.Errorf("A is called %q, want %q", got, want)
	}
	if got, want := w.apps(idB), []string{"shop@12", "shop@12/libb.so"}; !slices.Equal(got, want) {
		t.Errorf("B is called %q, want %q", got, want)
	}
	for name, want := range map[string]int{"store@12": 1, "store@12/liba.so": 1, "mail@3": 0, "mail@3/liba.so": 0, "shop@12": 1, "shop@12/liba.so": 0, idA: 1, idC: 0} {
		if refs, err := w.cat.Names.Find(t.Context(), name, 0); err != nil || len(refs) != want {
			t.Errorf("%s leads to %v, %v; want %d", name, refs, err, want)
		}
	}
	if got := w.record(idA).Published.Load; got != before {
		t.Error("it was loaded again")
	}
	if r := w.rename(); r.Objects.Renamed != 0 {
		t.Errorf("a second time: %+v", r.Objects)
	}
	w.verify()
}

// A name stays while any object that holds the artifact has it.
func TestRenameKeepsWhatOthersSay(t *testing.T) {
	w := newWorld(t)
	w.src.Names = "{app}/{build}/**"
	w.put("shop/12/liba.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.put("shop/12/again/liba.so", "FAKE\nid "+idA+"\nf 0 8 a 1\n")
	w.run()
	w.put("shop/12/again/liba.so.symlake.json", `{"app":"mail","build":"7"}`)
	if r := w.rename(); r.Objects.Renamed != 1 {
		t.Fatalf("%+v", r.Objects)
	}
	want := []string{"mail@7", "mail@7/liba.so", "shop@12", "shop@12/liba.so"}
	if got := w.apps(idA); !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	var ledger []string
	err := w.cat.Ledger.Each(t.Context(), "", func(o *catalog.Object) error {
		ledger = append(ledger, o.App)
		return nil
	})
	if slices.Sort(ledger); err != nil || !slices.Equal(ledger, []string{"mail@7", "shop@12"}) {
		t.Fatalf("%q, %v", ledger, err)
	}
}
