package simpleperf

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
)

// write writes the profile again, with the names of places.
func (a *answers) write(ctx context.Context, in *profile.Input, out io.Writer) (err error) {
	r, err := open(in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if _, err := out.Write(r.raw); err != nil {
		return err
	}
	var made []byte
	done := map[uint32]bool{} // a file that comes again has the number of another one, and stays
	for n := 0; ; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		body, ok, err := r.read()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		record := r.raw
		if changed, is := a.record(append(made[:0], 0, 0, 0, 0), body, done); is {
			binary.LittleEndian.PutUint32(changed, uint32(len(changed)-4))
			made, record = changed, changed
		}
		if _, err := out.Write(record); err != nil {
			return err
		}
	}
	if _, err := out.Write(r.raw); err != nil {
		return err
	}
	_, err = io.Copy(out, r.in) // what stands behind the end
	if err != nil && isEnd(err) {
		err = nil
	}
	return err
}

// record appends a record with its changes; is: it has any.
func (a *answers) record(to, body []byte, done map[uint32]bool) (changed []byte, is bool) {
	whole := protobuf.Each(body, func(f *protobuf.Fields) {
		var part []byte
		var ok bool
		switch f.Number {
		case recordSample:
			part, ok = a.sample(f.Bytes)
		case recordFile:
			part, ok = a.file(f.Bytes, done)
		}
		if !ok {
			to = append(to, f.Whole()...)
			return
		}
		to, is = protobuf.AppendBytes(to, f.Number, part), true
	})
	return to, is && whole
}

// sample returns a sample with the names of its places; is: it has any that were not there.
func (a *answers) sample(b []byte) (changed []byte, is bool) {
	whole := protobuf.Each(b, func(f *protobuf.Fields) {
		if f.Number == sampleChain {
			if e, ok := parseEntry(f.Bytes); ok {
				if at, known := a.places[place{e.address, e.file, e.symbol}]; known && at >= 0 {
					is = true
					for _, number := range a.chains[at] {
						changed = appendEntry(changed, f.Bytes, number)
					}
					return
				}
			}
		}
		changed = append(changed, f.Whole()...)
	})
	return changed, is && whole
}

// appendEntry appends an entry of a call chain with another symbol.
func appendEntry(to, was []byte, number int32) []byte {
	var entry [64]byte
	b, placed := entry[:0], false
	protobuf.Each(was, func(f *protobuf.Fields) {
		if f.Number != entrySymbol {
			b = append(b, f.Whole()...)
			return
		}
		if !placed {
			b, placed = protobuf.AppendNumber(b, entrySymbol, uint64(number)), true
		}
	})
	if !placed {
		b = protobuf.AppendNumber(b, entrySymbol, uint64(number))
	}
	return protobuf.AppendBytes(to, sampleChain, b)
}

// file returns a file with the symbols that it gets; is: it gets any.
func (a *answers) file(b []byte, done map[uint32]bool) (changed []byte, is bool) {
	id := uint32(0)
	whole := protobuf.Each(b, func(f *protobuf.Fields) {
		if f.Number == fileID {
			id = uint32(f.Value)
		}
	})
	of, gets, renew := a.files[id], a.names[id], a.renew[id]
	if !whole || done[id] || of == nil {
		return nil, false
	}
	done[id] = true
	if gets == nil && len(renew) == 0 {
		return nil, false
	}
	twice := len(of.mangled) == len(of.symbols)
	symbols := 0
	protobuf.Each(b, func(f *protobuf.Fields) {
		if f.Number == fileSymbol {
			if name, ok := renew[int32(symbols)]; ok {
				changed = protobuf.AppendBytes(changed, fileSymbol, name)
			} else {
				changed = append(changed, f.Whole()...)
			}
			symbols++
			return
		}
		changed = append(changed, f.Whole()...)
	})
	if gets == nil {
		return changed, true
	}
	for _, name := range gets.symbols {
		changed = protobuf.AppendBytes(changed, fileSymbol, name)
	}
	for _, name := range gets.mangled {
		if twice {
			changed = protobuf.AppendBytes(changed, fileMangled, name)
		}
	}
	return changed, true
}
