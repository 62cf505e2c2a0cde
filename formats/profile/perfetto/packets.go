package perfetto

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
)

// packet is a packet of a trace, with the fields that matter here. It is valid until the next one is read.
type packet struct {
	at       int64  // of the packet in the trace, in bytes
	sequence uint64 // with the machine in its upper half
	cleared  bool   // ids of the sequence begin anew
	lost     bool   // packets of the sequence before it are lost
	needs    bool   // the packet means nothing without earlier ones
	time     int64  // -1: not said
	clock    uint64 // 0: not said
	interned [][]byte
	defaults []byte
	kind     uint32 // the number of the field with its contents
	body     []byte
}

// walk reads a trace to its end, packet by packet.
type walk struct {
	in       io.Reader
	most     int // bytes that a packet may have
	counts   *profile.Counts
	each     func(p *packet) error
	one      packet
	zlib     io.ReadCloser
	zstd     *zstd.Decoder
	unpacked bytes.Buffer

	buf      []byte
	from, to int
	at       int64 // of buf[from]
	missing  uint64
}

// firstBytes are read of a trace at a time; a packet that is larger gets more.
const firstBytes = 64 << 10

// errEnd ends the reading of packets, because the trace holds bytes that are none.
var errEnd = errors.New("end")

// trace calls each with every packet of a trace. It reads the trace to its end, also behind damage, which it counts. missing
// is how many bytes the last packet lacks. The error is ctx's, of reading or of each.
func trace(ctx context.Context, in io.Reader, most int, counts *profile.Counts, each func(p *packet) error) (missing uint64, err error) {
	w := &walk{in: in, most: most, counts: counts, each: each, buf: make([]byte, min(firstBytes, most+16))}
	defer w.close()
	for n := 0; err == nil; n++ {
		if n&0x3ff == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		err = w.step()
	}
	switch {
	case errors.Is(err, io.EOF):
		return w.missing, nil
	case errors.Is(err, errEnd):
		_, err = io.Copy(io.Discard, w.in)
		return 0, err
	}
	return 0, err
}

func (w *walk) close() {
	if w.zstd != nil {
		w.zstd.Close()
	}
}

