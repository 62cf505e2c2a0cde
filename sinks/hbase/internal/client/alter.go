package client

import "context"

// Alter changes attributes of a table and of its families, by name, and leaves all others as they are. ErrNoTable if
// there is no table. The caller needs HBase's permission to create or administer the table.
func (c *Client) Alter(ctx context.Context, t Table, table map[string]string, families map[string]map[string]string) error {
	a, err := c.askMaster(ctx, "describe table", t, "GetTableDescriptors", message(nil).bytes(1, t.message()))
	if err != nil {
		return err
	}
	var have []byte
	for f := range fields(a.message, &err) {
		if f.id == 1 {
			have = f.bytes
		}
	}
	if err == nil && have == nil {
		err = ErrNoTable
	}
	if err != nil {
		return opError("alter table", t, nil, err)
	}
	next := message(nil)
	for f := range fields(have, &err) {
		switch f.id {
		case 1, 4:
			next = next.bytes(f.id, f.bytes)
		case 2:
			next = otherPair(next, f, table, &err)
		case 3:
			next = next.bytes(3, altered(f.bytes, families, &err))
		}
	}
	if err != nil {
		return opError("alter table", t, nil, err)
	}
	next = pairs(next, 2, table)
	q := nonced(message(nil).bytes(1, t.message()).bytes(2, next), 3)
	return c.procedure(ctx, "alter table", t, "ModifyTable", q, 1)
}

// altered is a ColumnFamilySchema with other attributes.
func altered(have []byte, families map[string]map[string]string, err *error) message {
	name := ""
	for f := range fields(have, err) {
		if f.id == 1 {
			name = string(f.bytes)
		}
	}
	next := message(nil)
	for f := range fields(have, err) {
		switch f.id {
		case 2:
			next = otherPair(next, f, families[name], err)
		default:
			next = next.bytes(f.id, f.bytes)
		}
	}
	return pairs(next, 2, families[name])
}

// otherPair appends a pair unless its name gets another value.
func otherPair(m message, f field, but map[string]string, err *error) message {
	one := map[string]string{}
	pair(f.bytes, one, err)
	for name := range one {
		if _, is := but[name]; is {
			return m
		}
	}
	return m.bytes(f.id, f.bytes)
}
