package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// What a pipeline of traces is sent: samples of traced_perf among ftrace's events.
const (
	perfettoSamples = 3_000_000
	perfettoBytes   = 1 << 30
	perfettoPeriod  = 30_000 // samples between two clears of the interned data
)

// drawPerfetto writes a trace of samples of the crashes' stacks. Every period sends its mappings, frames and stacks again.
// Packets of ftrace fill the rest.
func drawPerfetto(file string, c *crashes, samples int, size int64) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(7, 8))
	t := &traceDrawer{c: c, out: bufio.NewWriterSize(f, 1<<20), often: rand.NewZipf(rng, 1.1, 1, crashStacks-1), filler: ftraceBundle(rng)}
	for n := range samples {
		if n%perfettoPeriod == 0 {
			t.clear()
		}
		t.sample(n)
		for t.written*int64(samples) < size*int64(n+1) {
			t.packet(t.filler)
		}
	}
	return errors.Join(t.err, t.out.Flush(), f.Close())
}

// ftraceBundle makes a packet of switches from one thread to another.
func ftraceBundle(rng *rand.Rand) []byte {
	bundle := appendNumber(nil, 1, 3)
	for i := range uint64(64) {
		s := appendMessage(nil, 1, []byte("RenderThread"))
		s = appendNumber(s, 2, rng.Uint64N(30_000))
		s = appendNumber(s, 3, 120)
		s = appendMessage(s, 5, []byte("surfaceflinger"))
		s = appendNumber(s, 6, rng.Uint64N(30_000))
		s = appendNumber(s, 7, 97)
		event := appendNumber(nil, 1, 1_000_000_000+1000*i)
		event = appendNumber(event, 2, rng.Uint64N(30_000))
		bundle = appendMessage(bundle, 2, appendMessage(event, 4, s))
	}
	return appendMessage(nil, 1, bundle)
}

// traceDrawer writes packets.
type traceDrawer struct {
	c       *crashes
	out     *bufio.Writer
	often   *rand.Zipf
	written int64
	err     error
	filler  []byte
	images  map[uint32]bool
	frames  map[crashFrame]uint64
	stacks  map[uint64]bool
}

// appendNumber appends a field of protobuf.
func appendNumber(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

// appendMessage appends a message, or bytes.
func appendMessage(b []byte, field protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), message)
}

// packet writes a packet.
func (t *traceDrawer) packet(p []byte) {
	b := appendMessage(nil, 1, p)
	n, err := t.out.Write(b)
	t.written += int64(n)
	t.err = errors.Join(t.err, err)
}

// clear begins a period, which interns anew.
func (t *traceDrawer) clear() {
	t.images, t.frames, t.stacks = map[uint32]bool{}, map[crashFrame]uint64{}, map[uint64]bool{}
	p := appendNumber(nil, 10, 2)
	p = appendNumber(p, 13, 1)
	t.packet(appendNumber(p, 41, 1))
}

// sample writes a sample with what it is the first to need.
func (t *traceDrawer) sample(n int) {
	stack := t.often.Uint64()
	var interned []byte
	if !t.stacks[stack] {
		t.stacks[stack] = true
		var ids []byte
		for _, f := range t.c.frames[stack*crashFrames : (stack+1)*crashFrames] {
			id, known := t.frames[f]
			if !known {
				id = uint64(len(t.frames) + 1)
				t.frames[f] = id
				interned = t.frame(interned, f, id)
			}
			ids = appendNumber(ids, 2, id)
		}
		interned = appendMessage(interned, 7, append(appendNumber(nil, 1, stack+1), ids...))
	}
	p := appendNumber(nil, 8, 1_000_000_000+uint64(n)*10_000)
	p = appendNumber(p, 10, 2)
	p = appendNumber(p, 13, 2)
	if interned != nil {
		p = appendMessage(p, 12, interned)
	}
	s := appendNumber(nil, 1, uint64(n%8))
	s = appendNumber(s, 2, 4711)
	s = appendNumber(s, 3, uint64(4711+n%16))
	s = appendNumber(s, 4, stack+1)
	s = appendNumber(s, 5, 2)
	t.packet(appendMessage(p, 66, s))
}

