package file

import (
	"path/filepath"
	"sync"
	"testing"
)

// Several may make a store at once: who is late finds it.
func TestCreateTogether(t *testing.T) {
	for range 100 {
		dir := filepath.Join(t.TempDir(), "store")
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := Create(dir); err != nil {
					t.Error(err)
					return
				}
				if s, err := Open(dir, Options{}); err != nil {
					t.Error(err)
				} else if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
}
