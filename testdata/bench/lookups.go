package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/stores"
	"github.com/symlake/symlake/testdata/bench/measure"
)

// lookups measures answers a second: as text against the tools, and in
// process, warm, against the addr2line crate.
func (b *bench) lookups(r *result, file string) error {
	var out bytes.Buffer
	if _, err := measure.Run(nil, &out, b.symlake, "--store", "file:"+r.store, "--json", "artifacts"); err != nil {
		return err
	}
	var art struct{ Artifact string }
	if err := json.NewDecoder(&out).Decode(&art); err != nil {
		return err
	}
	r.id = art.Artifact
	var ours, plain, gsym strings.Builder
	for _, p := range r.probes {
		fmt.Fprintf(&ours, "%s %#x\n", r.id, p)
		fmt.Fprintf(&plain, "%#x\n", p)
		fmt.Fprintf(&gsym, "%#x %s\n", p, filepath.Join(b.tmp, "out.gsym"))
	}
	perSecond := func(u measure.Usage) float64 { return float64(len(r.probes)) / u.Wall.Seconds() }
	best := func(input, program string, args ...string) (float64, error) {
		var top float64
		for range 3 {
			u, err := measure.Run(strings.NewReader(input), nil, program, args...)
			if err != nil {
				return 0, err
			}
			top = max(top, perSecond(u))
		}
		return top, nil
	}
	var err error
	if r.mangled, err = best(ours.String(), b.symlake, "--store", "file:"+r.store, "lookup", "--stdin", "--no-demangle"); err != nil {
		return err
	}
	if r.demangled, err = best(ours.String(), b.symlake, "--store", "file:"+r.store, "lookup", "--stdin"); err != nil {
		return err
	}
	if r.symbolizer, err = best(plain.String(), "llvm-symbolizer-19", "--obj="+file, "--inlines"); err != nil {
		return err
	}
	if r.gsymText, err = best(gsym.String(), "llvm-gsymutil-19", "--addresses-from-stdin"); err != nil {
		return err
	}
	var colds []time.Duration
	for i := range 21 {
		u, err := measure.Run(nil, nil, b.symlake, "--store", "file:"+r.store, "lookup", r.id, fmt.Sprintf("%#x", r.probes[i]))
		if err != nil {
			return err
		}
		colds = append(colds, u.Wall)
	}
	slices.Sort(colds)
	r.cold = colds[len(colds)/2]
	if b.peer != "" {
		if err := r.crate(b, file, plain.String()); err != nil {
			return err
		}
	}
	return b.warm(r)
}

// crate measures the addr2line crate's second pass.
func (r *result) crate(b *bench, file, addresses string) error {
	list := filepath.Join(b.tmp, "addresses")
	if err := writeFile(list, addresses); err != nil {
		return err
	}
	var out bytes.Buffer
	if _, err := measure.Run(nil, &out, b.peer, "addr2line", file, list); err != nil {
		fmt.Fprintf(os.Stderr, "%s: the addr2line crate does not read it: %v\n", r.name, err)
		return nil // its column says 0
	}
	var frames int
	_, err := fmt.Sscan(out.String(), &r.addr2, &frames)
	return err
}

// warm measures the client as a service embeds it that writes answers out as they come: one goroutine, one
// batch, every block in its cache, the whole inline chain with linkage names: the median pass.
func (b *bench) warm(r *result) error {
	store, err := stores.Open(b.ctx, "file:"+r.store, stores.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	key, err := kek.OpenKeyset(context.Background(), filepath.Join(r.store, "keyset.json"), nil)
	if err != nil {
		return err
	}
	client := lookup.New(store, key, lookup.Options{NoDemangle: true, CacheBytes: 2 << 30})
	found := client.Resolve(b.ctx, r.id, lookup.Narrow{})
	if found.Status != symbol.Found {
		return fmt.Errorf("resolve: %s: %v", found.Status, found.Err)
	}
	queries := make([]lookup.Query, len(r.probes))
	for i, p := range r.probes {
		queries[i] = lookup.Query{Artifact: found.Record.ID, Where: symbol.Where{Space: symbol.Unslid, Value: p}}
	}
	pass := func() (frames int, err error) {
		err = client.Each(b.ctx, queries, func(_ int, a *symbol.Answer) error {
			frames += len(a.Frames)
			return nil
		})
		return frames, err
	}
	if n, err := pass(); err != nil || n == 0 {
		return fmt.Errorf("warm pass: %d frames: %v", n, err)
	}
	var passes []time.Duration // a pass takes milliseconds
	for range 101 {
		start := measure.Spent()
		if _, err := pass(); err != nil {
			return err
		}
		passes = append(passes, measure.Spent()-start)
	}
	slices.Sort(passes)
	r.warm = float64(len(queries)) / passes[len(passes)/2].Seconds()
	return nil
}