// frame interns a frame with its mapping, path and build-id.
func (t *traceDrawer) frame(b []byte, f crashFrame, id uint64) []byte {
	image := uint64(f.file) + 1
	if !t.images[f.file] {
		t.images[f.file] = true
		raw, _ := hex.DecodeString(t.c.ids[f.file])
		text := func(field protowire.Number, iid uint64, s []byte) {
			b = appendMessage(b, field, appendMessage(appendNumber(nil, 1, iid), 2, s))
		}
		text(16, image, raw)
		text(17, 1000, []byte("system"))
		text(17, 1001, []byte("lib64"))
		text(17, image, []byte(filepath.Base(t.c.files[f.file])))
		m := appendNumber(nil, 1, image)
		m = appendNumber(m, 2, image)
		m = appendNumber(m, 4, 0x7000000000+image<<28)
		m = appendNumber(m, 5, 0x7000000000+image<<28+1<<27)
		for _, part := range []uint64{1000, 1001, image} {
			m = appendNumber(m, 7, part)
		}
		b = appendMessage(b, 19, m)
	}
	m := appendNumber(nil, 1, id)
	m = appendNumber(m, 3, image)
	return appendMessage(b, 6, appendNumber(m, 4, uint64(f.address)))
}

// moduleSymbols reads the answers that stand behind size bytes of a trace: frames by file and address.
func moduleSymbols(file string, size int64, c *crashes) (map[crashFrame][]frame, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(size, io.SeekStart); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	answered := map[crashFrame][]frame{}
	err = fields(b, func(_ protowire.Number, packet []byte, _ uint64) error {
		return fields(packet, func(field protowire.Number, module []byte, _ uint64) error {
			if field != 61 {
				return nil
			}
			return oneModule(module, c, answered)
		})
	})
	return answered, err
}

// oneModule reads a ModuleSymbols.
func oneModule(module []byte, c *crashes, answered map[crashFrame][]frame) error {
	at := -1
	return fields(module, func(field protowire.Number, part []byte, _ uint64) error {
		if field == 2 {
			id := string(part)
			if at = slices.Index(c.ids, id); at < 0 {
				at = slices.Index(c.ids, hex.EncodeToString(part))
			}
			if at < 0 {
				return fmt.Errorf("symbols of an unknown build-id %q", id)
			}
		}
		if field != 3 || at < 0 {
			return nil
		}
		var address uint64
		var lines []frame
		err := fields(part, func(field protowire.Number, line []byte, n uint64) error {
			if field == 1 {
				address = n
				return nil
			}
			var f frame
			var file string
			var number uint64
			err := fields(line, func(field protowire.Number, s []byte, n uint64) error {
				switch field {
				case 1:
					f.function = string(s)
				case 2:
					file = string(s)
				case 3:
					number = n
				}
				return nil
			})
			f.place = fmt.Sprintf("%s:%d:0", file, number)
			lines = append(lines, f)
			return err
		})
		answered[crashFrame{uint32(at), uint32(address)}] = lines
		return err
	})
}

