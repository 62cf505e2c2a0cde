package trace

import (
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/trace/internal/method"
)

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

// art is a trace being read.
type art struct {
	*reader
	version int
	record  int // bytes
	dual    bool
	pid     int64
	clock   string
	names   method.IDs[uint32]
	threads map[uint32]string // names by the ID in the trace
	bytes   int               // of these names
	known   map[uint16]*artThread
	last    *artThread // of the record before
}

type artThread struct {
	*thread
	id   uint16
	low  uint32 // the last time: times have 32 bits, which is 70 minutes
	high int64
}

// option notes a line of the key section or of the summary.
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
	made, err := a.named(methodOf(fields[1:]))
	if err != nil {
		return err
	}
	return a.means(uint32(id)&^artActionMask, made)
}

// methodOf makes a name of what a table says of a method: class, method, signature, source and line, or class,
// source and line.
func methodOf(fields []string) (n Name) {
	if len(fields) >= 3 && strings.HasPrefix(fields[2], "(") {
		n.Text = method.Dotted(fields[0]) + "." + fields[1]
		if types, ok := method.Pretty(fields[2]); ok {
			n.Text += types
		} else {
			n.Text, n.Plain = n.Text+fields[2], true
		}
		fields = fields[2:]
	} else { // without a method: the class is its whole name
		n.Text, n.Plain = fields[0], true
	}
	if len(fields) > 1 {
		n.File = fields[1]
	}
	if len(fields) > 2 {
		n.Line = number(fields[2])
	}
	return n
}

// told enters the name of a thread.
func (a *art) told(id uint32, name string) error {
	if a.bytes += len(name); a.bytes > MaxNameBytes || len(a.threads) > MaxThreads {
		return a.wrong(a.at, formats.ErrLimit, "fewer threads")
	}
	a.threads[id] = name
	return nil
}

// means enters the name of a method.
func (a *art) means(method uint32, name int32) error {
	if a.names.Count >= MaxNames {
		return a.wrong(a.at, formats.ErrLimit, "fewer methods")
	}
	a.names.Set(method, name)
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
