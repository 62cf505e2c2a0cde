package event

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report/internal/shape"
)

var update = flag.Bool("update", false, "write the table of services into the README of reports")

// textual are services with stacks as text in strings. They need no row.
var textual = [][2]string{
	{"Android's ApplicationExitInfo", "trace"},
	{"AWS RUM", "details"},
	{"Datadog", "error.stack"},
	{"Embrace", "exception.stacktrace"},
	{"Flutter's errors", "stack"},
	{"Google Cloud Error Reporting", "message"},
	{"Google Play", "reportText"},
	{"Instabug", "stack_trace"},
	{"New Relic", "stack_trace"},
	{"OpenTelemetry", "exception.stacktrace"},
}

// TestServices compares the table of services in the README with the table of shapes.
func TestServices(t *testing.T) {
	const begin, end = "<!-- services -->\n", "<!-- end of services -->\n"
	file := filepath.Join(formattest.Root(), "formats", "report", "README.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	was, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no %q and %q", file, begin, end)
	}
	want := services()
	if was == want {
		return
	}
	if !*update {
		t.Fatalf("%s has\n%s\nand the table of shapes makes\n%s\nrun go test ./formats/report/event -update", file, was, want)
	}
	if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// services returns the table of services.
func services() string {
	rows := map[string]*row{}
	of := func(name string) *row {
		if rows[name] == nil {
			rows[name] = &row{}
		}
		return rows[name]
	}
	for _, s := range table.Shapes() {
		if s.Service == "" {
			continue
		}
		r := of(s.Service)
		for kind := range strings.SplitSeq(s.Kinds, ", ") {
			r.kinds = add(r.kinds, kind)
		}
		for p := range strings.FieldsSeq(s.Frames + " " + s.Texts) {
			if p != "none" {
				r.places = add(r.places, "`"+p+"`")
			}
		}
		for _, m := range members(s) {
			r.members = add(r.members, m)
		}
	}
	for _, s := range textual {
		r := of(s[0])
		r.kinds = add(r.kinds, "any")
		if r.places = add(r.places, "`"+s[1]+"`"); len(r.members) == 0 || !slices.Contains(r.members, "text") {
			r.members = append(r.members, "text")
		}
	}
	var b strings.Builder
	b.WriteString("| service | frames of | below | with |\n|---|---|---|---|\n")
	names := make([]string, 0, len(rows))
	for name := range rows {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	for _, name := range names {
		r := rows[name]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, strings.Join(r.kinds, ", "), strings.Join(r.places, ", "), strings.Join(r.members, ", "))
	}
	return b.String()
}

// row is a service in the table.
type row struct{ kinds, places, members []string }

// add adds a word that is new.
func add(all []string, word string) []string {
	if word == "" || slices.Contains(all, word) {
		return all
	}
	return append(all, word)
}

// members returns the members by which a row knows its frames, a string for each kind of frame.
func members(s *shape.Shape) (all []string) {
	of := func(names ...string) {
		var said []string
		for _, n := range names {
			if first, _, _ := strings.Cut(n, " "); first != "" {
				said = append(said, "`"+first+"`")
			}
		}
		all = append(all, strings.Join(said, " + "))
	}
	f := &s.Frame
	switch {
	case f.Address != "":
		of(f.Address)
	case f.Offset != "":
		of(f.Offset, f.ImageIndex, f.ImageName, f.ImageAddr)
	}
	if f.Class != "" || s.Qualified {
		of(f.Class, f.Function)
	}
	if f.Line != "" && f.Column != "" && strings.Contains(s.Kinds, "JavaScript") {
		of(f.File, f.Line, f.Column)
	}
	if s.Texts != "" {
		all = append(all, "text")
	}
	return all
}
