package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/symlake/symlake/sinks/bucket"
)

// wakened are the objects whose companions have come, as tasks.
func (j *job) wakened(ctx context.Context) ([]*task, error) {
	if j.o.DryRun || j.late() || ctx.Err() != nil {
		return nil, nil
	}
	// What came while its asker was on its way to the waiters was missed.
	for _, w := range j.waits {
		if strings.HasPrefix(w.key, fileKey) {
			continue
		}
		for _, place := range j.placesOf(ctx, w.key) {
			if s := j.sourceOf(w.Object); s != nil && !j.serves(place, s.standing()) {
				continue
			}
			if _, _, _, err := j.locate(ctx, place); err == nil {
				j.wake([]waiting{w})
				break
			}
		}
	}
	list := j.wakeList
	j.wakeList = nil
	slices.Sort(list)
	var tasks []*task
	for _, url := range list {
		s, e, member, err := j.locate(ctx, url)
		if err != nil || member != "" {
			continue // not of this run's sources, or gone
		}
		old, err := j.cat.Object(ctx, url)
		if err != nil {
			return nil, err
		}
		if old == nil || old.ETag != e.ETag {
			continue // it is new itself, and will ask again
		}
		t := &task{src: s, entry: e, url: url, old: old, named: named(old), rederive: true}
		_, _, err = s.Bucket.Stat(ctx, e.Key+sidecar)
		if err != nil && !errors.Is(err, bucket.ErrNotFound) {
			return nil, err
		}
		t.sidecar = err == nil
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// missing lists the companions that loads of this run still lack.
func (j *job) missing() []string {
	var all []string
	for _, w := range j.waits {
		if !strings.HasPrefix(w.key, fileKey) {
			all = append(all, w.key)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
