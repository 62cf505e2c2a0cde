package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// cpuprofiles compares profiles of Node with the unbundled run, and Hermes' with metro-symbolicate. testdata/profile/script
// says how both are made.
func (b *bench) cpuprofiles() error {
	recipe := filepath.Join("testdata", "profile", "script", "record.sh")
	if found, err := filepath.Glob(filepath.Join(b.cache, "profiles", "script", "*-*.cpuprofile")); err != nil || len(found) == 0 {
		fmt.Fprintf(os.Stderr, "bench: .cpuprofile is left out: make names, then bash %s %s\n", recipe, b.cache)
		return err
	}
	var out bytes.Buffer
	if _, err := measure.Run(nil, &out, "bash", recipe, b.cache, "measure", b.symlake); err != nil {
		return err
	}
	w := measure.NewRows("profiles of scripts")
	for line := range strings.Lines(out.String()) {
		if measure, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			w.Row(measure, value, "97 %, aim 99 %")
		}
	}
	return w.Flush()
}
