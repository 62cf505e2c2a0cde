package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bom lists what the linker put into a program: its module, Go, and every module with version and hash.
func bom(program, version, seconds string) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read build info of %s: %w", program, err)
	}
	when, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("time of the commit %q: want seconds", seconds)
	}
	self := cdx.Component{BOMRef: "pkg:golang/" + info.Main.Path + "@" + version + "#" + path.Base(info.Path), Type: cdx.ComponentTypeApplication,
		Name: path.Base(info.Path), Version: version, PackageURL: "pkg:golang/" + info.Main.Path + "@" + version,
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	list := []cdx.Component{{BOMRef: "pkg:golang/std@" + goVersion, Type: cdx.ComponentTypeLibrary, Name: "std", Version: goVersion, PackageURL: "pkg:golang/std@" + goVersion}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		url := "pkg:golang/" + m.Path + "@" + m.Version
		c := cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: url}
		if m.Sum != "" {
			c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b cdx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })
	var refs []string
	for _, c := range list {
		refs = append(refs, c.BOMRef)
	}
	var settings []cdx.Property
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" || s.Key == "CGO_ENABLED" || s.Key == "vcs.revision" {
			settings = append(settings, cdx.Property{Name: "go:build:" + s.Key, Value: s.Value})
		}
	}
	self.Properties = &settings

	b := cdx.NewBOM()
	b.Metadata = &cdx.Metadata{Timestamp: time.Unix(when, 0).UTC().Format(time.RFC3339), Component: &self}
	b.Components = &list
	b.Dependencies = &[]cdx.Dependency{{Ref: self.BOMRef, Dependencies: &refs}}
	var text bytes.Buffer
	if err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).Encode(b); err != nil {
		return nil, fmt.Errorf("write the list of contents of %s: %w", program, err)
	}
	return text.Bytes(), nil
}

// writeBOM writes it to a file.
func writeBOM(program, out, version, seconds string) error {
	text, err := bom(program, version, seconds)
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o644)
}
