package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
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

// errHole: hbase:meta knows no region for the key. After a while that is damage.
var errHole = errors.New("no region of the table holds the key")

// errClosed: the region is on its way between servers, or into others.
var errClosed = errors.New("the region is not open for the moment")

// regionCache holds the regions of one table, as far as they were looked up.
type regionCache struct {
	looking chan struct{} // of size 1: one look-up of a table at a time

	mu   sync.RWMutex
	list []*Region // by Start, disjoint
	full bool      // whether the whole table was looked up once
}

func (c *Client) cache(t Table) *regionCache {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.tables[t]
	if g == nil {
		g = &regionCache{looking: make(chan struct{}, 1)}
		c.tables[t] = g
	}
	return g
}

func (g *regionCache) find(key []byte) *Region {
	g.mu.RLock()
	defer g.mu.RUnlock()
	i := sort.Search(len(g.list), func(i int) bool { return bytes.Compare(g.list[i].Start, key) > 0 }) - 1
	if i >= 0 && g.list[i].Holds(key) {
		return g.list[i]
	}
	return nil
}

// put enters regions in place of all that overlap them.
func (g *regionCache) put(regions ...*Region) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range regions {
		g.list = slices.DeleteFunc(g.list, func(o *Region) bool {
			return (len(r.End) == 0 || bytes.Compare(o.Start, r.End) < 0) && (len(o.End) == 0 || bytes.Compare(r.Start, o.End) < 0)
		})
		i := sort.Search(len(g.list), func(i int) bool { return bytes.Compare(g.list[i].Start, r.Start) > 0 })
		g.list = slices.Insert(g.list, i, r)
	}
}

// moved forgets a region that is not where it was, and no other; if the server said where it is, enters that.
func (g *regionCache) moved(r *Region, err error) {
	var server *ServerError
	to := ""
	if errors.As(err, &server) && server.Class == "exceptions.RegionMovedException" {
		to = server.movedTo
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.list, r) // another caller may have put a new one
	switch {
	case i < 0:
	case to != "" && to != r.Server:
		there := *r
		there.Server = to
		g.list[i] = &there
	default:
		g.list = slices.Delete(g.list, i, i+1)
	}
}

// locate finds the region that holds key.
func (c *Client) locate(ctx context.Context, t Table, key []byte) (*Region, error) {
	g := c.cache(t)
	if r := g.find(key); r != nil {
		return r, nil
	}
	select {
	case g.looking <- struct{}{}:
		defer func() { <-g.looking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r := g.find(key); r != nil { // whoever looked before us
		return r, nil
	}
	if !g.full { // all at once, so that a first batch does not look up region by region
		list, err := c.regions(ctx, t)
		if err != nil {
			return nil, err
		}
		g.full = true
		g.put(list...)
		if r := g.find(key); r != nil {
			return r, nil
		}
	}
	r, err := c.lookUp(ctx, t, key)
	if err != nil {
		return nil, err
	}
	g.put(r)
	return r, nil
}

// Regions reads the open regions of a table as they are now, in the order of their keys.
func (c *Client) Regions(ctx context.Context, t Table) ([]*Region, error) {
	ctx, cancel := c.patient(ctx)
	defer cancel()
	var last error
	for n := 0; ; n++ {
		if n > 0 && pause(ctx, n) != nil {
			return nil, opError("list of regions", t, nil, ended(ctx, last))
		}
		list, err := c.regions(ctx, t)
		if err == nil {
			if err = gaps(list); err == nil {
				c.cache(t).put(list...)
				return list, nil
			}
		}
		if last = err; actionOf(err) == giveUp {
			return nil, opError("list of regions", t, nil, err)
		}
	}
}

// gaps says whether regions do not cover every key: one is closed for the moment.
func gaps(list []*Region) error {
	var at []byte
	for _, r := range list {
		if !bytes.Equal(r.Start, at) {
			return fmt.Errorf("%w: between %x and %x", errHole, at, r.Start)
		}
		at = r.End
	}
	if len(at) > 0 {
		return fmt.Errorf("%w: from %x on", errHole, at)
	}
	return nil
}

// regions scans the table's rows of hbase:meta. These are not in byte order (table, start key
// and id are compared one by one), hence the odd stop row.
func (c *Client) regions(ctx context.Context, t Table) ([]*Region, error) {
	var list []*Region
	at := []byte(t.String() + ",,")
	for {
		s := scan{start: at, stop: []byte(t.String() + " ,,"), family: "info", rows: 1000}
		rows, err := c.metaScan(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, cells := range rows {
			r, err := metaRow(t, cells)
			if err != nil {
				return nil, err
			}
			if r != nil {
				list = append(list, r)
			}
		}
		if len(rows) < int(s.rows) {
			break
		}
		at = append(bytes.Clone(rows[len(rows)-1][0].Row), 0)
	}
	if len(list) == 0 {
		return nil, ErrNoTable
	}
	return list, nil
}

// lookUp finds one region: the last in hbase:meta that begins at or before key. ':' is above
// every digit of an id, so of several with the same start the newest comes first.
func (c *Client) lookUp(ctx context.Context, t Table, key []byte) (*Region, error) {
	start := append(append([]byte(t.String()+","), key...), ",:"...)
	rows, err := c.metaScan(ctx, scan{start: start, stop: []byte(t.String()), family: "info", rows: 1, reversed: true})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, ErrNoTable
	}
	r, err := metaRow(t, rows[0])
	if err != nil {
		return nil, err
	}
	switch {
	case r == nil:
		return nil, errClosed
	case !r.Holds(key):
		return nil, errHole
	}
	return r, nil
}

// metaScan scans hbase:meta with one call.
func (c *Client) metaScan(ctx context.Context, s scan) ([][]Cell, error) {
	server, err := c.registry.meta(ctx, c)
	if err != nil {
		return nil, err
	}
	r := metaRegion
	r.Server = server
	rows, err := c.scanOnce(ctx, &r, s)
	if err != nil {
		if actionOf(err) == relocate {
			c.registry.forgetMeta(server)
		}
		return nil, fmt.Errorf("hbase:meta on %s: %w", server, err)
	}
	return rows, nil
}

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
