package simpleperf

import (
	"context"
	"errors"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
)

// contents is the small part of a profile: all of it but the samples.
type contents struct {
	files   map[uint32]*file
	threads map[uint32]thread
	events  []string // by number
	app     string
	samples uint64
	lost    uint64
	room    int64 // bytes that may still be kept
}

// thread is a thread that samples refer to.
type thread struct {
	process uint32
	name    string
}

// keep counts what a part of the contents takes.
func (c *contents) keep(n int) error {
	if c.room -= int64(n); c.room < 0 {
		return fault(0, "a profile with fewer names", formats.ErrLimit)
	}
	return nil
}

// read reads a profile, and shows each sample to see, which may be nil. Faults go to counts, which may be nil.
func read(ctx context.Context, in *profile.Input, room int64, counts *profile.Counts, see func(sample []byte) error) (c *contents, err error) {
	r, err := open(in)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if counts == nil {
		counts = &profile.Counts{}
	}
	c = &contents{files: map[uint32]*file{}, threads: map[uint32]thread{}, room: room}
	for n := 0; ; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		body, ok, err := r.read()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if err := c.record(body, r, counts, see); err != nil {
			return nil, err
		}
	}
	if r.end != nil {
		counts.Keep(r.end.Error(), r.where())
	}
	counts.Samples = c.samples
	return c, nil
}

// record reads one record. A record that is none is counted.
func (c *contents) record(body []byte, r *records, counts *profile.Counts, see func(sample []byte) error) error {
	var failed error
	whole := protobuf.Each(body, func(f *protobuf.Fields) {
		if failed != nil {
			return
		}
		switch f.Number {
		case recordSample:
			c.samples++
			if see != nil {
				failed = see(f.Bytes)
			}
		case recordLost:
			whole := protobuf.Each(f.Bytes, func(f *protobuf.Fields) {
				if f.Number == lostCount {
					c.lost = f.Value
				}
			})
			broken(whole, r, counts)
		case recordFile:
			failed = c.file(f.Bytes, r, counts)
		case recordThread:
			failed = c.thread(f.Bytes, r, counts)
		case recordMeta:
			failed = c.meta(f.Bytes, r, counts)
		}
	})
	broken(whole, r, counts)
	return failed
}

// broken counts a message that is none.
func broken(whole bool, r *records, counts *profile.Counts) {
	if !whole {
		counts.Keep("a record holds bytes that are no message", r.where())
	}
}

// About what an entry takes beside its strings.
const (
	fileBytes   = 160
	threadBytes = 96
	stringBytes = 24
)

func (c *contents) file(b []byte, r *records, counts *profile.Counts) (err error) {
	made, id := &file{}, uint32(0)
	whole := protobuf.Each(b, func(f *protobuf.Fields) {
		switch {
		case err != nil:
		case f.Number == fileID:
			id = uint32(f.Value)
		case f.Number == filePath:
			made.path, err = string(f.Bytes), c.keep(len(f.Bytes))
		case f.Number == fileSymbol:
			if err = c.keep(2*stringBytes + len(f.Bytes)); err == nil {
				made.symbols = append(made.symbols, string(f.Bytes))
			}
		case f.Number == fileMangled:
			if err = c.keep(2*stringBytes + len(f.Bytes)); err == nil {
				made.mangled = append(made.mangled, string(f.Bytes))
			}
		}
	})
	broken(whole, r, counts)
	if _, known := c.files[id]; known {
		counts.Keep("a file has the number of another one, and its names are not read", r.where())
		return err
	}
	if err == nil {
		err = c.keep(fileBytes)
	}
	c.files[id] = made
	return err
}

func (c *contents) thread(b []byte, r *records, counts *profile.Counts) error {
	var id uint32
	var t thread
	broken(protobuf.Each(b, func(f *protobuf.Fields) {
		switch f.Number {
		case threadID:
			id = uint32(f.Value)
		case threadProcess:
			t.process = uint32(f.Value)
		case threadName:
			t.name = string(f.Bytes)
		}
	}), r, counts)
	c.threads[id] = t
	return c.keep(threadBytes + len(t.name))
}

func (c *contents) meta(b []byte, r *records, counts *profile.Counts) (err error) {
	broken(protobuf.Each(b, func(f *protobuf.Fields) {
		switch {
		case err != nil:
		case f.Number == metaEvent:
			c.events, err = append(c.events, string(f.Bytes)), c.keep(stringBytes+len(f.Bytes))
		case f.Number == metaApp:
			c.app, err = string(f.Bytes), c.keep(len(f.Bytes))
		}
	}), r, counts)
	return err
}
