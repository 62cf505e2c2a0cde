package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// maps measures what maps.sh cannot: warm look-ups of scripts in process, at
// random columns, and the peak of memory when a map is loaded.
func (b *bench) maps() error {
	var names []string
	for _, pattern := range []string{"node_modules/babylonjs/babylon.js.map", "node_modules/monaco-editor/min-maps/vs/editor/editor.main.js.map", "big/big.js.map"} {
		found, err := filepath.Glob(filepath.Join(b.cache, "maps", pattern))
		if err != nil {
			return err
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return nil
	}
	fmt.Println("\n| map | MB | peak anonymous MiB | with the script beside | warm look-ups in process, M/s a core |\n|---|---|---|---|---|")
	for i, file := range names {
		script, err := os.ReadFile(strings.TrimSuffix(strings.Replace(file, "min-maps", "min", 1), ".map"))
		if err != nil {
			return err
		}
		r := &result{name: filepath.Base(file), store: filepath.Join(b.tmp, fmt.Sprintf("maps%d", i)), probes: places(script, b.probes)}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		alone := filepath.Join(b.tmp, filepath.Base(file)) // no script is beside it
		if err := writeFile(alone, string(text)); err != nil {
			return err
		}
		load := func(store, file string) (measure.Usage, error) {
			return measure.Run(nil, nil, b.symlake, "--store", "file:"+store, "--lake", "off", "ingest", "--workers", "1", file)
		}
		u, err := load(r.store+"-alone", alone)
		if err != nil {
			return err
		}
		named, err := load(r.store, file)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if _, err := measure.Run(nil, &out, b.symlake, "--store", "file:"+r.store, "--json", "artifacts"); err != nil {
			return err
		}
		var art struct{ Artifact string }
		if err := json.NewDecoder(&out).Decode(&art); err != nil {
			return err
		}
		r.id = art.Artifact
		if err := b.warm(r); err != nil {
			return err
		}
		fmt.Printf("| %s | %.1f | %.0f | %.0f | %.1f |\n", r.name, float64(len(text))/1e6, float64(u.Anon)/(1<<20), float64(named.Anon)/(1<<20), r.warm/1e6)
	}
	return nil
}

// places are random places in a script, as positions: a column is a byte, which is near enough.
func places(script []byte, n int) []uint64 {
	var starts []int
	for at := 0; at < len(script); at++ {
		starts = append(starts, at)
		next := bytes.IndexByte(script[at:], '\n')
		if next < 0 {
			break
		}
		at += next
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	places := make([]uint64, n)
	for i := range places {
		at := rnd.IntN(len(script))
		line := 0
		for lo, hi := 0, len(starts); lo < hi; {
			if mid := (lo + hi) / 2; starts[mid] <= at {
				line, lo = mid, mid+1
			} else {
				hi = mid
			}
		}
		places[i] = uint64(line)<<32 | uint64(at-starts[line])
	}
	return places
}
