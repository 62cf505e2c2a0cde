package jobs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/wire"
)

// poison is a format that the test program knows besides: objects that hurt whoever reads them. The text is POISON
// and what it does.
var poison = formats.Format{Name: "poison", Version: 1,
	Detect: func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte("POISON ")) },
	Open: func(_ context.Context, in *formats.Input) (*formats.Object, error) {
		text, err := in.View(0, in.Size)
		if err != nil {
			return nil, err
		}
		words := strings.Fields(string(text))
		a := formats.Artifact{Rank: symbol.RankDWARF, Parts: 1}
		a.Kind, a.End, a.Canonical, a.ID = symbol.ELF, 1<<20, words[2], symbol.NewID(symbol.ELF, words[2])
		a.Explode = func(ctx context.Context, _ int, emit func(*symbol.Run) error) (q symbol.Quality, err error) {
			alone := slices.Contains(os.Args, "--isolated")
			switch words[1] {
			case "memory":
				if !alone { // the system's reaper: this machine's memory is not for a test
					die()
				}
				var all [][]byte
				for {
					all = append(all, make([]byte, 256<<20)) // the bound counts what may be written
				}
			case "interrupted": // the machine is restarted again and again
				if !alone {
					die()
				}
			case "panic":
				(*symbol.Artifact)(nil).Position(symbol.Where{Space: symbol.Unslid}) // in a package of parsers, as it would be
			case "thread": // a panic that cannot be caught
				go func() { panic("a thread of its own") }()
				select {}
			case "stack":
				debug.SetMaxStack(1 << 20)
				return q, errors.New(strings.Repeat(" ", deep(1)))
			case "slow": // until it is told to end
				if err := os.WriteFile(strings.TrimPrefix(in.Name, "file:")+".opened", nil, 0o644); err != nil {
					return q, err
				}
				<-ctx.Done()
				return q, ctx.Err()
			case "speaks": // as libraries do
				log.Print("a library speaks")
			case "loop":
				for deaf := 0; ; deaf++ {
				}
			case "big": // more than a batch of many loads takes
				for i := range uint64(30_000) {
					name := fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, words[2], i)))
					err := emit(&symbol.Run{Rank: a.Rank, Strings: []string{"", "p.c", name}, Scopes: []symbol.Scope{{Parent: -1, Function: 2}},
						Ranges: []symbol.Range{{Start: 8 * i, End: 8*i + 8, At: symbol.Site{File: 1, Line: uint32(i) + 1}}}})
					if err != nil {
						return q, err
					}
				}
				return q, nil
			case "busy": // some 10 ms of work: a library with a few MB of debug information
				sum := make([]byte, 32)
				for range 100_000 {
					h := sha256.Sum256(sum)
					sum = h[:]
				}
			}
			return q, emit(&symbol.Run{Rank: a.Rank, Strings: []string{"", "p.c", "f_" + words[2]},
				Scopes: []symbol.Scope{{Parent: -1, Function: 2}}, Ranges: []symbol.Range{{Start: 0, End: 8, At: symbol.Site{File: 1, Line: 1}}}})
		}
		return &formats.Object{Artifacts: []formats.Artifact{a}}, nil
	}}

// deep calls itself until the stack ends.
func deep(n int) int { return deep(n+1) + n }

func die() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		p.Kill()
	}
	select {} // until it comes
}

func poisonID(i int) string { return fmt.Sprintf("%040x", i+0xa0) }

// An object that kills every process that opens it costs three runs and then only itself. An object that was merely open when
// processes died is loaded in a process of its own; a panic and an endless loop cost nothing but the object.
func TestPoison(t *testing.T) {
	objects := t.TempDir()
	put := func(name, what string, i int) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(objects, name), []byte("POISON "+what+" "+poisonID(i)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("a-memory.so", "memory", 0)
	put("b-interrupted.so", "interrupted", 1)
	put("c-panic.so", "panic", 2)
	put("d-loop.so", "loop", 3)
	for i := range 20 {
		put(fmt.Sprintf("good%02d.so", i), "good", 10+i)
	}
	config := filepath.Join(t.TempDir(), "symlake.yaml")
	store := filepath.Join(t.TempDir(), "store")
	if err := os.WriteFile(config, []byte("store: "+store+"\nlake: off\nlimits: {memory: 64MiB, workers: 2, time: 2s}\nsources: [{url: "+objects+"}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	states := func() map[string]wire.Object {
		t.Helper()
		out, _ := mustRun(t, []int{0}, "--config", config, "--json", "objects")
		all := map[string]wire.Object{}
		for line := range strings.Lines(out) {
			var o wire.Object
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				t.Fatal(err)
			}
			all[filepath.Base(o.URL)] = o
		}
		return all
	}
	var report struct {
		Objects  struct{ Loaded, Rejected, Failed int }
		Rejected []struct{ URL, Error string }
	}
	runs := 0
	for ; runs < 12; runs++ {
		cmd := symlake(t, "--config", config, "ingest", "--report", "-")
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if cmd.ProcessState.ExitCode() == exit.Failed && strings.Contains(said.String(), "ingest died: ") {
			continue
		}
		if code := cmd.ProcessState.ExitCode(); code != 3 && code != 0 {
			t.Fatalf("exit code %d: %v %s %s", code, err, out, said.String())
		}
		if err := json.Unmarshal(out, &report); err != nil {
			t.Fatal(err)
		}
		if code := cmd.ProcessState.ExitCode(); code == 0 {
			break
		}
	}
	// Three deaths each, a run that quarantines, and a run that finds nothing new.
	if runs > 7 {
		t.Errorf("%d runs", runs)
	}
	all := states()
	for name, want := range map[string][]string{"a-memory.so": {"rejected", "memory"}, "b-interrupted.so": {"loaded", ""},
		"c-panic.so": {"rejected", "panic"}, "d-loop.so": {"rejected", "limits.time"}} {
		if o := all[name]; o.State != want[0] || !strings.Contains(o.Reason+fmt.Sprint(o.Artifacts), want[1]) {
			t.Errorf("%s: %s: %s %v, want %v", name, o.State, o.Reason, o.Artifacts, want)
		}
	}
	for i := range 20 {
		if o := all[fmt.Sprintf("good%02d.so", i)]; o.State != "loaded" {
			t.Errorf("good%02d.so is %s: %s", i, o.State, o.Reason)
		}
	}
	mustRun(t, []int{0}, "--config", config, "gc", "--grace", "0s")
	mustRun(t, []int{0}, "--config", config, "verify")

	// The quarantine is lifted by hand.
	put("a-memory.so", "memory", 0)
	mustRun(t, []int{0}, "--config", config, "objects", "--retry", all["a-memory.so"].URL)
	if o := states()["a-memory.so"]; o.State != "pending" || o.Attempts != 0 {
		t.Errorf("%+v", o)
	}
}
