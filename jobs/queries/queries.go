// Package queries holds what people run against the lake: SQL for DuckDB and Spark, a Polars
// script, and scripts that read a sealed lake. Each is tested against its engine.
package queries

import (
	"embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

//go:embed read_*.py lakelog.py
var readers embed.FS

// logModule is the line of a script that imports lakelog.py.
const logModule = "from lakelog import "

// Readers names the engines that read a sealed lake.
func Readers() []string { return []string{"pyarrow", "polars", "spark", "duckdb"} }

// Reader is a script that reads a sealed lake with an engine: its place and keys filled in, and the module lakelog in its
// place, so that the script needs no other file.
func Reader(engine, lake string, keys map[string]string) (string, error) {
	text, err := readers.ReadFile("read_" + engine + ".py")
	if err != nil {
		return "", fmt.Errorf("no script for %q (known: %s)", engine, strings.Join(Readers(), ", "))
	}
	if !strings.Contains(lake, "://") {
		if lake, err = filepath.Abs(lake); err != nil {
			return "", err
		}
	}
	module, err := readers.ReadFile("lakelog.py")
	if err != nil {
		return "", err
	}
	place, err := json.Marshal(lake)
	if err != nil {
		return "", err
	}
	all, err := json.Marshal(keys)
	if err != nil {
		return "", err
	}
	var out []string
	for _, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, logModule):
			line = strings.TrimRight(string(module), "\n") + "\n"
		case strings.HasPrefix(line, "LAKE = "):
			line = "LAKE = " + string(place)
		case strings.HasPrefix(line, "KEYS = "):
			line = "KEYS = " + string(all)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n"), nil
}
