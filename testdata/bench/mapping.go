package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// mapped is what loading one mapping cost, symlake and rust-proguard in turn.
type mapped struct {
	name            string
	bytes           int64
	symlake, peer   []measure.Usage
	stored, written int64
}

// sortBudget is what the mappings are loaded with.
const sortBudget = "256MiB"

// mappings loads the mapping that mapping.sh made, and four of it behind one another under other names.
func (b *bench) mappings() ([]*mapped, error) {
	one := filepath.Join(b.cache, "r8-libraries", "mapping.txt")
	if _, err := os.Stat(one); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	four := filepath.Join(b.tmp, "four.txt")
	if err := repeat(one, four, 4); err != nil {
		return nil, err
	}
	defer os.Remove(four)
	config := filepath.Join(b.tmp, "mapping.yaml")
	if err := os.WriteFile(config, []byte("limits: {memory: "+sortBudget+"}\n"), 0o600); err != nil {
		return nil, err
	}
	empty := filepath.Join(b.tmp, "empty.txt")
	if err := os.WriteFile(empty, []byte("a.A -> a:\n"), 0o600); err != nil {
		return nil, err
	}
	var all []*mapped
	for _, file := range []string{empty, one, four} {
		st, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		m := &mapped{name: strings.TrimSuffix(filepath.Base(file), ".txt"), bytes: st.Size()}
		for i := range b.pairs + 1 {
			if err := b.load(m, file, config, i > 0); err != nil {
				return nil, err
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// load is one run of each; the first one only warms the page cache.
func (b *bench) load(m *mapped, file, config string, counts bool) error {
	store := filepath.Join(b.tmp, "mapping-store")
	defer os.RemoveAll(store)
	var report strings.Builder
	u, err := measure.Run(nil, &report, b.symlake, "--config", config, "--store", "file:"+store, "--lake", "off", "ingest", file, "--workers", "1", "--report", "-")
	if err != nil {
		return err
	}
	var rep struct{ Bytes struct{ Stored int64 } }
	lines := strings.Split(strings.TrimSpace(report.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &rep); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	var p measure.Usage
	if b.peer != "" {
		out := filepath.Join(b.tmp, "mapping.cache")
		if p, err = measure.Run(nil, nil, b.peer, "proguard", file, out); err != nil {
			return err
		}
		st, err := os.Stat(out)
		if err != nil {
			return err
		}
		m.written = st.Size()
	}
	if m.stored = rep.Bytes.Stored; counts {
		m.symlake, m.peer = append(m.symlake, u), append(m.peer, p)
	}
	return nil
}

// repeat writes n copies of a mapping, with other names of classes in each.
func repeat(from, to string, n int) (err error) {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	for i := range n {
		prefix := fmt.Sprintf("c%d.", i)
		for line := range bytes.Lines(text) {
			if c := line[0]; c != ' ' && c != '#' {
				line = bytes.Replace(line, []byte(" -> "), []byte(" -> "+prefix), 1)
				w.WriteString(prefix)
			}
			if bytes.HasPrefix(line, []byte("# pg_map")) {
				continue // it is another mapping than the one with that id
			}
			w.Write(line)
		}
	}
	return w.Flush()
}

func printMappings(all []*mapped) {
	if len(all) == 0 {
		return
	}
	fmt.Printf("\nMappings to sealed rows, one worker, sort budget %s; rust-proguard to its cache file. The least CPU of the runs; a process alone, whose share is taken off, is the first line.\n\n", sortBudget)
	fmt.Println("| mapping | MB | symlake CPU s | MB/s a core | peak anonymous MiB | stored | rust-proguard CPU s | MB/s a core | peak MiB | cache |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	idle, idlePeer := measure.Least(all[0].symlake, measure.CPU), measure.Least(all[0].peer, measure.CPU)
	for i, m := range all {
		mb := float64(m.bytes) / 1e6
		speed := func(u []measure.Usage, idle float64) string {
			if i == 0 || len(u) == 0 || measure.Least(u, measure.CPU) == 0 {
				return ""
			}
			return fmt.Sprintf("%.0f", mb/(measure.Least(u, measure.CPU)-idle))
		}
		fmt.Printf("| %s | %.1f | %.2f | %s | %.0f | %.1f %% | %.2f | %s | %.0f | %.1f %% |\n", m.name, mb,
			measure.Least(m.symlake, measure.CPU), speed(m.symlake, idle), measure.Peak(m.symlake), 100*float64(m.stored)/float64(m.bytes),
			measure.Least(m.peer, measure.CPU), speed(m.peer, idlePeer), measure.Peak(m.peer), 100*float64(m.written)/float64(m.bytes))
	}
}
