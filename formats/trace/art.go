package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
)

// Method traces of Android's runtimes: Traceview's file format, as Dalvik began it and ART writes it.

func isART(head []byte) bool {
	return bytes.HasPrefix(head, []byte("*version\n")) || bytes.HasPrefix(head, []byte("*version\r\n")) || bytes.HasPrefix(head, []byte(artMagic))
}

func (r *reader) art() error {
	a := &art{reader: r, threads: map[uint32]string{}, known: map[uint16]*artThread{}}
	head, err := r.in.Peek(len(artMagic))
	if err != nil {
		return r.corrupt(0, "a header")
	}
	streamed := string(head) == artMagic
	if !streamed {
		if err := a.keys(); err != nil {
			return err
		}
	}
	if head, _ := r.in.Peek(6); streamed && packedVersion(head) {
		return a.packed()
	}
	if err := a.header(streamed); err != nil {
		return err
	}
	return a.records(streamed)
}

// keys reads the key section, which is text.
func (a *art) keys() error {
	section := ""
	for {
		from := a.at
		line, long, err := a.line()
		if errors.Is(err, io.EOF) {
			return a.corrupt(a.at, "*end of the key section")
		} else if err != nil {
			return err
		}
		if err := a.alive(); err != nil {
			return err
		}
		text := string(line)
		switch {
		case long:
			a.bad("keys", from, "a shorter line")
		case text == "*end":
			return nil
		case strings.HasPrefix(text, "*"):
			section = text
		case section == "*version" || section == "options":
			a.option(text)
			section = "options"
		case section == "*threads":
			id, name, ok := strings.Cut(text, "\t")
			if !ok { // some tools write spaces
				id, name, ok = strings.Cut(text, " ")
			}
			n, err := strconv.ParseUint(id, 10, 16)
			if !ok || err != nil {
				a.bad("keys", from, "ID and name of a thread")
				continue
			}
			if err := a.told(uint32(n), strings.TrimSpace(name)); err != nil {
				return err
			}
		case section == "*methods":
			if err := a.method(text, from); err != nil {
				return err
			}
		}
	}
}

// header reads what stands before the records.
func (a *art) header(streamed bool) error {
	from := a.at
	b, err := a.take(16, "the header of the records")
	if err != nil {
		return err
	}
	if string(b[:4]) != artMagic {
		return a.corrupt(from, artMagic)
	}
	a.version = int(u16(b[4:]))
	skip := int64(u16(b[6:])) - 16
	if streamed {
		if a.version&artStreamed != artStreamed {
			return a.wrong(from+4, formats.ErrUnsupported, fmt.Sprintf("a streamed version, not %d, without a key section", a.version))
		}
		a.version &^= artStreamed
		skip = artHeader - 16
	}
	switch {
	case a.version == 1 && !streamed:
		a.record = 9
	case a.version == 2:
		a.record = 10
	case a.version == 3:
		if b, err = a.take(2, "the size of records"); err != nil {
			return err
		}
		skip -= 2
		if a.record = int(u16(b)); a.record < 10 || a.record > 256 {
			return a.corrupt(from+16, "a size of records from 10 to 256")
		}
	default:
		return a.wrong(from+4, formats.ErrUnsupported, fmt.Sprintf("version 1 to 3, streamed 2 or 3, or 4 or 5 without a key section, not %d", a.version))
	}
	a.dual = a.clock == "dual" || a.clock == "" && a.version == 3 && a.record >= 14
	if a.dual && a.record < 14 {
		return a.corrupt(from+16, "records of 14 bytes, with two clocks")
	}
	if skip < 0 {
		return a.corrupt(from+6, "an offset of records behind the header")
	}
	return a.skip(skip)
}
