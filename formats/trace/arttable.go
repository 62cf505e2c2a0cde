package trace

import (
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
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
