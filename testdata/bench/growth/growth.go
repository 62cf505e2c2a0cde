// Package growth measures what commands cost as a store grows: the cost of each at 10^3 to 10^6 artifacts, and the
// exponent of a power of the number of artifacts that fits best. 0 is flat, 1 is linear.
package growth

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// Bench measures one or two programs, in turn.
type Bench struct {
	Symlake string
	Old     string // an older program; "": none
	Temp    string
	Most    int // artifacts of the largest store (0: 100,000)
	Server  *Server
}

// Server holds the stores; nil: they are folders.
type Server struct {
	Store func(name string) (url string) // an empty store of that name
	Used  func() time.Duration           // processor time so far
}

// command is a command that is measured on a store of each size, in this order.
type command struct {
	name    string
	args    []string
	changes []string // loads the first object, which changes twice before the command
}

// commands of a store at place s, which the keyset opens, with objects at place o.
func commands(s, keyset, o string) []command {
	store := []string{"--store", s, "--keyset", keyset}
	with := func(args ...string) []string { return append(args, store...) }
	return []command{
		{name: "ingest", args: with("ingest", "--lake", "off", o)},
		{name: "a run with nothing new", args: with("ingest", "--lake", "off", o)},
		{name: "plan", args: with("plan", o)},
		{name: "status", args: with("status")},
		{name: "the first gc", args: with("gc")},
		{name: "gc with nothing to do", args: with("gc")},
		{name: "gc of one load", args: with("gc", "--grace", "0s"), changes: with("ingest", "--lake", "off", first(o))},
		{name: "keys list", args: with("keys", "list")},
		{name: "verify", args: with("verify")},
	}
}

// lakeCommands of a store and a lake in folder dir.
func lakeCommands(dir, o string) []command {
	with := func(args ...string) []string {
		return append(args, "--store", filepath.Join(dir, "store"), "--keyset", filepath.Join(dir, "keyset.json"), "--lake", filepath.Join(dir, "lake"))
	}
	return []command{
		{name: "ingest with a lake", args: with("ingest", o)},
		{name: "the first compact", args: with("compact")},
		{name: "compact with nothing to do", args: with("compact")},
		{name: "a run over one old object", args: with("ingest", first(o))},
	}
}

// first returns the place of the first object of a folder.
func first(dir string) string { return filepath.Join(dir, "0", "libsmall0000000.sym") }

// cost is the processor time of a command on each store, in seconds.
type cost map[string][]float64

