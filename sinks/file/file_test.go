package file

import (
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/sinktest"
)

func TestStore(t *testing.T) {
	root := t.TempDir()
	sinktest.Run(t, func(t *testing.T) *sinks.Store {
		return openStore(t, filepath.Join(root, t.Name()), Options{OpenFiles: 3})
	})
}

// openStore opens the store in dir, made if need be.
func openStore(t testing.TB, dir string, o Options) *sinks.Store {
	t.Helper()
	if err := Create(dir); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
