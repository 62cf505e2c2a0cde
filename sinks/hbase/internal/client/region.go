package client

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/symlake/symlake/sinks/hbase/internal/regions"
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

func specifier(r *Region) message {
	return make(message, 0, 8+len(r.Name)).number(1, 1).bytes(2, r.Name)
}

var metaRegion = Region{Name: []byte("hbase:meta,,1"), Encoded: "1588230740"}

// metaEntry is a row of hbase:meta.
type metaEntry struct {
	row     []byte
	start   []byte  // of the region, by the row's name
	region  *Region // nil: split, offline, without a server, or see err
	err     error   // ErrDamaged: the row cannot be read
	missing bool    // there is no row
}

// open returns the regions that have a server.
func open(page []metaEntry) (list []*Region) {
	for i := range page {
		if page[i].region != nil {
			list = append(list, page[i].region)
		}
	}
	return list
}

// metaRow reads a row of hbase:meta.
func metaRow(t Table, cells []Cell) (m metaEntry) {
	r := &Region{Name: cells[0].Row}
	m.row = r.Name
	if from, to := len(t.String())+1, bytes.LastIndexByte(m.row, ','); from <= to {
		m.start = m.row[from:to]
	}
	has, away := false, false
	for _, cell := range cells {
		switch string(cell.Qualifier) {
		case "regioninfo":
			b, ok := bytes.CutPrefix(cell.Value, []byte("PBUF"))
			err := fmt.Errorf("%w: it does not begin with PBUF", errMalformed)
			var of Table
			if ok {
				of, away, err = readRegionInfo(r, b)
			}
			if err != nil {
				m.err = fmt.Errorf("%w: row %q, info:regioninfo: %w", ErrDamaged, m.row, err)
				return m
			}
			if of != t && !(of.Namespace == "default" && t.Namespace == "" && of.Name == t.Name) || !bytes.Equal(r.Start, m.start) {
				m.err = fmt.Errorf("%w: row %q, info:regioninfo: it describes another region, of table %s", ErrDamaged, m.row, of)
				return m
			}
			has = true
		case "server":
			r.Server = string(cell.Value)
		}
	}
	switch {
	case !has:
		m.err = fmt.Errorf("%w: row %q of hbase:meta has no info:regioninfo", ErrDamaged, m.row)
	case !away && r.Server != "":
		// The encoded name is between the last two dots.
		name := strings.TrimSuffix(string(r.Name), ".")
		r.Encoded = name[strings.LastIndexByte(name, '.')+1:]
		m.region = r
	}
	return m
}

// readRegionInfo reads a RegionInfo into r; away: the region is split, offline or a replica.
func readRegionInfo(r *Region, b []byte) (t Table, away bool, err error) {
	for f := range fields(b, &err) {
		switch f.id {
		case 2:
			t = tableName(f.bytes, &err)
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

// tableName reads a TableName.
func tableName(b []byte, err *error) (t Table) {
	for f := range fields(b, err) {
		switch f.id {
		case 1:
			t.Namespace = string(f.bytes)
		case 2:
			t.Name = string(f.bytes)
		}
	}
	return t
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

// Region is a part of a table, as it was when looked up. Read only.
type Region = regions.Region

// table is what the client knows of a table.
type table struct {
	regions.Cache
	looking chan struct{} // of size 1: one look-up of a table at a time
	pages   atomic.Int32  // how many pages of hbase:meta were read
	trouble atomic.Bool   // a region was not open: is the table disabled?
}

// Regions of a page of hbase:meta: the first pages are small, for programs that ask once.
const (
	firstPage = 16
	lastPage  = 512
)

// page is how many regions the next page has.
func (g *table) page() uint64 {
	return uint64(min(lastPage, firstPage<<min(g.pages.Add(1)-1, 8)))
}

// moved forgets a region that is not where it was, and no other; if the server said where it is, enters that.
func (g *table) moved(r *Region, err error) {
	var server *ServerError
	to := ""
	if errors.As(err, &server) {
		if server.Class == "exceptions.RegionMovedException" {
			to = server.movedTo
		}
		g.trouble.Store(true)
	}
	g.Moved(r, to)
}
