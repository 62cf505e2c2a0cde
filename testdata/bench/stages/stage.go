package stages

import (
	"strings"

	"github.com/google/pprof/profile"
)

// stage is one part of the work of an ingest. Its functions have the beginnings of their names, without the path of this
// module.
type stage struct {
	name      string
	functions []string
}

const (
	module = "github.com/symlake/symlake/"
	dwarf  = "formats/internal/dwarf."
	tree   = "formats/internal/explode."
)

// all are the stages in the order of the table. The innermost function of a sample with a stage decides. Functions that several
// stages call have none.
var all = []stage{
	{"read", []string{"formats/internal/elffile.", "ingest/build.mapped", "ingest/build.(*input)", "os.(*File).Read", "os.(*File).pread", "os.ReadFile"}},
	{"decompress", []string{"compress/", "github.com/klauspost/compress/flate.", "github.com/klauspost/compress/zlib.", "github.com/klauspost/compress/zstd.(*Decoder)", "formats/internal/inflate."}},
	{"line programs", []string{dwarf + "(*lineReader)", dwarf + "(*Lines)", dwarf + "(*Reader).Lines", dwarf + "(*Reader).lineHeader", dwarf + "(*Reader).readHeader", dwarf + "(*Reader).tables5", dwarf + "(*lineHeader)"}},
	{"names", []string{dwarf + "(*Reader).Name", dwarf + "(*Reader).names", dwarf + "(*Reader).entryAt", dwarf + "(*Reader).peekEntry", dwarf + "(*Reader).other", dwarf + "(*Reader).qualified", dwarf + "(*Reader).scopeName",
		dwarf + "(*Reader).String", dwarf + "(*Reader).stringAt", dwarf + "(*Reader).Path", tree + "(*part).name", tree + "(*part).text", tree + "(*texts)", "formats/demangle"}},
	{"entries", []string{dwarf + "Open", dwarf + "(*Data).index", dwarf + "(*Data).share", dwarf + "(*Data).table", dwarf + "(*Data).rootOf", dwarf + "(*Reader).Open", dwarf + "(*Reader).Next", dwarf + "(*Reader).skim"}},
	{"ranges", []string{tree, "formats/internal/native."}},
	{"unwind", []string{"formats/internal/cfi.", "formats/unwind.", "ingest/build.(*unwinding)", "ingest/build/callframes.", "sinks/row/unwinds.", "sinks/row/loads.(*Encoder).AddUnwind"}},
	{"sort", []string{"ingest/build/spill."}},
	{"sweep", []string{"ingest/build/sweep."}},
	{"seal", []string{"crypto/", "sinks/row.(*Sealer)", "sinks/row.(*sealer)"}},
	{"encode", []string{"sinks/row", "sinks/internal/column.", "sinks/internal/entropy.", "sinks/internal/zframe.", "github.com/klauspost/compress/zstd."}},
	{"store", []string{"sinks/file", "sinks/internal/newfile.", "go.etcd.io/bbolt.", "sinks/catalog", "ingest/publish"}},
	{"collector", []string{"runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge"}},
}

// rest holds the other functions: the command line, the scheduler, the start of the run.
const rest = "rest"

// of returns the name of a sample's stage.
func of(s *profile.Sample) string {
	for _, l := range s.Location { // innermost first
		for _, line := range l.Line {
			if name := stageOf(line.Function.Name); name != "" {
				return name
			}
		}
	}
	return rest
}

func stageOf(function string) string {
	function = strings.TrimPrefix(function, module)
	for _, s := range all {
		for _, f := range s.functions {
			if strings.HasPrefix(function, f) {
				return s.name
			}
		}
	}
	return ""
}
