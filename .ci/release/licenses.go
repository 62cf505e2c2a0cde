package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// programs are the packages that a release builds.
var programs = []string{"./jobs/symlake", "./jobs/symlake-lookup"}

// module is a module, with the folder that has its files.
type module struct{ Path, Version, Dir string }

// licenseFile matches the names of files that a module states its terms in.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|unlicense)([-._].*)?$`)

// licenses writes the terms of every module that some system's programs link, and Go's own, into one file.
func licenses(out string) error {
	all := map[string]module{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		list, err := linked(system)
		if err != nil {
			return err
		}
		for _, m := range list {
			all[m.Path] = m
		}
	}
	root, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	goroot, goversion, _ := strings.Cut(strings.TrimSpace(string(root)), "\n")
	all["Go"] = module{Path: "Go", Version: goversion, Dir: goroot}

	var text bytes.Buffer
	text.WriteString("symlake links these modules. Each stands here with the terms that it is given under.\n")
	var without []string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		m := all[path]
		files, err := terms(m.Dir)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			without = append(without, path)
		}
		for _, f := range files {
			body, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			fmt.Fprintf(&text, "\n%s\n%s %s, %s\n%[1]s\n\n%[5]s\n", strings.Repeat("=", 80), m.Path, m.Version, filepath.Base(f), bytes.TrimSpace(body))
		}
	}
	if len(without) > 0 {
		return fmt.Errorf("modules without a file of terms: %s", strings.Join(without, ", "))
	}
	return os.WriteFile(out, text.Bytes(), 0o644)
}

// linked returns the modules that programs link on a system.
func linked(system string) (list []module, err error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}"}, programs...)...)
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w", system, err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 3 {
			list = append(list, module{f[0], f[1], f[2]})
		}
	}
	return list, nil
}

// terms returns the files in a folder that hold terms.
func terms(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() && licenseFile.MatchString(e.Name()) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if readme := filepath.Join(dir, "README.md"); len(files) == 0 && err == nil { // some state their terms there alone
		text, rerr := os.ReadFile(readme)
		if rerr == nil && bytes.Contains(bytes.ToLower(text), []byte("license")) {
			files = append(files, readme)
		}
	}
	return files, err
}
