package lake

import (
	"encoding/binary"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

type loadKey struct {
	id   symbol.ID
	load sinks.Load
}

// loading is a load with its rows in a file of the batch.
type loading struct {
	loadKey
	kind symbol.Kind
	out  *output // nil: no row yet
	w    *ranges
	// Where its rows stand in the file.
	first, rows uint64
	left        uint64
}

// day returns the day of a load, UTC.
func day(l sinks.Load) string {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(l[:]) >> 16)).UTC().Format(time.DateOnly)
}

// folderOf returns the folder of the rows of a load: TABLE/kind=KIND/day=DAY.
func folderOf(table string, k symbol.Kind, load sinks.Load) string {
	return table + "/kind=" + string(k) + "/day=" + day(load)
}
