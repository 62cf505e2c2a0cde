package client

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Schema describes a table, to make it or as it is. Attributes are texts, as HBase keeps
// them; HBase has a default for each absent one.
type Schema struct {
	Table      Table
	Attributes map[string]string
	Families   []Family
}

// Family is a column family.
type Family struct {
	Name          string
	Attributes    map[string]string
	Configuration map[string]string
}

func pairs(m message, id int, of map[string]string) message {
	for _, k := range slices.Sorted(maps.Keys(of)) {
		m = m.bytes(protowire.Number(id), message(nil).text(1, k).text(2, of[k]))
	}
	return m
}

// askMaster makes one call to the active master, wherever it is.
func (c *Client) askMaster(ctx context.Context, op string, t Table, method string, param message) (a answer, err error) {
	err = c.again(ctx, op, t, func(ctx context.Context) error {
		server, err := c.registry.master(ctx, c)
		if err != nil {
			return err
		}
		if a, err = c.attempt(ctx, connKey{server, masterService, ""}, &call{method: method, param: param}, c.o.Attempt); err == nil {
			return nil
		}
		if actionOf(err) == relocate {
			c.registry.forgetMaster(server)
		}
		return fmt.Errorf("master %s: %w", server, err)
	})
	return a, err
}

// procedure starts something on the master and waits for its end.
func (c *Client) procedure(ctx context.Context, op string, t Table, method string, param message, idField int) error {
	ctx, cancel := c.patient(ctx)
	defer cancel()
	a, err := c.askMaster(ctx, op, t, method, param)
	if err != nil {
		return err
	}
	id, has := uint64(0), false
	for f := range fields(a.message, &err) {
		if int(f.id) == idField {
			id, has = f.number, true
		}
	}
	if err != nil || !has {
		return err
	}
	for n := 1; ; n++ {
		a, err := c.askMaster(ctx, op, t, "getProcedureResult", message(nil).number(1, id))
		if err != nil {
			return err
		}
		state := uint64(0)
		var failed error
		for f := range fields(a.message, &err) {
			switch f.id {
			case 1:
				state = f.number
			case 5:
				failed = foreignError(f.bytes, &err)
			}
		}
		if err == nil {
			err = failed
		}
		if err != nil {
			return opError(op, t, nil, err)
		}
		if state != 1 { // not running: the first answer that says so is the only one
			return nil
		}
		if err := pause(ctx, min(n, 5)); err != nil {
			return opError(op, t, nil, err)
		}
	}
}

// foreignError reads a ForeignExceptionMessage.
func foreignError(b []byte, err *error) error {
	e := &ServerError{}
	for f := range fields(b, err) {
		if f.id != 2 {
			continue
		}
		for g := range fields(f.bytes, err) {
			switch g.id {
			case 1:
				e.Class = serverError(string(g.bytes), "").Class
			case 2:
				e.Message = string(g.bytes)
			}
		}
	}
	return e
}

// nonced appends a nonce, by which the master knows a repeated request.
func nonced(m message, group int) message {
	return m.number(protowire.Number(group), rand.Uint64()).number(protowire.Number(group+1), rand.Uint64()|1)
}

// CreateNamespace makes a namespace unless it exists.
func (c *Client) CreateNamespace(ctx context.Context, name string) error {
	err := c.procedure(ctx, "create namespace "+name, Table{}, "CreateNamespace", nonced(message(nil).bytes(1, message(nil).text(1, name)), 2), 1)
	if hasClass(err, "NamespaceExistException") {
		return nil
	}
	return err
}

// CreateTable makes a table with a region border at each split key; created is false if it was there.
func (c *Client) CreateTable(ctx context.Context, s Schema, splits [][]byte) (created bool, err error) {
	m := pairs(message(nil).bytes(1, s.Table.message()), 2, s.Attributes)
	for _, f := range s.Families {
		m = m.bytes(3, pairs(pairs(message(nil).text(1, f.Name), 2, f.Attributes), 3, f.Configuration))
	}
	q := message(nil).bytes(1, m)
	for _, k := range splits {
		q = q.bytes(2, k)
	}
	err = c.procedure(ctx, "create table", s.Table, "CreateTable", nonced(q, 3), 1)
	if hasClass(err, "TableExistsException") {
		return false, nil
	}
	return err == nil, err
}

// Describe reads what a table has; ErrNoTable if there is none.
func (c *Client) Describe(ctx context.Context, t Table) (Schema, error) {
	a, err := c.askMaster(ctx, "describe table", t, "GetTableDescriptors", message(nil).bytes(1, t.message()))
	if err != nil {
		return Schema{}, err
	}
	list, err := schemas(a.message)
	if err == nil && len(list) == 0 {
		err = ErrNoTable
	}
	if err != nil {
		return Schema{}, opError("describe table", t, nil, err)
	}
	list[0].Table = t
	return list[0], nil
}

