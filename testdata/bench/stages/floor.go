package stages

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// floors returns what passes cost that do a stage's least: every word of the file is read once, every entry skipped, every
// line program run, the stored bytes encrypted and written once.
func (b *Bench) floors(in Input) (map[string]float64, error) {
	stored, err := b.ingest(in)
	if err != nil {
		return nil, err
	}
	floors := map[string]float64{}
	for _, f := range []struct {
		stage string
		pass  func() error
	}{
		{"read", func() error { return touch(in.File) }},
		{"seal", func() error { return encrypt(stored) }},
		{"store", func() error { return write(filepath.Join(b.Temp, "floor"), stored) }},
	} {
		if floors[f.stage], err = b.least(f.pass); err != nil {
			return nil, err
		}
	}
	if err := b.dwarfFloors(in, floors); err != nil {
		return nil, err
	}
	for stage := range floors {
		floors[stage] /= float64(in.DWARF)
	}
	return floors, nil
}

// least is the least processor time of five passes, in nanoseconds.
func (b *Bench) least(pass func() error) (float64, error) {
	var all []time.Duration
	for range 5 {
		from := measure.Spent()
		if err := errors.Join(b.Context.Err(), pass()); err != nil {
			return 0, err
		}
		all = append(all, measure.Spent()-from)
	}
	return float64(slices.Min(all)), nil
}

func touch(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(st.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	var sum uint64
	for words := b; len(words) >= 8; words = words[8:] {
		sum += binary.LittleEndian.Uint64(words)
	}
	runtime.KeepAlive(sum)
	return syscall.Munmap(b)
}

func encrypt(n int64) error {
	block, err := aes.NewCipher(make([]byte, 32))
	if err != nil {
		return err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return err
	}
	text, sealed := make([]byte, 64<<10), make([]byte, 0, 65<<10)
	for ; n > 0; n -= int64(len(text)) {
		sealed = gcm.Seal(sealed[:0], make([]byte, 12), text[:min(n, int64(len(text)))], nil)
	}
	return nil
}

func write(file string, n int64) error {
	defer os.Remove(file)
	return os.WriteFile(file, make([]byte, n), 0o600)
}

// dwarfFloors runs the benchmark of the package that reads DWARF.
func (b *Bench) dwarfFloors(in Input, floors map[string]float64) error {
	cmd := exec.CommandContext(b.Context, "go", "test", "./formats/internal/dwarf", "-run", "^$", "-bench", "^BenchmarkFloor$", "-count", "3")
	cmd.Env = append(os.Environ(), "SYMLAKE_FLOOR="+in.File)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	passes := map[string]float64{} // the least of each, in nanoseconds
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 6 || f[5] != "cpu-ns/op" {
			continue
		}
		pass, _, _ := strings.Cut(strings.TrimPrefix(f[0], "BenchmarkFloor/"), "-")
		took, err := strconv.ParseFloat(f[4], 64)
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		if old, ok := passes[pass]; !ok || took < old {
			passes[pass] = took
		}
	}
	floors["entries"] = passes["entries"]
	floors["line programs"] = max(0, passes["lines"]-passes["units"])
	return nil
}