// prepare changes the first of the objects, and loads it, twice. So a load is replaced twice.
func (c command) prepare(program, objects string) error {
	if c.changes == nil {
		return nil
	}
	for range 2 {
		f, err := os.OpenFile(first(objects), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString("FUNC 4000 20 0 later\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if _, err := run(program, c.changes); err != nil {
			return fmt.Errorf("before %s: %w", c.name, err)
		}
	}
	return nil
}

// run runs the program without a configuration.
func run(program string, args []string) (measure.Usage, error) {
	return measure.Run(nil, nil, program, append([]string{"--config", os.DevNull}, args...)...)
}

// run runs a command, and adds its processor time.
func (all cost) run(program string, c command) error {
	u, err := run(program, c.args)
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	all[c.name] = append(all[c.name], u.CPU.Seconds())
	return nil
}

// Run measures and prints.
func (b *Bench) Run() error {
	if b.Most == 0 {
		b.Most = 100_000
	}
	var sizes []int
	for n := 1000; n <= b.Most; n *= 10 {
		sizes = append(sizes, n)
	}
	programs := []string{b.Symlake}
	if b.Old != "" {
		programs = append(programs, b.Old)
	}
	costs, servers := make([]cost, len(programs)), make([]cost, len(programs))
	bytes := make([][]float64, len(programs))
	for i := range programs {
		costs[i], servers[i] = cost{}, cost{}
	}
	if b.Server != nil { // the server compiles its code during the first requests
		err := b.with(warming, func(objects string) error {
			_, err := b.store(b.Symlake, objects, "growth_first", cost{}, cost{})
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, n := range sizes {
		err := b.with(n, func(objects string) error {
			for i, program := range programs {
				size, err := b.store(program, objects, fmt.Sprintf("growth_%d_%d", n, i), costs[i], servers[i])
				if err != nil {
					return err
				}
				bytes[i] = append(bytes[i], float64(size)/float64(n))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i, program := range programs {
		fmt.Printf("\nprocessor time in s, by artifacts: %s\n", program)
		print(commands("", "", ""), sizes, costs[i])
		if b.Server != nil {
			fmt.Printf("\nof the server\n")
			print(commands("", "", ""), sizes, servers[i])
			continue
		}
		fmt.Printf("| bytes of catalog an artifact | %s |\n\n", cells(bytes[i], "%.0f"))
		print(lakeCommands("", ""), sizes, costs[i])
	}
	return nil
}

// warming is how many artifacts a server that has just started gets before it is measured.
const warming = 20_000

// with measures with a folder of n objects.
func (b *Bench) with(n int, measure func(objects string) error) error {
	objects := filepath.Join(b.Temp, "growth-objects")
	defer os.RemoveAll(objects)
	if err := Write(objects, n); err != nil {
		return err
	}
	return measure(objects)
}

// store runs the commands on a new store, adds what they and the server used, and returns the bytes of the store's catalog,
// if that is a file.
func (b *Bench) store(program, objects, name string, costs, servers cost) (int64, error) {
	dir := filepath.Join(b.Temp, name)
	defer os.RemoveAll(dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return 0, err
	}
	url, used := "file:"+dir, func() time.Duration { return 0 }
	if b.Server != nil {
		url, used = b.Server.Store(name), b.Server.Used
	}
	list := commands(url, filepath.Join(dir, "keyset.json"), objects)
	if b.Server == nil {
		list = append(list, lakeCommands(filepath.Join(dir, "with-lake"), objects)...)
	}
	for _, c := range list {
		if err := c.prepare(program, objects); err != nil {
			return 0, err
		}
		before := used()
		if err := costs.run(program, c); err != nil {
			return 0, err
		}
		servers[c.name] = append(servers[c.name], (used() - before).Seconds())
	}
	size := int64(0)
	for _, file := range []string{"catalog.db", "catalog.db-wal"} {
		if st, err := os.Stat(filepath.Join(dir, file)); err == nil {
			size += st.Size()
		}
	}
	return size, nil
}

// Write writes n Breakpad files of some 600 bytes into dir, a hundred folders of them.
func Write(dir string, n int) error {
	for i := range n {
		sum := sha256.Sum256([]byte(strconv.Itoa(i)))
		var b strings.Builder
		fmt.Fprintf(&b, "MODULE Linux arm64 %X0 libsmall%07d.so\nINFO CODE_ID %X\nFILE 0 src/module%d.c\n", sum[:16], i, sum[:20], i)
		for f := range 10 {
			fmt.Fprintf(&b, "FUNC %x 20 0 function_%d_%d\n%x 20 %d 0\n", 0x1000+f*0x20, i, f, 0x1000+f*0x20, f+10)
		}
		folder := filepath.Join(dir, strconv.Itoa(i%100))
		if i < 100 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("libsmall%07d.sym", i)), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func print(list []command, sizes []int, costs cost) {
	head := make([]float64, len(sizes))
	for i, n := range sizes {
		head[i] = float64(n)
	}
	fmt.Printf("| command | %s | exponent |\n|---|%s---|\n", cells(head, "%.0f"), strings.Repeat("---|", len(sizes)))
	for _, c := range list {
		fmt.Printf("| %s | %s | %.2f |\n", c.name, cells(costs[c.name], "%.2f"), Exponent(sizes, costs[c.name]))
	}
}

func cells(values []float64, format string) string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = fmt.Sprintf(format, v)
	}
	return strings.Join(list, " | ")
}

// Exponent returns the power of the sizes that fits costs best: the slope of their logarithms.
func Exponent(sizes []int, costs []float64) float64 {
	var n, x, y, xx, xy float64
	for i, c := range costs {
		a, b := math.Log(float64(sizes[i])), math.Log(max(c, 1e-3))
		n, x, y, xx, xy = n+1, x+a, y+b, xx+a*a, xy+a*b
	}
	if d := n*xx - x*x; d > 0 {
		return (n*xy - x*y) / d
	}
	return 0
}
