package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// SourceState is the memory of a source between runs: the "s" record.
type SourceState struct {
	URL  string    `json:"url"`
	Full time.Time `json:"full,omitzero"` // when it was last listed whole
}

// Sources are the "s" records.
type Sources struct{ records }

func (s Sources) key(url string) []byte {
	return append([]byte{row.RecordSource}, s.ring.Tag(row.RecordSource, url)...)
}

// Get returns the state of a source. Of an unknown source only the URL is set.
func (s Sources) Get(ctx context.Context, url string) (SourceState, error) {
	state := SourceState{URL: url}
	key := s.key(url)
	value, err := s.store.Get(ctx, key)
	if err == nil && value != nil {
		err = s.open(ctx, sinks.Row{Key: key, Value: value}, &state)
	}
	if err != nil {
		return state, fmt.Errorf("read state of source %s: %w", url, err)
	}
	return state, nil
}

// Set replaces the state of a source. Of two calls at once either may win.
func (s Sources) Set(ctx context.Context, state SourceState) error {
	key := s.key(state.URL)
	old, err := s.store.Get(ctx, key)
	if err == nil {
		_, err = s.replace(ctx, key, old, state)
	}
	if err != nil && !errors.Is(err, sinks.ErrConflict) {
		return fmt.Errorf("write state of source %s: %w", state.URL, err)
	}
	return nil
}
