package jobs

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

const module = "github.com/symlake/symlake/"

// libraries are the packages below formats and sinks that are no adapters:
// they may be imported by siblings and from above.
var libraries = map[string]bool{
	"formats/symbol": true, "formats/report": true, "formats/report/all": true, "formats/report/reporttest": true, "formats/report/scripts": true, "formats/report/unread": true, "formats/retrace": true, "formats/room": true, "formats/trace": true, "formats/profile": true, "formats/profile/all": true, "formats/profile/profiletest": true, "formats/samples": true, "formats/samples/flame": true, "formats/samples/records": true, "formats/unwind": true, "formats/demangle": true, "formats/demangle/cxx": true, "formats/demangle/msvc": true, "formats/demangle/swift": true, "formats/all": true, "formats/formattest": true,
	"sinks/row": true, "sinks/catalog": true, "sinks/lookup": true, "sinks/answer": true, "sinks/group": true, "sinks/bucket": true, "sinks/kek": true, "sinks/kek/kms": true, "sinks/kek/kmstest": true, "sinks/all": true, "sinks/open": true, "sinks/stores": true, "sinks/sinktest": true, "sinks/scratch": true, "sinks/hostfile": true, "sinks/tables": true,
	"sinks/bucket/all": true, "sinks/bucket/buckettest": true,
}

// rank orders the four folders; an import stays level or goes down.
var rank = map[string]int{"formats": 1, "sinks": 2, "ingest": 3, "jobs": 4}

// violation says why package from may not import package to (both relative to
// the module), or "".
func violation(from, to string) string {
	top := func(p string) string { return strings.SplitN(p, "/", 2)[0] }
	inside := func(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }
	switch {
	case rank[top(from)] < rank[top(to)]:
		return "imports run jobs → ingest → sinks → formats"
	case inside(to, from) && !strings.Contains(to[len(from):], "/internal/") && isContract(from) && !(from == "formats" && to == "formats/symbol"):
		return "a contract never imports its child"
	case from == "formats/symbol":
		return "symbol imports nothing of ours"
	case top(from) == "formats" && top(to) != "formats":
		return "formats import formats only"
	case isAdapter(to) && !inside(from, to) && !allOf(from, to):
		return "only all names an adapter"
	case isStore(from) && (inside(to, "sinks/row") || inside(to, "sinks/catalog")):
		return "a store sees opaque rows only"
	case top(from) == "ingest" && (to == "sinks/lookup" || to == "sinks/answer"):
		return "ingest never looks up"
	case inside(from, "ingest") && to == "ingest":
		return "a run uses the packages below ingest, never the reverse"
	case inside(from, "ingest") && !inside(from, "ingest/upkeep") && !inside(from, "ingest/transfer") && (inside(to, "ingest/upkeep") || inside(to, "ingest/transfer")):
		return "a run does no upkeep"
	case from == "sinks/lookup" && (to == "sinks/answer" || inside(to, "formats/report") || to == "formats/retrace"):
		return "the thin client knows nothing of reports"
	case from == "sinks/lookup" && (to == "formats/all" || to == "sinks/all" || inside(to, "ingest")):
		return "the thin client brings no parser and no store"
	}
	return ""
}

func isContract(p string) bool {
	return p == "formats" || p == "formats/report" || p == "formats/profile" || p == "sinks" || p == "sinks/bucket"
}

// isAdapter: a child of formats, formats/report, formats/profile, sinks or sinks/bucket that implements its contract.
func isAdapter(p string) bool {
	dir, base := path.Split(p)
	return isContract(strings.TrimSuffix(dir, "/")) && base != "internal" && !libraries[p]
}

func isStore(p string) bool { return isAdapter(p) && path.Dir(p) == "sinks" }

// allOf: from has the list of the adapters beside it: stores and the caches that look-ups share have lists of
// their own, so that a program that only reads links no more than it names.
func allOf(from, adapter string) bool {
	switch dir := path.Dir(adapter); {
	case from == dir+"/all":
		return true
	case adapter == "sinks/redis":
		return from == "sinks/open"
	case from == "jobs/docs/all": // has each folder's README
		return true
	default:
		return dir == "sinks" && from == "sinks/stores"
	}
}

func TestLayers(t *testing.T) {
	root := formattest.Root()
	fset := token.NewFileSet()
	seen := 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != root) {
			return filepath.SkipDir
		}
		// Tests may name what they test against.
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		from := filepath.ToSlash(rel)
		// Test suites are called by tests only and are held to the folder order alone.
		suite := strings.HasSuffix(from, "test")
		tree, err := parser.ParseFile(fset, file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range tree.Imports {
			to, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			to, ours := strings.CutPrefix(to, module)
			if !ours {
				continue
			}
			seen++
			if suite && rank[strings.SplitN(from, "/", 2)[0]] >= rank[strings.SplitN(to, "/", 2)[0]] {
				continue
			}
			if why := violation(from, to); why != "" {
				t.Errorf("%s imports %s: %s", fset.Position(imp.Pos()), to, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Fatal("no import of the module was seen")
	}
}

// The rules themselves are tried on invented imports.
func TestLayersRefuse(t *testing.T) {
	for _, planted := range [][2]string{
		{"formats/elf", "sinks"},
		{"formats/elf", "formats/archive"},
		{"formats", "formats/elf"},
		{"formats/symbol", "formats"},
		{"sinks", "sinks/row"},
		{"formats/report", "formats/report/android"},
		{"formats/report/apple", "formats/report/swift"},
		{"jobs", "formats/report/android"},
		{"sinks/file", "sinks/row"},
		{"sinks/hbase", "sinks/row"},
		{"sinks/hbase", "sinks/row/ranges"},
		{"sinks/hbase", "sinks/catalog"},
		{"sinks/lookup", "formats/all"},
		{"sinks/lookup", "sinks/file"},
		{"sinks/open", "sinks/file"},
		{"sinks/lookup", "sinks/answer"},
		{"sinks/lookup", "formats/report"},
		{"sinks/row", "sinks/mem"},
		{"sinks/file", "sinks/bucket/s3"},
		{"ingest", "sinks/lookup"},
		{"ingest", "sinks/answer"},
		{"ingest", "sinks/file"},
		{"ingest", "formats/elf"},
		{"jobs", "sinks/hbase"},
		{"jobs/docs", "sinks/hbase"},
		{"jobs", "sinks/bucket/s3"},
		{"ingest/build/spill", "jobs"},
		{"ingest/upkeep/gc", "ingest"},
		{"ingest/publish", "ingest/upkeep/gc"},
		{"ingest", "ingest/transfer"},
	} {
		if violation(planted[0], planted[1]) == "" {
			t.Errorf("%s may import %s", planted[0], planted[1])
		}
	}
	for _, fine := range [][2]string{
		{"formats/elf", "formats"}, {"formats/elf", "formats/internal/dwarf"}, {"formats", "formats/symbol"},
		{"formats/all", "formats/elf"}, {"sinks/all", "sinks/hbase"}, {"sinks/stores", "sinks/file"}, {"sinks/open", "sinks/redis"}, {"sinks/file", "sinks/internal/hfile"},
		{"sinks/bucket/all", "sinks/bucket/s3"}, {"sinks/lookup", "sinks/row"}, {"ingest", "ingest/build"}, {"ingest/upkeep/verify", "ingest/upkeep/dangling"}, {"jobs", "sinks/all"}, {"jobs/symlake", "jobs"}, {"jobs/docs/all", "sinks/lake"},
	} {
		if why := violation(fine[0], fine[1]); why != "" {
			t.Error(fmt.Sprint(fine, ": ", why))
		}
	}
}
