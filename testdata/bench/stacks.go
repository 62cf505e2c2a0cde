package main

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/open"
	"github.com/symlake/symlake/testdata/bench/measure"
)

// What a crash pipeline is sent: stacks of crashFrames over the libraries that stacks.sh makes.
const (
	crashStacks = 100_000
	crashFrames = 30
	crashPiece  = 500    // stacks of one call
	crashPlaces = 20_000 // that crashes of one library show
)

// crashes are stacks, drawn.
type crashes struct {
	name   string
	files  []string
	ids    []string // build-ids, by file
	frames []crashFrame
}

// crashFrame is an address of a file.
type crashFrame struct{ file, address uint32 }

// drawCrashes draws the file of every frame by Zipf(1.1), and its address: by the same law over crashPlaces of the
// file, or any of its code.
func drawCrashes(dir string, zipf bool) (*crashes, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.so"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s: no libraries: %v", dir, err)
	}
	c := &crashes{name: "any address", files: files, frames: make([]crashFrame, crashStacks*crashFrames)}
	if zipf {
		c.name = "addresses as often as crashes show them"
	}
	var places [][]uint64
	for _, name := range files {
		f, err := elf.Open(name)
		if err != nil {
			return nil, err
		}
		note, err := f.Section(".note.gnu.build-id").Data()
		if err != nil || len(note) != 36 {
			return nil, fmt.Errorf("%s: want a build-id: %v", name, err)
		}
		c.ids = append(c.ids, fmt.Sprintf("%x", note[16:]))
		places = append(places, drawSpans(elfSpans(f), crashPlaces))
		f.Close()
	}
	rng := rand.New(rand.NewPCG(5, 6))
	file, place := rand.NewZipf(rng, 1.1, 1, uint64(len(files)-1)), rand.NewZipf(rng, 1.1, 1, crashPlaces-1)
	for i := range c.frames {
		k, at := file.Uint64(), rng.Uint64N(crashPlaces)
		if zipf {
			at = place.Uint64()
		}
		c.frames[i] = crashFrame{uint32(k), uint32(places[k][at])}
	}
	return c, nil
}

// stacks makes what a parser of stacks makes.
func (c *crashes) stacks() []*report.Report {
	all := make([]*report.Report, crashStacks)
	images := make([][]string, len(c.files))
	for i, f := range c.files {
		images[i] = []string{c.ids[i], filepath.Base(f)}
	}
	for i := range all {
		frames := make([]report.Frame, crashFrames)
		for k, f := range c.frames[i*crashFrames : (i+1)*crashFrames] {
			frames[k] = report.Frame{Image: images[f.file], Kind: symbol.ELF, File: "/system/lib64/" + images[f.file][1], Raw: uint64(f.address),
				At: symbol.Where{Space: symbol.Unslid, Value: uint64(f.address)}}
		}
		all[i] = &report.Report{Form: &report.Form{Name: "tombstone"}, Threads: []report.Thread{{Frames: frames}}}
	}
	return all
}

// texts are the same stacks as tombstones, by piece.
func (c *crashes) texts() (all [][]byte) {
	for from := 0; from < len(c.frames); from += crashPiece * crashFrames {
		var out bytes.Buffer
		c.text(c.frames[from:from+crashPiece*crashFrames], &out)
		all = append(all, out.Bytes())
	}
	return all
}

func (c *crashes) text(piece []crashFrame, out *bytes.Buffer) {
	for i := 0; i < len(piece); i += crashFrames {
		fmt.Fprintf(out, "*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***\nABI: 'arm64'\npid: 1, tid: %d, name: main  >>> shop <<<\nbacktrace:\n", i+1)
		for k, f := range piece[i : i+crashFrames] {
			fmt.Fprintf(out, "      #%02d pc %016x  /system/lib64/%s (BuildId: %s)\n", k, f.address, filepath.Base(c.files[f.file]), c.ids[f.file])
		}
	}
}

// crashed is what one run took.
type crashed struct {
	measure.Usage
	frames int64 // of the source
}

