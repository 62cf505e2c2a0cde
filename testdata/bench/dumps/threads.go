package dumps

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
	"unicode/utf16"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// The dump that is measured: each thread stands in random functions of one library.
const (
	manyThreads = 60
	deep        = 24
	functions   = 60_000
	codeAt      = 0x7f1200000000
	stackAt     = 0x7ffd00000000
	apart       = 0x100 // bytes of a function
)

// debugID is the library's id: in the module's record, and as Breakpad spells it.
var (
	buildID = []byte{0x44, 0x33, 0x22, 0x11, 0x66, 0x55, 0x88, 0x77, 9, 10, 11, 12, 13, 14, 15, 16}
	debugID = "1122334455667788090A0B0C0D0E0F100"
)

// frameBytes is how many bytes function i has on the stack, with the return address.
func frameBytes(i int) uint64 { return 16 + 8*uint64(i%29) }

// library writes the Breakpad file.
func library(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, "MODULE Linux x86_64 %s libgame.so\nFILE 0 /src/game.cpp\nFILE 1 /src/physics.cpp\n", debugID)
	for i := range functions {
		at := apart * (i + 16)
		fmt.Fprintf(w, "FUNC %x %x 0 game::step_%d(int)\n", at, apart, i)
		for line := range 8 {
			fmt.Fprintf(w, "%x 20 %d %d\n", at+line*0x20, i%900+line, i%2)
		}
	}
	for i := range functions {
		at := apart * (i + 16)
		fmt.Fprintf(w, "STACK CFI INIT %x %x .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI %x .cfa: $rsp 16 + $rbx: .cfa -16 + ^\nSTACK CFI %x .cfa: $rsp %d +\n", at, apart, at+1, at+5, frameBytes(i))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// dump is a minidump of x86-64 Linux with many threads in the library.
func dump() []byte {
	random := rand.New(rand.NewPCG(7, 11))
	le := binary.LittleEndian
	b := make([]byte, 32)
	put := func(piece []byte) uint32 {
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
		at := uint32(len(b))
		b = append(b, piece...)
		return at
	}
	var streams [][3]uint32
	stream := func(kind uint32, piece []byte) {
		streams = append(streams, [3]uint32{kind, uint32(len(piece)), put(piece)})
	}

	system := make([]byte, 56)
	le.PutUint16(system, 9)
	le.PutUint32(system[20:], 0x8201)
	stream(7, system)

	var name []byte
	for _, u := range utf16.Encode([]rune("/usr/lib/libgame.so")) {
		name = le.AppendUint16(name, u)
	}
	path := put(append(le.AppendUint32(nil, uint32(len(name))), name...))
	record := put(append([]byte("LEpB"), buildID...))
	module := make([]byte, 108)
	le.PutUint64(module, codeAt)
	le.PutUint32(module[8:], apart*(functions+32))
	le.PutUint32(module[20:], path)
	le.PutUint32(module[76:], uint32(4+len(buildID)))
	le.PutUint32(module[80:], record)
	stream(4, append(le.AppendUint32(nil, 1), module...))

	list := le.AppendUint32(nil, manyThreads)
	for t := range uint64(manyThreads) {
		start := stackAt + t<<20
		var memory []byte
		place := func() (i int, pc uint64) {
			i = random.IntN(functions)
			return i, codeAt + uint64(apart*(i+16)) + 0x41
		}
		i, first := place()
		for range deep {
			next, pc := place()
			memory = append(memory, make([]byte, frameBytes(i)-8)...)
			memory = le.AppendUint64(memory, pc)
			i = next
		}
		memory = append(memory, make([]byte, 512)...)
		context := make([]byte, 1232)
		le.PutUint64(context[0x98:], start)
		le.PutUint32(context[0x30:], 0x10000b)
		le.PutUint64(context[0xf8:], first)
		thread := make([]byte, 48)
		le.PutUint32(thread, uint32(1000+t))
		le.PutUint64(thread[24:], start)
		le.PutUint32(thread[32:], uint32(len(memory)))
		le.PutUint32(thread[36:], put(memory))
		le.PutUint32(thread[40:], uint32(len(context)))
		le.PutUint32(thread[44:], put(context))
		list = append(list, thread...)
	}
	stream(3, list)
	var directory []byte
	for _, s := range streams {
		for _, v := range s {
			directory = le.AppendUint32(directory, v)
		}
	}
	at := put(directory)
	copy(b, "MDMP\x93\xa7\x00\x00")
	le.PutUint32(b[8:], uint32(len(streams)))
	le.PutUint32(b[12:], at)
	return b
}

// threads measures the dump with many threads.
func (b *Bench) threads(rows *measure.Rows) error {
	dir := filepath.Join(b.Temp, "dump-threads", "libgame.so", debugID)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	symbols, root := filepath.Join(dir, "libgame.so.sym"), filepath.Dir(filepath.Dir(dir))
	if err := library(symbols); err != nil {
		return err
	}
	path := filepath.Join(b.Temp, "threads.dmp")
	if err := os.WriteFile(path, dump(), 0o644); err != nil {
		return err
	}
	store := filepath.Join(b.Temp, "threads-store")
	if _, err := measure.Run(nil, nil, b.Symlake, "--store", "file:"+store, "--lake", "off", "ingest", symbols); err != nil {
		return err
	}
	var ours, theirs []measure.Usage
	var text bytes.Buffer
	for range b.Runs {
		text.Reset()
		u, err := measure.Run(nil, &text, b.Symlake, "--store", "file:"+store, "symbolicate", path)
		if err != nil {
			return err
		}
		ours = append(ours, u)
		if u, err = measure.Run(nil, nil, peer, "--json", path, root); err != nil {
			return err
		}
		theirs = append(theirs, u)
	}
	found := bytes.Count(text.Bytes(), []byte("game::step_"))
	var cold []time.Duration
	for range b.Runs {
		began := time.Now()
		client, done, err := b.Open(store)
		if err != nil {
			return err
		}
		frames, err := b.ours(client, path)
		cold = append(cold, time.Since(began))
		if err := done(); err != nil {
			return err
		}
		if err != nil || len(frames) != manyThreads {
			return fmt.Errorf("%d threads: %w", len(frames), err)
		}
	}
	least := cold[0]
	for _, d := range cold {
		least = min(least, d)
	}
	rows.Row(fmt.Sprintf("frames of %d threads that have functions", manyThreads), measure.Percent(found, manyThreads*(deep+1)), "100 %")
	rows.Row("60 threads, cold from a file store, ms (client in process)", fmt.Sprintf("%.1f", least.Seconds()*1e3), "60")
	for _, tool := range []struct {
		name string
		runs []measure.Usage
	}{{"the command", ours}, {"minidump-stackwalk with the .sym file", theirs}} {
		rows.Row("60 threads, "+tool.name+", ms (and of the processor)", fmt.Sprintf("%.0f (%.0f)", measure.Least(tool.runs, measure.Wall)*1e3, measure.Least(tool.runs, measure.CPU)*1e3), "-")
	}
	return nil
}
