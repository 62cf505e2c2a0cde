// Package modules measures how modules of WebAssembly answer, beside llvm-symbolizer, and how long they take to load, beside
// symbolic's SymCache writer.
package modules

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// Bench is what the measurements need.
type Bench struct {
	Symlake string
	Peer    string // testdata/bench/peer, built; "": SymCaches are not written
	Files   string // folder with modules (*.wasm) that have DWARF
	Temp    string
	Runs    int
	Probes  int
}

// Run prints a table with a row for each module.
func (b *Bench) Run() error {
	files, err := filepath.Glob(filepath.Join(b.Files, "*.wasm"))
	if err != nil || len(files) == 0 {
		fmt.Fprintf(os.Stderr, "bench: modules are left out: put modules with DWARF into %s\n", b.Files)
		return err
	}
	fmt.Println("\n| module | MB | addresses that agree with llvm-symbolizer | cpu / symbolic's SymCache writer |\n|---|---|---|---|")
	for i, file := range files {
		agree, err := b.agreement(file, filepath.Join(b.Temp, fmt.Sprintf("modules%d", i)))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		speed, err := b.speed(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		st, err := os.Stat(file)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.1f | %.2f %% of %d | %s |\n", filepath.Base(file), float64(st.Size())/1e6, agree, b.Probes, speed)
	}
	return nil
}

// code is where the contents of a module's code section are.
func code(file string) (start, size uint64, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, err
	}
	for at := 8; at < len(b); {
		id := b[at]
		size, n := binary.Uvarint(b[at+1:])
		if at += 1 + n; n <= 0 || id == 10 {
			return uint64(at), size, nil
		}
		at += int(size)
	}
	return 0, 0, fmt.Errorf("%s has no code", file)
}

// frame is a frame as both tools say it.
type frame struct {
	function, file string
	line           uint32
}

// agreement is the share of random addresses, in percent, with the same functions, files and lines in both tools. Both read
// a copy without names: llvm-symbolizer 19 takes addresses of names from another origin than addresses of DWARF.
func (b *Bench) agreement(file, store string) (float64, error) {
	bare := store + ".wasm"
	if _, err := measure.Run(nil, nil, "llvm-objcopy-19", "--remove-section=name", "--remove-section=EXPORT", file, bare); err != nil {
		return 0, err
	}
	start, size, err := code(bare)
	if err != nil {
		return 0, err
	}
	r := rand.New(rand.NewPCG(1, 2))
	var ours, theirs strings.Builder
	for range b.Probes {
		addr := r.Uint64N(size)
		fmt.Fprintf(&ours, "%s %#x\n", filepath.Base(bare), start+addr)
		fmt.Fprintf(&theirs, "%#x\n", addr)
	}
	if _, err := measure.Run(nil, nil, b.Symlake, "--store", "file:"+store, "--lake", "off", "ingest", bare); err != nil {
		return 0, err
	}
	var a, l bytes.Buffer
	if _, err := measure.Run(strings.NewReader(ours.String()), &a, b.Symlake, "--store", "file:"+store, "--json", "lookup", "--stdin", "--no-demangle"); err != nil {
		return 0, err
	}
	if _, err := measure.Run(strings.NewReader(theirs.String()), &l, "llvm-symbolizer-19", "--obj="+bare, "--inlines", "--functions=linkage", "--no-demangle", "--output-style=JSON"); err != nil {
		return 0, err
	}
	left, err := ourFrames(&a)
	if err != nil {
		return 0, err
	}
	right, err := theirFrames(&l)
	if err != nil {
		return 0, err
	}
	if len(left) != b.Probes || len(right) != b.Probes {
		return 0, fmt.Errorf("%d and %d answers to %d questions", len(left), len(right), b.Probes)
	}
	agree := 0
	for i := range left {
		if slices.EqualFunc(left[i], right[i], same) {
			agree++
		}
	}
	return 100 * float64(agree) / float64(b.Probes), nil
}

// same reports whether two frames say the same. symlake qualifies a name without linkage name, llvm-symbolizer does not.
func same(a, b frame) bool {
	named := a.function == b.function || strings.HasSuffix(a.function, "::"+b.function)
	return named && a.file == b.file && a.line == b.line
}

func ourFrames(r io.Reader) (all [][]frame, err error) {
	err = each(r, func(a struct {
		Frames []struct {
			Linkage, Function, File string
			Line                    uint32
		}
	}) {
		var one []frame
		for _, f := range a.Frames {
			one = append(one, frame{cmp.Or(f.Linkage, f.Function), f.File, f.Line})
		}
		all = append(all, one)
	})
	return all, err
}

func theirFrames(r io.Reader) (all [][]frame, err error) {
	err = each(r, func(a struct {
		Symbol []struct {
			FunctionName, FileName string
			Line                   uint32
		}
	}) {
		var one []frame
		for _, f := range a.Symbol {
			one = append(one, frame{f.FunctionName, f.FileName, f.Line})
		}
		if len(one) == 1 && one[0] == (frame{}) {
			one = nil
		}
		all = append(all, one)
	})
	return all, err
}

// each calls do for each value of a stream of JSON.
func each[T any](r io.Reader, do func(T)) error {
	for d := json.NewDecoder(r); ; {
		var v T
		if err := d.Decode(&v); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		do(v)
	}
}

// speed is the processor's time of an ingest beside the peer's conversion, the least of some runs of each.
func (b *Bench) speed(file string) (string, error) {
	if b.Peer == "" {
		return "not measured", nil
	}
	var ours, theirs []measure.Usage
	for i := range b.Runs {
		store := filepath.Join(b.Temp, fmt.Sprintf("speed-%s-%d", filepath.Base(file), i))
		u, err := measure.Run(nil, nil, b.Symlake, "--store", "file:"+store, "--lake", "off", "ingest", "--workers", "1", file)
		if err != nil {
			return "", err
		}
		p, err := measure.Run(nil, nil, b.Peer, "symcache", file, filepath.Join(b.Temp, "module.symc"))
		if err != nil {
			return "", err
		}
		ours, theirs = append(ours, u), append(theirs, p)
	}
	least := func(all []measure.Usage) float64 {
		return slices.MinFunc(all, func(a, b measure.Usage) int { return cmp.Compare(a.CPU, b.CPU) }).CPU.Seconds()
	}
	return fmt.Sprintf("%.2f (%.0f and %.0f ms)", least(ours)/least(theirs), 1e3*least(ours), 1e3*least(theirs)), nil
}
