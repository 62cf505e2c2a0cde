package main

import (
	"debug/elf"
	"debug/macho"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// result is what one input showed.
type result struct {
	name       string
	dwarfBytes int64 // uncompressed .debug_* without .debug_frame

	symlake, gsymutil, symcache []measure.Usage // a run each, in turn
	ranges                      uint64
	stored, gsymZstd            int64

	store  string // the loaded store, for look-ups
	id     string
	probes []uint64
	warm   float64 // look-ups a second and core of the whole chain, warm
	addr2  float64 // the same of the addr2line crate
	mangled, demangled,
	symbolizer, gsymText float64 // answers a second as text
	cold       time.Duration
	agree, all int
	differ     map[string]int
}

// facts reads what the file says of itself, by the standard library.
func (r *result) facts(file string) error {
	if f, err := macho.Open(file); err == nil {
		defer f.Close()
		for _, s := range f.Sections {
			if s.Seg == "__DWARF" && strings.HasPrefix(s.Name, "__debug_") {
				r.dwarfBytes += int64(s.Size)
			}
		}
		r.probes = drawSpans(machoSpans(f), 100000)
		return nil
	}
	f, err := elf.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".debug_") && s.Name != ".debug_frame" || strings.HasPrefix(s.Name, ".zdebug_") {
			r.dwarfBytes += int64(s.Size)
		}
	}
	if r.dwarfBytes == 0 {
		return fmt.Errorf("%s has no DWARF", file)
	}
	r.probes = drawSpans(elfSpans(f), 100000)
	return nil
}

// convert loads the file in turn with its peers: the same file, the same minute.
func (b *bench) convert(r *result, file string) error {
	gsym := filepath.Join(b.tmp, "out.gsym")
	for i := range b.pairs + 1 {
		store := filepath.Join(b.tmp, fmt.Sprintf("%s-%d", r.name, i))
		var report strings.Builder
		u, err := measure.Run(nil, &report, b.symlake, "--store", "file:"+store, "--lake", "off", "ingest", file, "--workers", "1", "--report", "-")
		if err != nil {
			return err
		}
		if err := r.count(report.String(), i > 0); err != nil {
			return err
		}
		g, err := measure.Run(nil, nil, "llvm-gsymutil-19", "--convert", file, "--num-threads=1", "--quiet", "--out-file", gsym)
		if err != nil {
			return err
		}
		var s measure.Usage
		if b.peer != "" {
			if s, err = measure.Run(nil, nil, b.peer, "symcache", file, filepath.Join(b.tmp, "out.symc")); err != nil {
				return err
			}
		}
		if i == 0 { // warms the page cache
			continue
		}
		r.symlake, r.gsymutil, r.symcache = append(r.symlake, u), append(r.gsymutil, g), append(r.symcache, s)
		if i < b.pairs {
			os.RemoveAll(store)
		}
		r.store = store
	}
	os.RemoveAll(filepath.Join(b.tmp, r.name+"-0"))
	if _, err := measure.Run(nil, nil, "zstd", "-q", "-f", "-3", gsym, "-o", gsym+".zst"); err != nil {
		return err
	}
	st, err := os.Stat(gsym + ".zst")
	if err != nil {
		return err
	}
	r.gsymZstd = st.Size()
	r.stored, err = measure.BytesBelow(filepath.Join(r.store, "blocks"))
	return err
}

// count reads a run's report; every run of one file must store the same.
func (r *result) count(report string, again bool) error {
	lines := strings.Split(strings.TrimSpace(report), "\n")
	var rep struct {
		Artifacts int
		Ranges    uint64
		Objects   struct{ Loaded int }
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &rep); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if rep.Objects.Loaded != 1 || rep.Ranges == 0 {
		return fmt.Errorf("nothing was loaded: %s", report)
	}
	if again && r.ranges != rep.Ranges {
		return fmt.Errorf("ranges differ between runs: %d and %d", r.ranges, rep.Ranges)
	}
	r.ranges = rep.Ranges
	return nil
}
