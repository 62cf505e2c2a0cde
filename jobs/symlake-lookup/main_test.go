package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/jobs/internal/program"
	"github.com/symlake/symlake/jobs/internal/query"
)

// The program links no library that only loaders need.
func TestLinksNoLoader(t *testing.T) {
	deps, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for _, pkg := range strings.Fields(string(deps)) {
		seen = seen || strings.HasSuffix(pkg, "sinks/answer")
		for _, bad := range []string{"apache/arrow", "parquet-go", "twmb/avro", "/service/s3", "opentelemetry", "hdfs", "aws-sdk-go-v2/config", "aws-sdk-go-v2/service", "tink-crypto", "protobuf/proto", "client_golang", "symlake/formats/all", "symlake/sinks/all", "symlake/sinks/lake"} {
			if strings.Contains(pkg, bad) {
				t.Errorf("%s is linked", pkg)
			}
		}
	}
	if !seen {
		t.Error("sinks/answer is not linked: the list is wrong")
	}
}

// What the program leaves to symlake it refuses by naming symlake, and it speaks by its own name.
func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ args, want string }{
		{"symbolicate --input a.parquet --output b", "symlake-lookup: this program reads no tables: use symlake symbolicate --input"},
		{"symbolicate --symbols a.so", "symlake-lookup: this program reads no symbol files: use symlake symbolicate --symbols"},
		{"ingest " + dir, "(see symlake-lookup --help)"},
	} {
		var out, said bytes.Buffer
		g := program.Program{Name: name, Help: help, Commands: commands}
		args := append([]string{"--store", filepath.Join(dir, "store")}, strings.Fields(c.args)...)
		if code := g.Main(t.Context(), args, strings.NewReader(""), &out, &said); code != 2 || !strings.Contains(said.String(), c.want) {
			t.Errorf("%s: exit code %d, %q, want %q", c.args, code, &said, c.want)
		}
	}
}

func TestVersion(t *testing.T) {
	var out, said bytes.Buffer
	g := program.Program{Name: name, Help: help, Commands: commands}
	if code := g.Main(t.Context(), []string{"version"}, nil, &out, &said); code != 0 || !strings.HasPrefix(out.String(), "symlake ") {
		t.Errorf("exit code %d, %q, %q", code, &out, &said)
	}
}

// The word for the version alone is answered without the grammar, and alike. A variable of the program's needs the grammar.
func TestVersionAlone(t *testing.T) {
	run := func(args ...string) (string, string) {
		var out, said bytes.Buffer
		g := program.Program{Name: name, Help: help, Commands: commands, Version: query.Version(), About: query.About}
		if code := g.Main(t.Context(), args, nil, &out, &said); code != 0 {
			t.Errorf("%v: exit code %d, %s", args, code, &said)
		}
		return out.String(), said.String()
	}
	want, _ := run("version", "--log-level", "info")
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if got, said := run(args...); got != want || said != "" {
			t.Errorf("%v: %q %q, want %q", args, got, said, want)
		}
	}
	t.Setenv("SYMLAKE_JSON", "true")
	if got, said := run("version"); got != want || !strings.Contains(said, "SYMLAKE_JSON is set and has no effect") {
		t.Errorf("%q, %q", got, said)
	}
}
