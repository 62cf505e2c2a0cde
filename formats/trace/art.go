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

const (
	artMagic      = "SLOW"
	artHeader     = 32   // bytes
	artStreamed   = 0xf0 // or'ed to the version
	artActionMask = 3

	artEnter  = 0
	artExit   = 1
	artUnroll = 2 // left by an exception

	artNewMethod = 1
	artNewThread = 2
	artSummary   = 3
)

func isART(head []byte) bool {
	return bytes.HasPrefix(head, []byte("*version\n")) || bytes.HasPrefix(head, []byte("*version\r\n")) || bytes.HasPrefix(head, []byte(artMagic))
}

// art is a trace being read.
type art struct {
	*reader
	version int
	record  int // bytes
	dual    bool
	pid     int64
	clock   string
	names   methodIDs
	threads map[uint16]string
	known   map[uint16]*artThread
	last    *artThread // of the record before
}

type artThread struct {
	*thread
	id   uint16
	low  uint32 // the last time: times have 32 bits, which is 70 minutes
	high int64
}

func (r *reader) art() error {
	a := &art{reader: r, threads: map[uint16]string{}, known: map[uint16]*artThread{}}
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
			a.threads[uint16(n)] = strings.TrimSpace(name)
		case section == "*methods":
			if err := a.method(text, from); err != nil {
				return err
			}
		}
	}
}

func (a *art) option(text string) {
	key, value, _ := strings.Cut(text, "=")
	switch key {
	case "clock":
		a.clock = value
	case "pid":
		if pid, err := strconv.ParseInt(value, 10, 32); err == nil && pid > 0 {
			a.pid = pid
		}
	case "data-file-overflow":
		if value == "true" {
			a.report.Notes = append(a.report.Notes, "the tracer's buffer was full: the end of what happened is missing")
		}
	}
}

// method enters a line of the table of methods.
func (a *art) method(text string, at int64) error {
	text = strings.TrimRight(text, "\r\n")
	fields := strings.Split(text, "\t")
	if len(fields) < 2 { // some tools write spaces
		fields = strings.Fields(text)
	}
	if len(fields) < 2 || fields[1] == "" {
		a.bad("keys", at, "ID, class, method, signature, source of a method")
		return nil
	}
	id, err := strconv.ParseUint(strings.TrimPrefix(fields[0], "0x"), 16, 32)
	if err != nil {
		a.bad("keys", at, "ID, class, method, signature, source of a method")
		return nil
	}
	var n Name
	switch {
	case len(fields) >= 4 && strings.HasPrefix(fields[3], "("):
		n.Text = dotted(fields[1]) + "." + fields[2]
		if types, ok := pretty(fields[3]); ok {
			n.Text += types
		} else {
			n.Text, n.Plain = n.Text+fields[3], true
		}
		if len(fields) > 4 {
			n.File = fields[4]
		}
		if len(fields) > 5 {
			n.Line = number(fields[5])
		}
	default: // without a method: the class is its whole name
		n.Text, n.Plain = strings.Join(fields[1:min(2, len(fields))], "."), true
		if len(fields) > 2 {
			n.File = fields[2]
		}
		if len(fields) > 3 {
			n.Line = number(fields[3])
		}
	}
	made, err := a.named(n)
	if err != nil {
		return err
	}
	return a.means(uint32(id)&^artActionMask, made)
}

// means enters the name of a method.
func (a *art) means(method uint32, name int32) error {
	if a.names.count >= MaxNames {
		return a.wrong(a.at, formats.ErrLimit, "fewer methods")
	}
	a.names.set(method, name)
	return nil
}

// named interns a name that may be needed to the trace's end.
func (a *art) named(n Name) (int32, error) {
	key := []byte(n.Text + "\x00" + n.File + "\x00" + strconv.Itoa(n.Line))
	if known := a.reader.names.get(key); known >= 0 {
		return known, nil
	}
	if a.reader.names.full(len(key)) {
		return 0, a.wrong(a.at, formats.ErrLimit, "fewer methods")
	}
	return a.reader.names.add(key, func(key string) Name {
		n.Text, n.File = key[:len(n.Text)], key[len(n.Text)+1:][:len(n.File)] // one text for both
		return n
	}), nil
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
		// What stands in entries of versions 4 to 6 changed while their numbers stayed.
		return a.wrong(from+4, formats.ErrUnsupported, fmt.Sprintf("version 1 to 3, or streamed 2 or 3, not %d", a.version))
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