// answer answers pieces of stacks on two goroutines with a fresh client; nothing is open when the clock starts.
func (c *crashes) answer(store string, o lookup.Options, piece func(ctx context.Context, client *answer.Client, from int, found *int64) error) (crashed, error) {
	began, cpu := time.Now(), measure.Spent()
	client, err := open.Client(context.Background(), "file:"+store, open.Options{Lookup: o})
	if err != nil {
		return crashed{}, err
	}
	defer client.Close()
	var next atomic.Int64
	var total [2]int64
	var errs [2]error
	var wg sync.WaitGroup
	for g := range total {
		wg.Go(func() {
			var found int64
			for errs[g] == nil {
				from := int(next.Add(crashPiece)) - crashPiece
				if from >= crashStacks {
					break
				}
				errs[g] = piece(context.Background(), answer.New(client.Client), from, &found)
			}
			total[g] = found
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return crashed{}, err
		}
	}
	return crashed{measure.Usage{Wall: time.Since(began), CPU: measure.Spent() - cpu}, total[0] + total[1]}, nil
}

// parsed answers stacks that are parsed already.
func (c *crashes) parsed(store string, all []*report.Report, o lookup.Options) (crashed, error) {
	return c.answer(store, o, func(ctx context.Context, client *answer.Client, from int, found *int64) error {
		qs := make([]answer.Query, crashPiece)
		for i := range qs {
			qs[i] = answer.Query{Stack: all[from+i]}
		}
		return client.Stacks(ctx, qs, func(_ int, answers [][]symbol.Answer) { count(answers, found) })
	})
}

// raw answers stacks as they were reported, and prints them.
func (c *crashes) raw(store string, texts [][]byte, o lookup.Options) (crashed, error) {
	return c.answer(store, o, func(ctx context.Context, client *answer.Client, from int, found *int64) error {
		var out bytes.Buffer
		var qs []answer.Query
		if err := report.Split(ctx, bytes.NewReader(texts[from/crashPiece]), all.Dialects, report.Options{}, func(s *report.Report) error {
			qs = append(qs, answer.Query{Stack: s})
			return nil
		}); err != nil {
			return err
		}
		var failing error
		err := client.Stacks(ctx, qs, func(i int, answers [][]symbol.Answer) {
			count(answers, found)
			if err := report.Print(&out, qs[i].Stack, answers); err != nil {
				failing = err
			}
		})
		if err == nil {
			err = failing
		}
		return err
	})
}

func count(answers [][]symbol.Answer, found *int64) {
	for _, thread := range answers {
		for i := range thread {
			*found += int64(len(thread[i].Frames))
		}
	}
}

// symcache answers them with symbolic.
func (b *bench) symcacheStacks(c *crashes, dir string) (crashed, error) {
	list, frames := filepath.Join(b.tmp, "caches"), filepath.Join(b.tmp, "frames")
	var names, raw bytes.Buffer
	for _, f := range c.files {
		cache := filepath.Join(dir, filepath.Base(f))
		fmt.Fprintln(&names, cache)
		if _, err := os.Stat(cache); err == nil {
			continue
		}
		if _, err := measure.Run(nil, nil, b.peer, "symcache", f, cache); err != nil {
			return crashed{}, err
		}
	}
	for _, f := range c.frames {
		raw.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, f.file), f.address))
	}
	for name, text := range map[string][]byte{list: names.Bytes(), frames: raw.Bytes()} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return crashed{}, err
		}
	}
	var out bytes.Buffer
	u, err := measure.Run(nil, &out, b.peer, "stacks", list, frames)
	if err != nil {
		return crashed{}, err
	}
	r := crashed{Usage: u}
	var seconds float64
	_, err = fmt.Sscan(out.String(), &seconds, &r.frames)
	r.Wall = time.Duration(seconds * 1e9)
	return r, err
}

// symbolizer answers them with two processes of llvm-symbolizer.
func (c *crashes) symbolizer() (crashed, error) {
	var us [2]measure.Usage
	var errs [2]error
	var wg sync.WaitGroup
	began := time.Now()
	for g := range us {
		half := c.frames[g*len(c.frames)/2 : (g+1)*len(c.frames)/2]
		in, out := io.Pipe()
		go func() {
			var b []byte
			for _, f := range half {
				b = fmt.Appendf(b[:0], "%s %#x\n", c.files[f.file], f.address)
				if _, err := out.Write(b); err != nil {
					return
				}
			}
			out.Close()
		}()
		wg.Go(func() {
			us[g], errs[g] = measure.Run(in, nil, "llvm-symbolizer-19", "--inlines", "--no-demangle")
			in.CloseWithError(io.ErrClosedPipe)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return crashed{}, err
		}
	}
	return crashed{Usage: measure.Usage{Wall: time.Since(began), CPU: us[0].CPU + us[1].CPU}}, nil
}

// crashStacks measures stacks of crashes: cold start, two cores, beside symbolic and llvm-symbolizer.
func (b *bench) crashes() error {
	dir := filepath.Join(b.cache, "stacks")
	if _, err := os.Stat(filepath.Join(dir, "done")); err != nil {
		fmt.Fprintln(os.Stderr, "bench: the stacks of crashes are left out: their libraries were not made")
		return nil
	}
	store, caches := filepath.Join(b.tmp, "crash-store"), filepath.Join(b.tmp, "crash-caches")
	if err := os.Mkdir(caches, 0o700); err != nil {
		return err
	}
	if _, err := measure.Run(nil, nil, b.symlake, "--store", "file:"+store, "--lake", "off", "ingest", dir); err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%d stacks of %d frames over 200 libraries, Zipf(1.1), cold start\tcpu s\tk stacks/s on two cores (cpu)\twall s\tsource frames\t\n", crashStacks, crashFrames)
	for _, zipf := range []bool{true, false} {
		c, err := drawCrashes(dir, zipf)
		if err != nil {
			return err
		}
		all, texts := c.stacks(), c.texts()
		type runner struct {
			name string
			once bool
			run  func() (crashed, error)
		}
		runners := []runner{
			{"symlake", false, func() (crashed, error) { return c.parsed(store, all, lookup.Options{NoDemangle: true}) }},
			{"symlake, demangled", false, func() (crashed, error) { return c.parsed(store, all, lookup.Options{}) }},
			{"symlake, from text to text", false, func() (crashed, error) { return c.raw(store, texts, lookup.Options{}) }},
		}
		if b.peer != "" {
			runners = append(runners, runner{"symbolic's SymCache", false, func() (crashed, error) { return b.symcacheStacks(c, caches) }})
		}
		if zipf {
			runners = append(runners, runner{"llvm-symbolizer, two processes", true, c.symbolizer})
		}
		best := make([]crashed, len(runners))
		for round := range b.pairs {
			for i, r := range runners {
				if r.once && round > 0 {
					continue
				}
				took, err := r.run()
				if err != nil {
					return fmt.Errorf("%s: %w", r.name, err)
				}
				if round == 0 || took.CPU < best[i].CPU {
					best[i] = took
				}
			}
		}
		fmt.Fprintf(w, "%s\t\t\t\t\t\n", c.name)
		for i, r := range runners {
			fmt.Fprintf(w, "%s\t%.2f\t%.0f\t%.2f\t%d\t\n", r.name, best[i].CPU.Seconds(), 2*crashStacks/1e3/best[i].CPU.Seconds(), best[i].Wall.Seconds(), best[i].frames)
		}
	}
	return w.Flush()
}
