package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// shopMapping is the id of testdata/r8/shop.map.txt, for events that name no mapping.
const shopMapping = "89a3f476d274c700f1e6babfebf4009d1cab0556636efe206b13edafc49717fa"

// eventSymbols are the objects that the events of testdata/events name, below testdata.
var eventSymbols = []string{"events/symbols", "elf/libgame-arm64-dw5.so", "macho/libgame.dylib.dSYM", "r8/shop.map.txt", "js/app.min.js", "js/app.min.js.map",
	"dart/app.android-arm64.symbols", "dart/obfuscation-map.json"}

// eventFile is a row of the table in testdata/events/README.md.
type eventFile struct {
	name, service string
	frames        int
}

// recognized is how many frames of a service's events were read, of how many there are.
type recognized struct{ events, frames, of int }

// events counts frames of services' events that each binary reads, and measures the processor time of stacks from text to
// text.
func (b *bench) events() error {
	programs, titles := []string{b.symlake}, []string{"symlake"}
	if b.old != "" {
		programs, titles = append(programs, b.old), append(titles, "the old one")
	}
	files, err := eventFiles()
	if err != nil {
		return err
	}
	var services []string
	read := make([]map[string]*recognized, len(programs))
	for i, program := range programs {
		if read[i], err = b.readEvents(program, files); err != nil {
			return err
		}
	}
	for service := range read[0] {
		services = append(services, service)
	}
	slices.Sort(services)
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "frames recognized\tevents\tframes\t")
	for _, title := range titles {
		fmt.Fprintf(w, "%s\t", title)
	}
	fmt.Fprintln(w)
	sum := make([]int, len(programs))
	events, frames := 0, 0
	for _, service := range services {
		r := read[0][service]
		fmt.Fprintf(w, "%s\t%d\t%d\t", service, r.events, r.of)
		for i := range programs {
			fmt.Fprintf(w, "%d\t", read[i][service].frames)
			sum[i] += read[i][service].frames
		}
		fmt.Fprintln(w)
		events, frames = events+r.events, frames+r.of
	}
	fmt.Fprintf(w, "all\t%d\t%d\t", events, frames)
	for _, n := range sum {
		fmt.Fprintf(w, "%d\t", n)
	}
	fmt.Fprintln(w)
	if err := w.Flush(); err != nil {
		return err
	}
	return b.texts(programs, titles)
}

// eventFiles reads the table of events.
func eventFiles() (files []eventFile, err error) {
	readme, err := os.ReadFile("testdata/events/README.md")
	if err != nil {
		return nil, err
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\| (\\d+) \\| \\d+ \\|").FindAllSubmatch(readme, -1) {
		frames, err := strconv.Atoi(string(m[3]))
		if err != nil {
			return nil, err
		}
		files = append(files, eventFile{string(m[1]), string(m[2]), frames})
	}
	if len(files) == 0 {
		return nil, errors.New("testdata/events/README.md has no table of events")
	}
	return files, nil
}

// readEvents counts frames that a program reads, by service. Frames that no event has do not count.
func (b *bench) readEvents(program string, files []eventFile) (map[string]*recognized, error) {
	store, err := os.MkdirTemp(b.tmp, "events-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(store)
	load := []string{"--store", "file:" + store, "--lake", "off", "ingest"}
	for _, object := range eventSymbols {
		load = append(load, filepath.Join("testdata", object))
	}
	if _, err := measure.Run(nil, nil, program, load...); err != nil {
		return nil, err
	}
	read := map[string]*recognized{}
	for _, f := range files {
		var out bytes.Buffer
		if _, err := measure.Run(nil, &out, program, "--store", "file:"+store, "--json", "symbolicate", "--artifact", shopMapping, filepath.Join("testdata/events", f.name)); err != nil {
			return nil, err
		}
		n := 0
		for in := json.NewDecoder(&out); ; {
			var record struct {
				Threads []struct{ Frames []struct{} }
			}
			if err := in.Decode(&record); err == io.EOF {
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", f.name, err)
			}
			for _, t := range record.Threads {
				n += len(t.Frames)
			}
		}
		r := read[f.service]
		if r == nil {
			r = &recognized{}
			read[f.service] = r
		}
		r.events++
		r.of += f.frames
		r.frames += min(n, f.frames)
	}
	return read, nil
}

// texts measures symbolicate of stacks in text, programs in turn.
func (b *bench) texts(programs, titles []string) error {
	event, err := os.ReadFile("testdata/events/sentry-native.json")
	if err != nil {
		return err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, event); err != nil {
		return err
	}
	line.WriteByte('\n')
	tombstone, err := os.ReadFile("testdata/stacks/tombstone.txt")
	if err != nil {
		return err
	}
	type input struct {
		name   string
		stacks int
		file   string
		loads  string
	}
	const copies = 20_000
	inputs := []input{
		{"a native event of Sentry", copies, filepath.Join(b.tmp, "events.ndjson"), "testdata/elf/libgame-arm64-dw5.so"},
		{"a whole tombstone of 8 frames", copies, filepath.Join(b.tmp, "whole.txt"), "testdata/elf/libgame-arm64-dw5.so"},
	}
	for i, text := range [][]byte{line.Bytes(), tombstone} {
		if err := os.WriteFile(inputs[i].file, bytes.Repeat(text, copies), 0o600); err != nil {
			return err
		}
	}
	dir := filepath.Join(b.cache, "stacks")
	if _, err := os.Stat(filepath.Join(dir, "done")); err == nil {
		c, err := drawCrashes(dir, true)
		if err != nil {
			return err
		}
		tombs := input{"a tombstone of 30 frames", crashStacks, filepath.Join(b.tmp, "tombstones.txt"), dir}
		if err := os.WriteFile(tombs.file, bytes.Join(c.texts(), nil), 0o600); err != nil {
			return err
		}
		inputs = append(inputs, tombs)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\ncpu from text to text, µs\t")
	for _, title := range titles {
		fmt.Fprintf(w, "%s\t", title)
	}
	fmt.Fprintln(w)
	for _, in := range inputs {
		took := make([][]measure.Usage, len(programs))
		stores := make([]string, len(programs))
		for i, program := range programs {
			if stores[i], err = os.MkdirTemp(b.tmp, "texts-"); err != nil {
				return err
			}
			defer os.RemoveAll(stores[i])
			if _, err := measure.Run(nil, nil, program, "--store", "file:"+stores[i], "--lake", "off", "ingest", in.loads); err != nil {
				return err
			}
		}
		for range b.pairs {
			for i, program := range programs {
				u, err := measure.Run(nil, nil, program, "--store", "file:"+stores[i], "symbolicate", in.file)
				if err != nil {
					return err
				}
				took[i] = append(took[i], u)
			}
		}
		fmt.Fprintf(w, "%s\t", in.name)
		for i := range programs {
			fmt.Fprintf(w, "%.1f\t", measure.Least(took[i], measure.CPU)*1e6/float64(in.stacks))
		}
		fmt.Fprintln(w)
		os.Remove(in.file)
	}
	return w.Flush()
}
