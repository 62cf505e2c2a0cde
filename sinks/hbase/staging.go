package hbase

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// A staging folder has a note in the catalog's table, in a column of its own that no reader asks for:
// row "s" ‖ folder, the time of its creation and of its batch's last sign of life, milliseconds since
// 1970 (8 bytes each).
const stagingPrefix = "s"

func stagingColumn() client.Column { return client.Column{Family: "c", Qualifier: "s"} }

func stagingKey(dir string) []byte { return []byte(stagingPrefix + dir) }

// noteStaging says that a batch has dir and is alive.
func (w *writer) noteStaging(ctx context.Context, dir string, made time.Time) error {
	now := w.o.Now()
	value := binary.BigEndian.AppendUint64(nil, uint64(made.UnixMilli()))
	value = binary.BigEndian.AppendUint64(value, uint64(now.UnixMilli()))
	cell := client.Put(stagingKey(dir), stagingColumn(), value, client.Latest)
	if err := w.c.Write(ctx, w.notes, []client.Cell{cell}, client.TableDefault, false); err != nil {
		return fmt.Errorf("note staging folder %s: %w", dir, err)
	}
	w.mu.Lock()
	w.staging[dir] = now
	w.mu.Unlock()
	return nil
}

const (
	// beat is how often a batch notes that its process is alive. Without a note for
	// stagingLease the batch is dead.
	beat         = 5 * time.Minute
	stagingLease = time.Hour
)

// heartbeat renews the notes of this process's batches, when it is time.
func (w *writer) heartbeat(ctx context.Context) error {
	now := w.o.Now()
	var due []string
	w.mu.Lock()
	for dir, noted := range w.staging {
		if now.Sub(noted) >= beat {
			due = append(due, dir)
			w.staging[dir] = now
		}
	}
	w.mu.Unlock()
	for _, dir := range due {
		if err := w.noteStaging(ctx, dir, now); err != nil {
			return err
		}
	}
	return nil
}

// unstage removes a staging folder, then its note.
func (w *writer) unstage(ctx context.Context, dir string) error {
	if err := w.c.CleanupBulkLoad(ctx, w.rows, dir); err != nil {
		return fmt.Errorf("remove staging folder %s: %w", dir, err)
	}
	cell := client.Delete(stagingKey(dir), stagingColumn(), client.Latest)
	return w.c.Write(ctx, w.notes, []client.Cell{cell}, client.TableDefault, false)
}
