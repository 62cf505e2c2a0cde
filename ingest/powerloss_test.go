package ingest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/archive"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/file"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/sinktest/disk"
)

// The variables that make the test binary the process that is traced.
const (
	tracedChild = "SYMLAKE_INGEST_TRACED" // the scenario's name
	childWorld  = "SYMLAKE_INGEST_WORLD"  // folder of its world
	childNames  = "SYMLAKE_INGEST_NAMES"  // pattern of the source
)

// powerScenarios are the scenarios that are tried on a disk.
var powerScenarios = []string{"one object", "companion after its object", "companion in a later run",
	"objects replaced, rejected and outranked", "compact", "forget", "rotate", "rollback to another object", "gc"}

// diskWorld opens the world in dir: DIR/disk holds store and lake, DIR/objects the objects, DIR/keyset the key.
func diskWorld(t *testing.T, s *scenario, dir, root string, create bool) *world {
	t.Helper()
	keyset, storeDir := filepath.Join(dir, "keyset"), filepath.Join(root, "store")
	if create {
		for _, d := range []string{"objects", "scratch"} {
			if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		err := errors.Join(os.MkdirAll(filepath.Join(root, "lake"), 0o755), kek.CreateKeyset(t.Context(), keyset, nil), file.Create(storeDir))
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := kek.OpenKeyset(t.Context(), keyset, nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := file.Open(storeDir, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	var ring *row.Keyring
	if create {
		ring, err = row.CreateKeyring(t.Context(), store.Catalog, key)
	} else {
		ring, err = row.OpenKeyring(t.Context(), store.Catalog, key)
	}
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(dir, "objects"), lakeDir: filepath.Join(root, "lake"), store: store, kek: key, ring: ring,
		cat: catalog.New(store.Catalog, ring), now: time.Now().UTC()}
	w.src = discover.Source{Bucket: folder(t, w.dir)}
	w.o = Options{Store: store, Keyring: ring, Formats: []*formats.Format{fake(1), &archive.Zip}, Workers: 1, MemoryBytes: 16 << 20, Scratch: filepath.Join(dir, "scratch"),
		Run: "run", Owner: "test", Process: "mortal", Now: func() time.Time { return w.now }, Alive: func(string, string) (alive, known bool) { return false, true }}
	if s.lake {
		w.o.Lake = w.lakeOf(plainLake(t, w.lakeDir), nil)
	}
	return w
}

// TestTracedChild is the process that TestPowerLoss traces.
func TestTracedChild(t *testing.T) {
	name, dir := os.Getenv(tracedChild), os.Getenv(childWorld)
	if name == "" {
		return // TestPowerLoss runs it
	}
	s := scenarioNamed(name)
	w := diskWorld(t, s, dir, filepath.Join(dir, "disk"), false)
	w.src.Names = os.Getenv(childNames)
	if err := s.act(t.Context(), w); err != nil {
		t.Fatal(err)
	}
}

func scenarioNamed(name string) *scenario {
	return &scenarios[slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })]
}

// A machine that loses power, or a process that is killed, between any two system calls loses nothing: what an operator
// runs next leaves the same as an undisturbed run. The disk keeps only synced writes, or half of the rest, too.
func TestPowerLoss(t *testing.T) {
	strace := formattest.Tool(t, "strace", "apt-get install strace")
	t.Parallel()
	var images atomic.Int64
	for _, name := range powerScenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPowerLoss(t, scenarioNamed(name))
			p.trace(strace)
			images.Add(int64(p.tryAll()))
		})
	}
	t.Cleanup(func() { t.Logf("%d images", images.Load()) })
}

// powerLoss is a scenario on a disk, from the trace of its process.
type powerLoss struct {
	t      *testing.T
	s      *scenario
	dir    string
	folder string // the folder that the process changed
	before string // as it was
	record string // of the process's system calls
	names  string // pattern of the source
	right  []aftermath
}

func newPowerLoss(t *testing.T, s *scenario) *powerLoss {
	dir := t.TempDir()
	p := &powerLoss{t: t, s: s, dir: dir, folder: filepath.Join(dir, "disk"), before: filepath.Join(dir, "before"), record: filepath.Join(dir, "record")}
	w := diskWorld(t, s, dir, p.folder, true)
	s.setup(w)
	p.names = w.src.Names
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(p.before, os.DirFS(p.folder)); err != nil {
		t.Fatal(err)
	}
	return p
}

// trace runs the scenario's work as a process, records its calls, and notes which outcomes are right.
func (p *powerLoss) trace(strace string) {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(strace, "-f", "-y", "-xx", "-s", "100000000", "-e", "trace="+disk.Calls, "-o", p.record, self, "-test.run", "^TestTracedChild$", "-test.count=1")
	cmd.Env = append(os.Environ(), tracedChild+"="+p.s.name, childWorld+"="+p.dir, childNames+"="+p.names)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
	end, err := disk.New(p.folder)
	if err != nil {
		p.t.Fatal(err)
	}
	replayed, record := p.replay()
	defer record.Close()
	if err := replayed.Replay(record, func() error { return nil }); err != nil {
		p.t.Fatal(err)
	}
	if got, want := replayed.State(disk.Killed), end.State(disk.Killed); got != want {
		p.t.Fatalf("the record ends with %d bytes of state, the disk has %d", len(got), len(want))
	}
	p.right = append(p.right, p.finish(p.folder))
	if p.s.either {
		undone := filepath.Join(p.dir, "undone")
		if err := os.CopyFS(undone, os.DirFS(p.before)); err != nil {
			p.t.Fatal(err)
		}
		p.right = append(p.right, p.finish(undone))
	}
}

// replay gives the disk as it was before, and the record of what changed it.
func (p *powerLoss) replay() (*disk.Disk, *os.File) {
	p.t.Helper()
	d, err := disk.New(p.before)
	if err != nil {
		p.t.Fatal(err)
	}
	d.Root = p.folder
	f, err := os.Open(p.record)
	if err != nil {
		p.t.Fatal(err)
	}
	return d, f
}

// tryAll goes on from images that differ from those before them, and counts them: with allDeaths from all, else from one in six,
// of a short test from one in forty.
func (p *powerLoss) tryAll() (images int) {
	p.t.Helper()
	differ, every := 0, 6
	switch {
	case os.Getenv(allDeaths) != "":
		every = 1
	case testing.Short():
		every = 40
	}
	d, record := p.replay()
	defer record.Close()
	err := d.EachImage(record, func(how string) error {
		if differ++; differ%every != 0 {
			return nil
		}
		images++
		image := filepath.Join(p.dir, "image")
		if err := d.Image(how, image); err != nil {
			return err
		}
		if got := p.finish(image); !slices.Contains(p.right, got) {
			p.t.Errorf("digest %s, want %s; the catalog (-want +got)\n%s", got.digest, p.right[0].digest, cmp.Diff(p.right[0].inventory, got.inventory))
		}
		if p.t.Failed() {
			return fmt.Errorf("image %d: %s", differ, how)
		}
		return os.RemoveAll(image)
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return images
}

// finish does what an operator does next, on a folder as a process left it.
func (p *powerLoss) finish(folder string) aftermath {
	p.t.Helper()
	w := diskWorld(p.t, p.s, p.dir, folder, false)
	defer w.store.Close()
	w.src.Names = p.names
	w.now = w.now.Add(time.Minute)
	p.s.settle(w)
	o := aftermath{w.verifyWithLake(), w.inventory()}
	w.noOrphans()
	if p.s.check != nil {
		p.s.check(w)
	}
	return o
}