// Glimpse reads what tables have, in one attempt, and leaves out absent ones. It is for callers that can do without:
// nothing is told of what keeps the master from answering.
func (c *Client) Glimpse(ctx context.Context, tables ...Table) ([]Schema, error) {
	server, err := c.registry.master(ctx, c)
	if err != nil {
		return nil, err
	}
	var q message
	for _, t := range tables {
		q = q.bytes(1, t.message())
	}
	a, err := c.attempt(ctx, connKey{server, masterService, ""}, &call{method: "GetTableDescriptors", param: q}, c.o.Attempt)
	if err != nil {
		c.registry.forgetMaster(server)
		return nil, err
	}
	return schemas(a.message)
}

// schemas reads a list of TableSchema.
func schemas(b []byte) (list []Schema, err error) {
	for f := range fields(b, &err) {
		if f.id == 1 {
			list = append(list, schema(f.bytes, &err))
		}
	}
	return list, err
}

// schema reads a TableSchema.
func schema(b []byte, err *error) Schema {
	s := Schema{Attributes: map[string]string{}}
	for g := range fields(b, err) {
		switch g.id {
		case 1:
			s.Table = tableName(g.bytes, err)
		case 2:
			pair(g.bytes, s.Attributes, err)
		case 3:
			f := Family{Attributes: map[string]string{}, Configuration: map[string]string{}}
			for h := range fields(g.bytes, err) {
				switch h.id {
				case 1:
					f.Name = string(h.bytes)
				case 2:
					pair(h.bytes, f.Attributes, err)
				case 3:
					pair(h.bytes, f.Configuration, err)
				}
			}
			s.Families = append(s.Families, f)
		}
	}
	return s
}

func pair(b []byte, to map[string]string, err *error) {
	var k, v string
	for f := range fields(b, err) {
		switch f.id {
		case 1:
			k = string(f.bytes)
		case 2:
			v = string(f.bytes)
		}
	}
	to[k] = v
}

// DeleteTable disables and removes a table.
func (c *Client) DeleteTable(ctx context.Context, t Table) error {
	err := c.procedure(ctx, "disable table", t, "DisableTable", nonced(message(nil).bytes(1, t.message()), 2), 1)
	if err != nil && !hasClass(err, "TableNotEnabledException") {
		return err
	}
	return c.procedure(ctx, "delete table", t, "DeleteTable", nonced(message(nil).bytes(1, t.message()), 2), 1)
}

// admin makes one call to a region's server. Where the region has moved to is found out first.
func (c *Client) admin(ctx context.Context, op string, t Table, r *Region, method string, param message, timeout time.Duration) (a answer, err error) {
	err = c.try(ctx, op, t, r.Start, func(ctx context.Context, at *Region) error {
		if at.Encoded != r.Encoded {
			return &ServerError{Class: "UnknownRegionException", Message: "split or merged meanwhile", final: true}
		}
		a, err = c.attempt(ctx, connKey{at.Server, adminService, ""}, &call{method: method, param: param}, timeout)
		return err
	})
	return a, err
}

// flushTimeout is for calls after which the server has written what it held in memory.
const flushTimeout = 5 * time.Minute

// Flush has a region write what it holds in memory.
func (c *Client) Flush(ctx context.Context, t Table, r *Region) error {
	_, err := c.admin(ctx, "flush", t, r, "FlushRegion", message(nil).bytes(1, specifier(r)), flushTimeout)
	return err
}

// Compact asks for a compaction of a region's family, which the server does when it comes to it.
func (c *Client) Compact(ctx context.Context, t Table, r *Region, family string, major bool) error {
	q := message(nil).bytes(1, specifier(r)).flag(2, major).text(3, family)
	_, err := c.admin(ctx, "compact", t, r, "CompactRegion", q, c.o.Attempt)
	return err
}

// Compacting tells whether a region is being compacted, or is queued for it.
func (c *Client) Compacting(ctx context.Context, t Table, r *Region) (bool, error) {
	a, err := c.admin(ctx, "ask for compaction state", t, r, "GetRegionInfo", message(nil).bytes(1, specifier(r)).flag(2, true), c.o.Attempt)
	if err != nil {
		return false, err
	}
	busy := false
	for f := range fields(a.message, &err) {
		if f.id == 2 {
			busy = f.number != 0
		}
	}
	return busy, err
}

// StoreFiles lists the paths of the files that hold a region's family.
func (c *Client) StoreFiles(ctx context.Context, t Table, r *Region, family string) ([]string, error) {
	a, err := c.admin(ctx, "list store files", t, r, "GetStoreFile", message(nil).bytes(1, specifier(r)).text(2, family), c.o.Attempt)
	if err != nil {
		return nil, err
	}
	var list []string
	for f := range fields(a.message, &err) {
		if f.id == 1 {
			list = append(list, string(f.bytes))
		}
	}
	return list, err
}
