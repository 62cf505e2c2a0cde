package client

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Table names a table.
type Table struct{ Namespace, Name string }

// String is the name as HBase writes it.
func (t Table) String() string {
	if t.Namespace == "" || t.Namespace == "default" {
		return t.Name
	}
	return t.Namespace + ":" + t.Name
}

func (t Table) message() message {
	ns := t.Namespace
	if ns == "" {
		ns = "default"
	}
	return message(nil).text(1, ns).text(2, t.Name)
}

// Region is a part of a table, [Start, End), as it was when looked up. Read only.
type Region struct {
	Name       []byte // its whole name, and its key in hbase:meta
	Encoded    string // 32 hex digits
	Start, End []byte // End empty: no end
	Server     string // host:port
}

// Holds tells whether a row of that key is in the region.
func (r *Region) Holds(key []byte) bool {
	return bytes.Compare(r.Start, key) <= 0 && (len(r.End) == 0 || bytes.Compare(key, r.End) < 0)
}

func (r *Region) specifier() message { return message(nil).number(1, 1).bytes(2, r.Name) }

var metaRegion = Region{Name: []byte("hbase:meta,,1"), Encoded: "1588230740"}

// metaRow reads a row of hbase:meta; nil if its region is split, offline or has no server.
func metaRow(t Table, cells []Cell) (*Region, error) {
	r := &Region{}
	split := false
	for _, cell := range cells {
		switch string(cell.Qualifier) {
		case "regioninfo":
			b, ok := bytes.CutPrefix(cell.Value, []byte("PBUF"))
			if !ok {
				return nil, fmt.Errorf("%w: region info without its magic", errMalformed)
			}
			of, away, err := r.read(b)
			if err != nil {
				return nil, err
			}
			if of != t && !(of.Namespace == "default" && t.Namespace == "" && of.Name == t.Name) {
				return nil, nil // the rows of another table
			}
			split = away
			r.Name = cell.Row
		case "server":
			r.Server = string(cell.Value)
		}
	}
	if split || r.Name == nil || r.Server == "" {
		return nil, nil
	}
	// The encoded name is between the last two dots.
	name := strings.TrimSuffix(string(r.Name), ".")
	r.Encoded = name[strings.LastIndexByte(name, '.')+1:]
	return r, nil
}

// read reads a RegionInfo; away: the region is split, offline or a replica.
func (r *Region) read(b []byte) (t Table, away bool, err error) {
	for f := range fields(b, &err) {
		switch f.id {
		case 2:
			for g := range fields(f.bytes, &err) {
				switch g.id {
				case 1:
					t.Namespace = string(g.bytes)
				case 2:
					t.Name = string(g.bytes)
				}
			}
		case 3:
			r.Start = f.bytes
		case 4:
			r.End = f.bytes
		case 5, 6, 7:
			away = away || f.number != 0
		}
	}
	return t, away, err
}

// serverName reads a ServerName.
func serverName(b []byte) (string, error) {
	var host string
	var port uint64
	var err error
	for f := range fields(b, &err) {
		switch f.id {
		case 1:
			host = string(f.bytes)
		case 2:
			port = f.number
		}
	}
	if err == nil && (host == "" || port == 0 || port >= 1<<16) {
		err = fmt.Errorf("%w: server %q, port %d", errMalformed, host, port)
	}
	return net.JoinHostPort(host, strconv.FormatUint(port, 10)), err
}
