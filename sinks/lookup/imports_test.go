package lookup_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
)

const module = "github.com/symlake/symlake/"

// The client is thin: it brings these packages, and no parser, no store, no pipeline and nothing of
// reports. The sources are parsed here, so that a cached result of another
// process cannot hide a new import.
func TestThin(t *testing.T) {
	allowed := []string{
		"sinks", "sinks/lookup", "sinks/catalog", "sinks/catalog/audit", "sinks/row", "sinks/row/loads", "sinks/row/dictionary", "sinks/row/ranges", "sinks/row/classes", "sinks/row/texts", "sinks/row/unwinds", "sinks/internal/compact", "sinks/internal/column", "sinks/internal/entropy",
		"formats", "formats/symbol", "formats/room", "formats/demangle", "formats/demangle/swift", "formats/demangle/cxx", "formats/demangle/msvc",
		"sinks/internal/cache", "github.com/klauspost/compress/zstd", "github.com/klauspost/compress/fse", "github.com/klauspost/compress/huff0",
		"github.com/ianlancetaylor/demangle",
	}
	seen := map[string]bool{}
	var walk func(pkg, by string)
	walk = func(pkg, by string) {
		if !slices.Contains(allowed, pkg) {
			t.Errorf("%s is imported by %s", pkg, by)
		}
		if seen[pkg] || strings.Contains(strings.SplitN(pkg, "/", 2)[0], ".") {
			return
		}
		seen[pkg] = true
		for _, imported := range imports(t, filepath.Join(formattest.Root(), filepath.FromSlash(pkg))) {
			if own, ok := strings.CutPrefix(imported, module); ok {
				walk(own, pkg)
			} else if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") {
				walk(imported, pkg)
			} else if imported == "os" || imported == "net/http" {
				t.Errorf("%s is imported by %s", imported, pkg)
			}
		}
	}
	walk("sinks/lookup", "")
	lookuptest.FailIf(t, !seen["sinks/row"] || !seen["formats/symbol"], "the walk saw only %v", seen)
}

// Whoever opens a store by its URL to read it gets its client libraries, and no lake, no S3, nothing
// that parses symbol files.
func TestOpenIsThin(t *testing.T) {
	seen := map[string]bool{}
	var walk func(pkg, by string)
	walk = func(pkg, by string) {
		for _, bad := range []string{"arrow", "parquet", "aws", "s3", "hdfs", "rueidis", "ingest", "bucket/all", "formats/elf", "formats/all", "sinks/all"} {
			if strings.Contains(pkg, bad) {
				t.Errorf("%s is imported by %s", pkg, by)
			}
		}
		if seen[pkg] || strings.Contains(strings.SplitN(pkg, "/", 2)[0], ".") {
			return
		}
		seen[pkg] = true
		for _, imported := range imports(t, filepath.Join(formattest.Root(), filepath.FromSlash(pkg))) {
			if own, ok := strings.CutPrefix(imported, module); ok {
				walk(own, pkg)
			} else if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") {
				walk(imported, pkg)
			}
		}
	}
	walk("sinks/open", "")
	lookuptest.FailIf(t, !seen["sinks/hbase"] || !seen["sinks/redis"] || !seen["sinks/file"], "the walk saw only %v", seen)

	// What these libraries bring in turn is asked of the go command.
	deps, err := exec.Command("go", "list", "-deps", module+"sinks/open").Output()
	lookuptest.NoError(t, err)
	for _, pkg := range strings.Fields(string(deps)) {
		for _, bad := range []string{"apache/arrow", "parquet-go", "twmb/avro", "aws-sdk-go", "hdfs"} { // Kerberos comes with HBase's client
			lookuptest.FailIf(t, strings.Contains(pkg, bad), "%s is brought along", pkg)
		}
	}
}

func imports(t *testing.T, dir string) (all []string) {
	t.Helper()
	parsed, err := os.ReadDir(dir)
	lookuptest.NoError(t, err)
	files := 0
	for _, f := range parsed {
		if f.IsDir() || f.Type()&fs.ModeType != 0 || !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		src, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, f.Name()), nil, parser.ImportsOnly)
		lookuptest.NoError(t, err)
		files++
		for _, spec := range src.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			lookuptest.NoError(t, err)
			all = append(all, path)
		}
	}
	lookuptest.FailIf(t, files == 0, "no sources in %s", dir)
	return all
}
