package client

import "fmt"

// Durability of a write.
type Durability uint64

// Durable numbers of HBase's protocol.
const (
	TableDefault Durability = 0
	SkipWAL      Durability = 1 // durable when its region was flushed
	AsyncWAL     Durability = 2 // durable when a later write of its region was synced
	SyncWAL      Durability = 3
)

// Latest is the timestamp for which a server puts its own time.
const Latest = 1<<63 - 1

// Everlasting is a timestamp that no clock reaches: a cell that carries it, or a higher one, outlives every TTL. Of two
// cells with one timestamp HBase returns the cell that was written last.
const Everlasting = 1 << 62

// mutation says of a cell, which follows in the cell block, what to do with it.
func mutation(c *Cell, d Durability) message {
	kind := uint64(2) // put
	if c.Type != typePut {
		kind = 3 // delete
	}
	return message(nil).bytes(1, c.Row).number(2, kind).number(6, uint64(d)).number(8, 1)
}

// Put is a cell to be written; Timestamp is the caller's.
func Put(row []byte, col Column, value []byte, timestamp uint64) Cell {
	return Cell{row, []byte(col.Family), []byte(col.Qualifier), value, timestamp, typePut}
}

// Delete marks every version of a cell up to a timestamp as deleted.
func Delete(row []byte, col Column, timestamp uint64) Cell {
	return Cell{row, []byte(col.Family), []byte(col.Qualifier), nil, timestamp, typeDeleteColumn}
}

// equals is the condition that the column's value is old; old empty: that the row has no value or an empty one.
func equals(row []byte, col Column, old []byte) message {
	comparator := message(nil).text(1, packagePrefix+"filter.BinaryComparator").
		bytes(2, message(nil).bytes(1, message(nil).bytes(1, old)))
	return message(nil).bytes(1, row).text(2, col.Family).text(3, col.Qualifier).number(4, 2).bytes(5, comparator)
}

// op is one action of a Multi: cell is written, or get's column read into out. With a condition, cell is
// written if the condition holds. An error of a condition or a get is the op's own.
type op struct {
	row        []byte
	cell       *Cell
	durability Durability
	get        message
	out        *Cell

	condition message
	answered  bool // a condition or a get
	done      bool // the condition held
	err       error
	doubts    doubts // of a get
}

// own reports whether an error of the op is its own: it does not end the others.
func (o *op) own() bool { return o.condition != nil || o.get != nil }

// failure returns the error of an op after a Multi that ended with err.
func (o *op) failure(err error) error {
	if o.err == nil && !o.answered {
		return err
	}
	return o.err
}

// part is what one RegionAction carries.
type part struct {
	region *Region
	ops    []*op
	of     []*op // the checks that ops make durable; nil: ops are the callers'
}

// checks returns the RegionActions of a region's conditional ops: one for each check, then a sync of the log.
func checks(r *Region, ops []*op) []part {
	var list []part
	sync := false
	for i, o := range ops {
		if len(ops) == 1 {
			o.durability = SyncWAL
		}
		sync = sync || o.durability != SyncWAL
		list = append(list, part{region: r, ops: ops[i : i+1]})
	}
	if !sync {
		return list
	}
	last := ops[len(ops)-1].cell
	nothing := Cell{Row: last.Row, Family: last.Family, Qualifier: []byte("sync"), Timestamp: Latest, Type: typeDeleteColumn}
	return append(list, part{region: r, ops: []*op{{row: last.Row, cell: &nothing, durability: SyncWAL}}, of: ops})
}

// unsynced notes the ops that were carried out before a sync that failed.
func unsynced(ops []*op, err error) {
	for _, o := range ops {
		if o.done && o.durability != SyncWAL {
			o.err = fmt.Errorf("%w: %w", errUnsynced, err)
		}
	}
}
