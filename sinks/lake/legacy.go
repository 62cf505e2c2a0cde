package lake

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/lake/journal"
)

// Lakes of earlier versions have no log. The newest manifest says which files count, and names a file of the table live.
// The first change moves such a lake into a log: it puts a last manifest, of a form that earlier versions refuse, and then
// the log's first entry. A new lake gets such a manifest too, so no earlier version begins a lake beside the log.

const manifestDir = "_manifest/"

// Forms of a manifest. Durable.
const (
	manifestOfFiles = 1 // of earlier versions
	manifestOfLog   = 2 // the log counts; earlier versions refuse it
)

// liveTable is the table of earlier versions that said which loads count. Durable.
const liveTable = "live"

// maxManifestBytes bounds the manifests that are read: 100,000 files take 20 MB.
const maxManifestBytes = 1 << 30

// manifest is the JSON of a manifest. Its field names are durable.
type manifest struct {
	Format  int            `json:"format"`
	Number  uint64         `json:"number"`
	Made    time.Time      `json:"made"`
	Profile string         `json:"profile"`
	Live    *journal.File  `json:"live,omitempty"`
	Files   []journal.File `json:"files"`
	Retired []struct {
		Path string    `json:"path"`
		At   time.Time `json:"at"`
	} `json:"retired,omitempty"`

	// Of the last one: the id of the lake in its log, and the manifest that counted until then (0: none did).
	Lake string `json:"lake,omitempty"`
	From uint64 `json:"from,omitempty"`
	Note string `json:"note,omitempty"`
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

// legacy is a lake without a log: of an earlier version, or not yet made or moved in full.
type legacy struct {
	newest uint64    // number of the newest manifest; 0: there is none
	lake   string    // id that the log must have; "": no process has begun it
	files  *manifest // that counts; nil: no file does
}

// readLegacy reads what a bucket has besides a log.
func readLegacy(ctx context.Context, b bucket.Bucket) (*legacy, error) {
	var last bucket.Entry
	err := b.List(ctx, manifestDir, "", func(e bucket.Entry) error {
		if _, ok := manifestNumber(e.Key); ok {
			last = e
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list manifests: %w", err)
	}
	if last.Key == "" {
		return &legacy{}, nil
	}
	m, err := readManifest(ctx, b, last)
	if err != nil {
		return nil, err
	}
	old := &legacy{newest: m.Number, lake: m.Lake}
	switch {
	case m.Format == manifestOfFiles:
		old.files = m
	case m.From > 0:
		e, _, err := b.Stat(ctx, manifestKey(m.From))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", b.URL(manifestKey(m.From)), err)
		}
		if old.files, err = readManifest(ctx, b, e); err != nil {
			return nil, err
		}
	}
	return old, nil
}

func readManifest(ctx context.Context, b bucket.Bucket, e bucket.Entry) (*manifest, error) {
	if e.Size > maxManifestBytes {
		return nil, fmt.Errorf("read %s: its %d bytes are too many", b.URL(e.Key), e.Size)
	}
	text, err := readAll(ctx, b, e)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", b.URL(e.Key), err)
	}
	m, err := parseManifest(e.Key, text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", b.URL(e.Key), damaged(err))
	}
	return m, nil
}

// parseManifest reads the manifest under a key.
func parseManifest(key string, text []byte) (*manifest, error) {
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	n, _ := manifestNumber(key)
	known := m.Format == manifestOfFiles && m.Lake == "" && m.From == 0 || m.Format == manifestOfLog && m.Lake != "" && m.From < n
	if !known || m.Number != n || m.Profile != sinks.LakeSealed && m.Profile != sinks.LakePlain {
		return nil, fmt.Errorf("want a manifest of form %d or %d with number %d, not form %d, number %d, profile %q", manifestOfFiles, manifestOfLog, n, m.Format, m.Number, m.Profile)
	}
	return &m, nil
}

// state returns what the manifest says. It knows no place of rows in a file.
func (old *legacy) state(ctx context.Context, b bucket.Bucket, keys sinks.LakeKeys) (*journal.State, error) {
	s := &journal.State{Changes: *journal.NewChanges(), Sealed: map[uint32]int{}}
	m := old.files
	if m == nil {
		return s, nil
	}
	s.Profile, s.Made = m.Profile, m.Made
	for _, f := range m.Files {
		s.Files[f.Path] = journal.Filed{File: f}
	}
	for _, r := range m.Retired {
		s.Files[r.Path] = journal.Filed{File: journal.File{Path: r.Path}, Fate: journal.Retired, At: r.At}
	}
	if m.Live == nil {
		return s, nil
	}
	s.Sealed[m.Live.Key]++
	if err := m.readLive(ctx, b, keys, s); err != nil {
		return nil, fmt.Errorf("read %s: %w", b.URL(m.Live.Path), err)
	}
	return s, nil
}

// readLive reads the table live of a manifest.
func (m *manifest) readLive(ctx context.Context, b bucket.Bucket, keys sinks.LakeKeys, to *journal.State) error {
	e, _, err := b.Stat(ctx, m.Live.Path)
	if err != nil {
		return err
	}
	r, err := b.Open(ctx, e)
	if err != nil {
		return err
	}
	defer r.Close()
	paths := map[string]string{}
	same := func(s string) string {
		if p, ok := paths[s]; ok {
			return p
		}
		paths[s] = s
		return s
	}
	err = pqfile.ReadTexts(ctx, keys, r, e.Size, "", []int{0, 1, 2, 3, 4, 5}, func(row []string) error {
		id, err := symbol.ParseID(row[0])
		if err != nil {
			return err
		}
		n := journal.Naming{Live: journal.Live{Rows: journal.Span{File: same(row[3])}, Facts: journal.Span{File: same(row[4])}, Names: journal.Span{File: same(row[5])}}}
		k, err1 := hex.Decode(n.Load[:], []byte(row[1]))
		v, err2 := hex.Decode(n.Revision[:], []byte(row[2]))
		if err1 != nil || err2 != nil || k != len(n.Load) || v != len(n.Revision) {
			return fmt.Errorf("artifact %s: load %q, revision %q", id, row[1], row[2])
		}
		to.Live[id] = n
		return nil
	})
	if err == nil && uint64(len(to.Live)) != m.Live.Rows {
		err = fmt.Errorf("%d rows, want %d", len(to.Live), m.Live.Rows)
	}
	return err
}

func readAll(ctx context.Context, b bucket.Bucket, e bucket.Entry) ([]byte, error) {
	r, err := b.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	text := make([]byte, e.Size)
	_, err = io.ReadFull(io.NewSectionReader(r, 0, e.Size), text)
	return text, errors.Join(err, r.Close())
}