// fields calls each for the fields of a message.
func fields(b []byte, each func(field protowire.Number, bytes []byte, n uint64) error) error {
	for len(b) > 0 {
		field, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		var part []byte
		var n uint64
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			part, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(field, kind, b)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		if err := each(field, part, n); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

// ask asks llvm-symbolizer as traceconv does: image by image, one address after the other, each when the answer before it came.
func (c *crashes) ask(places []crashFrame) (u measure.Usage, all [][]frame, err error) {
	cmd := exec.Command("llvm-symbolizer-19", "--inlines")
	in, err := cmd.StdinPipe()
	if err != nil {
		return u, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return u, nil, err
	}
	if err := cmd.Start(); err != nil {
		return u, nil, err
	}
	from := bufio.NewReader(out)
	var text bytes.Buffer
	for _, p := range places {
		if _, err := fmt.Fprintf(in, "CODE \"%s\" %#x\n", c.files[p.file], p.address); err != nil {
			return u, nil, err
		}
		for {
			line, err := from.ReadBytes('\n')
			if err != nil {
				return u, nil, fmt.Errorf("llvm-symbolizer: %w", err)
			}
			text.Write(line)
			if len(line) == 1 {
				break
			}
		}
	}
	u.Resident = measure.Status(cmd.Process.Pid, "VmHWM:")
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		return u, nil, err
	}
	u.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return u, answers(&text), nil
}

// perfetto measures a trace beside llvm-symbolizer over the same distinct addresses, as traceconv asks it, and compares all
// answers.
func (b *bench) perfetto() error {
	dir := filepath.Join(b.cache, "stacks")
	c, err := drawCrashes(dir, true)
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: Perfetto's traces are left out: %v\n", err)
		return nil
	}
	trace, out, store := filepath.Join(b.tmp, "trace.pftrace"), filepath.Join(b.tmp, "out.pftrace"), filepath.Join(b.tmp, "perfetto-store")
	defer func() { os.Remove(trace); os.Remove(out); os.RemoveAll(store) }()
	if _, err := measure.Run(nil, nil, b.symlake, "--store", "file:"+store, "--lake", "off", "ingest", dir); err != nil {
		return err
	}
	if err := drawPerfetto(trace, c, perfettoSamples, perfettoBytes); err != nil {
		return err
	}
	st, err := os.Stat(trace)
	if err != nil {
		return err
	}
	var ours []measure.Usage
	for range min(b.pairs, 5) {
		u, err := measure.Run(nil, nil, b.symlake, "--store", "file:"+store, "symbolicate", trace, "--output", out)
		if err != nil {
			return err
		}
		ours = append(ours, u)
	}
	answered, err := moduleSymbols(out, st.Size(), c)
	if err != nil {
		return err
	}
	places := make([]crashFrame, 0, len(answered))
	for p := range answered {
		places = append(places, p)
	}
	inOrder := func(x, y crashFrame) int {
		return cmp.Or(cmp.Compare(x.file, y.file), cmp.Compare(x.address, y.address))
	}
	slices.SortFunc(places, inOrder)
	rand.New(rand.NewPCG(11, 12)).Shuffle(len(places), func(i, k int) { places[i], places[k] = places[k], places[i] })
	slices.SortStableFunc(places, func(x, y crashFrame) int { return cmp.Compare(x.file, y.file) })
	theirs, theirAnswers, err := c.ask(places)
	if err != nil {
		return err
	}
	equal := 0
	for i, p := range places {
		if why := difference(answered[p], theirAnswers[i]); why == "" {
			equal++
		} else if i-equal < 5 {
			fmt.Fprintf(os.Stderr, "perfetto: %s %#x: %s\n  symlake %v\n  llvm    %v\n", c.files[p.file], p.address, why, answered[p], theirAnswers[i])
		}
	}
	// What the command costs without any symbols is not symbolization.
	empty := store + "-empty"
	defer os.RemoveAll(empty)
	if _, err := measure.Run(nil, nil, b.symlake, "--store", "file:"+empty, "--lake", "off", "ingest", "testdata/r8/shop.map.txt"); err != nil {
		return err
	}
	bare, err := measure.Run(nil, nil, b.symlake, "--store", "file:"+empty, "symbolicate", trace, "--output", out)
	if err != nil {
		return err
	}
	mb := float64(st.Size()) / 1e6
	w := measure.NewRows("a Perfetto trace of 1 GB, 3 M samples over 200 libraries")
	w.Row("distinct places", fmt.Sprint(len(places)), "")
	w.Row("equal to llvm-symbolizer", measure.Percent(equal, len(places)), "99.9 %")
	w.Row("MB/s a core", measure.Spread(ours, func(u measure.Usage) float64 { return mb / u.CPU.Seconds() }, "%.0f"), "150, aim 400")
	w.Row("cpu of llvm-symbolizer 19 over these places / symlake's", measure.Spread(ours, func(u measure.Usage) float64 { return theirs.CPU.Seconds() / u.CPU.Seconds() }, "%.1f"), "10, aim 20")
	w.Row("the same, without what symlake needs to read and copy the trace", measure.Spread(ours, func(u measure.Usage) float64 {
		return theirs.CPU.Seconds() / max(u.CPU-bare.CPU, time.Millisecond).Seconds()
	}, "%.1f"), "")
	w.Row("peak memory, MiB", measure.Spread(ours, measure.Resident, "%.0f"), "256, aim 128")
	w.Row("peak memory of llvm-symbolizer, MiB", fmt.Sprintf("%.0f", measure.Resident(theirs)), "")
	return w.Flush()
}
