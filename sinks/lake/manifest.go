package lake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks"
)

// manifestFormat is the version of a manifest's form. Durable.
const manifestFormat = 1

const manifestDir = "_manifest/"

// manifest says which files count. It holds no name of a symbol, app or object.
// Its field names are durable.
type manifest struct {
	Format  int       `json:"format"`
	Number  uint64    `json:"number"`
	Made    time.Time `json:"made"`
	Profile string    `json:"profile"`
	Live    *entry    `json:"live,omitempty"`
	Files   []entry   `json:"files"`
	// Retired files counted until this manifest or one before it, and stay for readers.
	Retired []retired `json:"retired,omitempty"`
}

// entry is a data file.
type entry struct {
	Table string `json:"table"`
	Path  string `json:"path"` // key in the bucket
	Rows  uint64 `json:"rows"`
	Loads int    `json:"loads"` // it has rows of
	Bytes int64  `json:"bytes"`
	Key   uint32 `json:"key,omitempty"` // version of the master key; 0: plain
}

type retired struct {
	Path string    `json:"path"`
	At   time.Time `json:"at"`
}

// manifestKey sorts by number.
func manifestKey(n uint64) string { return fmt.Sprintf("%s%020d.json", manifestDir, n) }

func manifestNumber(key string) (uint64, bool) {
	name, ok := strings.CutSuffix(strings.TrimPrefix(key, manifestDir), ".json")
	n, err := strconv.ParseUint(name, 10, 64)
	return n, ok && err == nil && manifestKey(n) == key
}

// damaged returns the error of a manifest that differs from the one written. The store can make the lake again.
func damaged(err error) error {
	return fmt.Errorf("%w: %w: restore it, or remove the lake and run symlake ingest, which makes it anew from the store", sinks.ErrCorrupt, err)
}

// find gives the entry of a path.
func (m *manifest) find(p string) *entry {
	if i := slices.IndexFunc(m.Files, func(e entry) bool { return e.Path == p }); i >= 0 {
		return &m.Files[i]
	}
	return nil
}
