// Package busy says for how long the programs of this folder work, and profiles them as Go does.
package busy

import (
	"log"
	"os"
	"runtime/pprof"
	"strconv"
	"time"
)

// Busy is one run of a program.
type Busy struct {
	Until time.Time
	cpu   *os.File
}

// Begin reads the time in seconds from the first argument; without one it is two. CPUPROFILE names a file for Go's profile,
// HEAPPROFILE one for the heap at the end.
func Begin() *Busy {
	seconds := 2.0
	if len(os.Args) > 1 {
		s, err := strconv.ParseFloat(os.Args[1], 64)
		if err != nil {
			log.Fatal(err)
		}
		seconds = s
	}
	b := &Busy{Until: time.Now().Add(time.Duration(seconds * float64(time.Second)))}
	if name := os.Getenv("CPUPROFILE"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			log.Fatal(err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			log.Fatal(err)
		}
		b.cpu = f
	}
	return b
}

// End writes the profiles.
func (b *Busy) End() {
	if b.cpu != nil {
		pprof.StopCPUProfile()
		if err := b.cpu.Close(); err != nil {
			log.Fatal(err)
		}
	}
	if name := os.Getenv("HEAPPROFILE"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			log.Fatal(err)
		}
		if err := pprof.Lookup("heap").WriteTo(f, 0); err != nil {
			log.Fatal(err)
		}
		if err := f.Close(); err != nil {
			log.Fatal(err)
		}
	}
}
