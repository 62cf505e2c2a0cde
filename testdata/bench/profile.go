package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"

	"github.com/symlake/symlake/jobs"
)

// profile runs the main job over the inputs in this process and writes where
// its time went: what the compiler is told by jobs/symlake/default.pgo. An input that is read
// fast is read several times, so that no format or language drowns the others.
func (b *bench) profile(to string, files []string) error {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for i, file := range files {
		st, err := os.Stat(file)
		if err != nil {
			return err
		}
		for n := range max(1, profileBytes/st.Size()) {
			store := "file:" + filepath.Join(b.tmp, fmt.Sprintf("profile-%d-%d", i, n))
			if err := b.job(strings.NewReader(""), "--store", store, "ingest", file, "--workers", "1"); err != nil {
				return err
			}
			if n > 0 {
				continue
			}
			r := &result{name: filepath.Base(file)}
			if r.facts(file) != nil {
				continue // no ELF object with DWARF: its look-ups are like the others'
			}
			var asked strings.Builder
			for _, p := range r.probes {
				fmt.Fprintf(&asked, "%s %#x\n", filepath.Base(file), p)
			}
			for _, flag := range []string{"--demangle", "--no-demangle"} {
				if err := b.job(strings.NewReader(asked.String()), "--store", store, "lookup", "--stdin", flag); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

const profileBytes = 600 << 20

// job runs a job of symlake in this process.
func (b *bench) job(stdin io.Reader, args ...string) error {
	var said strings.Builder
	if code := jobs.Main(b.ctx, args, stdin, io.Discard, &said); code != 0 {
		return fmt.Errorf("symlake %s: exit %d: %s", strings.Join(args, " "), code, tail([]byte(said.String())))
	}
	return nil
}