// fill makes n bytes ready. Fewer are ready at the end of the trace.
func (w *walk) fill(n int) error {
	if w.to-w.from >= n {
		return nil
	}
	if n > len(w.buf) {
		old := w.buf[w.from:w.to]
		w.buf = make([]byte, max(n, min(2*len(w.buf), w.most+16)))
		copy(w.buf, old)
		w.from, w.to = 0, len(old)
	} else if w.from > 0 {
		w.to = copy(w.buf, w.buf[w.from:w.to])
		w.from = 0
	}
	for w.to < n {
		k, err := w.in.Read(w.buf[w.to:])
		w.to += k
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// skip goes over n bytes.
func (w *walk) skip(n uint64) error {
	if have := uint64(w.to - w.from); n <= have {
		w.from, w.at = w.from+int(n), w.at+int64(n)
		return nil
	}
	n -= uint64(w.to - w.from)
	w.at += int64(w.to - w.from)
	w.from, w.to = 0, 0
	if n > 1<<62 {
		n = 1 << 62
	}
	k, err := io.CopyN(io.Discard, w.in, int64(n))
	w.at += k
	if errors.Is(err, io.EOF) {
		w.missing = n - uint64(k)
		return w.cut()
	}
	return err
}

func (w *walk) where() string { return fmt.Sprintf("offset 0x%x of the trace", w.at) }

// cut notes that the trace ends within a packet.
func (w *walk) cut() error {
	w.counts.Keep("the trace ends within a packet", w.where())
	return io.EOF
}

// damaged notes bytes that are no packet.
func (w *walk) damaged() error {
	w.counts.Keep("bytes are no packet, and the rest of the trace is not read", w.where())
	return errEnd
}

// step reads a field of the trace: a packet, or a field of newer traces. The error is io.EOF at the end.
func (w *walk) step() error {
	if err := w.fill(16); err != nil {
		return err
	}
	head := w.buf[w.from:min(w.to, w.from+16)]
	if len(head) == 0 {
		return io.EOF
	}
	tag, n := protobuf.Uvarint(head)
	if n == 0 { // a number of two bytes, and 0 as its field's value or size
		w.missing = 2
		if kind := head[0] & 7; kind == protobuf.Fixed64 || kind == protobuf.Fixed32 {
			w.missing = 1 + 8>>(kind/protobuf.Fixed32)
		}
		return w.cut()
	}
	if n < 0 || tag>>3 == 0 || tag>>3 >= 1<<29 {
		return w.damaged()
	}
	switch tag & 7 {
	case protobuf.Varint:
		_, k := protobuf.Uvarint(head[n:])
		if k < 0 {
			return w.damaged()
		}
		if k == 0 {
			w.missing = 1
			return w.cut()
		}
		return w.skip(uint64(n + k))
	case protobuf.Fixed64:
		return w.skip(uint64(n) + 8)
	case protobuf.Fixed32:
		return w.skip(uint64(n) + 4)
	case protobuf.Bytes:
	default:
		return w.damaged()
	}
	size, k := protobuf.Uvarint(head[n:])
	if k < 0 {
		return w.damaged()
	}
	if k == 0 {
		w.missing = 1 + begun(head[n:])
		return w.cut()
	}
	if tag>>3 != tracePacket {
		return w.skip(uint64(n+k) + size)
	}
	if size > uint64(w.most) {
		at := w.where()
		err := w.skip(uint64(n+k) + size)
		if err == nil {
			w.counts.Keep("a packet is larger than memory allows", at)
		}
		return err
	}
	if err := w.fill(n + k + int(size)); err != nil {
		return err
	}
	if have := w.to - w.from; have < n+k+int(size) {
		w.missing = uint64(n + k + int(size) - have)
		return w.cut()
	}
	body := w.buf[w.from+n+k : w.from+n+k+int(size)]
	err := w.packet(body, 0)
	w.from, w.at = w.from+n+k+int(size), w.at+int64(n+k+int(size))
	return err
}

// begun returns the number that a cut one becomes by a byte of 0 behind it.
func begun(b []byte) (v uint64) {
	for i, c := range b {
		v |= uint64(c&0x7f) << (7 * i)
	}
	return v
}

// packet reads a packet. One with packed packets stands for these.
func (w *walk) packet(body []byte, depth int) error {
	p := &w.one
	*p = packet{at: w.at, time: -1, interned: p.interned[:0]}
	f := protobuf.Read(body)
	var machine uint64
	for f.Next() {
		switch f.Number {
		case packetTimestamp:
			p.time = int64(f.Value)
		case packetClock:
			p.clock = f.Value
		case packetSequence:
			p.sequence = f.Value & (1<<32 - 1)
		case packetMachine:
			machine = f.Value << 32
		case packetFlags:
			p.cleared = p.cleared || f.Value&flagCleared != 0
			p.needs = f.Value&flagNeeds != 0
		case packetOldCleared:
			p.cleared = p.cleared || f.Value != 0
		case packetDropped:
			p.lost = f.Value != 0
		case packetInterned:
			if f.Wire == protobuf.Bytes {
				p.interned = append(p.interned, f.Bytes)
			}
		case packetDefaults:
			p.defaults = f.Bytes
		case packetFtrace, packetProcessTree, packetTrackEvent, packetClocks, packetProfile, packetProcess, packetThread, packetPackages, packetCompressed,
			packetStreaming, packetHeapGraph, packetDescriptor, packetSymbols, packetRenamed, packetPerfSample, packetZstd, packetStackSample:
			if f.Wire == protobuf.Bytes {
				p.kind, p.body = f.Number, f.Bytes
			}
		}
	}
	if f.Bad {
		w.counts.Keep("a packet holds bytes that are no field", w.where())
	}
	p.sequence |= machine
	if p.kind != packetCompressed && p.kind != packetZstd {
		return w.each(p)
	}
	if depth > 0 {
		w.counts.Keep("packed packets stand in packed packets", w.where())
		return nil
	}
	return w.unpack(p)
}

// unpack reads packets that are packed as one.
func (w *walk) unpack(p *packet) error {
	from, err := w.open(p)
	most := max(w.most/4, 1<<20) // its memory doubles as it grows
	w.unpacked.Reset()
	if err == nil {
		_, err = w.unpacked.ReadFrom(io.LimitReader(from, int64(most)+1))
	}
	if w.unpacked.Len() > most {
		w.counts.Keep("a packet is larger than memory allows", w.where())
		return nil
	}
	if err != nil {
		w.counts.Keep("packed packets are damaged", w.where())
	}
	f := protobuf.Read(w.unpacked.Bytes())
	for f.Next() {
		if f.Is(tracePacket) {
			if err := w.packet(f.Bytes, 1); err != nil {
				return err
			}
		}
	}
	if f.Bad && err == nil {
		w.counts.Keep("packed packets are damaged", w.where())
	}
	return nil
}

// open opens packed packets.
func (w *walk) open(p *packet) (from io.Reader, err error) {
	packed := bytes.NewReader(p.body)
	switch {
	case p.kind == packetZstd && w.zstd == nil:
		w.zstd, err = zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(uint64(max(w.most, 1<<20))))
		return w.zstd, err
	case p.kind == packetZstd:
		return w.zstd, w.zstd.Reset(packed)
	case w.zlib == nil:
		w.zlib, err = zlib.NewReader(packed)
	default:
		err = w.zlib.(zlib.Resetter).Reset(packed, nil)
	}
	return w.zlib, err
}
