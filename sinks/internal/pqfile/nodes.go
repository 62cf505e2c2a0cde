package pqfile

import (
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// inOrder is a group whose fields stand in the order of the table's columns, not of their names.
type inOrder struct {
	pq.Group
	names []string
}

// Fields implements pq.Node.
func (o inOrder) Fields() []pq.Field {
	by := map[string]pq.Field{}
	for _, f := range o.Group.Fields() {
		by[f.Name()] = f
	}
	fields := make([]pq.Field, len(o.names))
	for i, n := range o.names {
		fields[i] = by[n]
	}
	return fields
}

// group returns columns as parquet-go describes a schema.
func group(columns []Column) inOrder {
	o := inOrder{Group: pq.Group{}}
	for _, c := range columns {
		n := node(c.Kind)
		if c.Nullable {
			n = pq.Optional(n)
		}
		if c.List {
			if c.Fields != nil {
				n = group(c.Fields)
			}
			n = pq.List(n)
		}
		o.Group[c.Name] = n
		o.names = append(o.names, c.Name)
	}
	return o
}

func node(k kind) pq.Node {
	switch k {
	case Integer:
		return pq.Leaf(pq.Int32Type)
	case Long:
		return pq.Leaf(pq.Int64Type)
	case Moment:
		return pq.Timestamp(pq.Microsecond)
	case Decimal:
		return pq.Decimal(0, 20, pq.FixedLenByteArrayType(decimalBytes))
	}
	return pq.String()
}

// physical is the type in which the values of a kind are stored.
func physical(k kind) format.Type {
	switch k {
	case Integer:
		return format.Int32
	case Long, Moment:
		return format.Int64
	case Decimal:
		return format.FixedLenByteArray
	}
	return format.ByteArray
}
