package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/report"
	reportall "github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/stores"
	"github.com/symlake/symlake/testdata/bench/measure"
)

// retraced holds the measurements of Java and Kotlin stacks.
type retraced struct {
	mapping                   float64 // MB
	warm, text                float64 // frames a second of processor time: from lines to answers; from text to text
	mapper, cache             float64 // rust-proguard's
	r8                        float64 // R8's retrace over the same text, its start left out
	cold, coldProcess, coldR8 time.Duration
	frames                    int
}

// The frames that are retraced: stacks of stackFrames, drawn with a seed of the lines that the mapping has.
const (
	retraceStacks = 5000
	stackFrames   = 20
)

var (
	classLine  = regexp.MustCompile(`^\S.* -> (\S+):$`)
	methodLine = regexp.MustCompile(`^\s+(\d+):(\d+):.*\) *(?::\d+(?::\d+)?)? -> (\S+)$`)
)

// drawn reads the places that a mapping has and draws frames of them: "CLASS METHOD LINE".
func drawn(mapping string) ([]string, error) {
	f, err := os.Open(mapping)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var places []string
	class := ""
	in := bufio.NewScanner(f)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		if m := classLine.FindStringSubmatch(in.Text()); m != nil {
			class = m[1]
		} else if m := methodLine.FindStringSubmatch(in.Text()); m != nil {
			places = append(places, class+" "+m[3]+" "+m[1])
		}
	}
	if err := in.Err(); err != nil || len(places) == 0 {
		return nil, fmt.Errorf("%s: %d places: %v", mapping, len(places), err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	out := make([]string, retraceStacks*stackFrames)
	for i := range out {
		out[i] = places[r.IntN(len(places))]
	}
	return out, nil
}

// fewClasses are the frames of one trace, of half as many classes.
func fewClasses(frames []string) (few []string) {
	seen := map[string]bool{}
	for _, f := range frames {
		class, _, _ := strings.Cut(f, " ")
		if !seen[class] && len(few) < stackFrames {
			seen[class] = true
			few = append(few, f, f)
		}
	}
	return few
}

// asStacks prints frames as traces, with a blank line between them.
func asStacks(frames []string, id string) string {
	var b strings.Builder
	for i, f := range frames {
		if i%stackFrames == 0 {
			b.WriteString("\njava.lang.IllegalStateException: drawn\n")
		}
		part := strings.Fields(f)
		fmt.Fprintf(&b, "\tat %s.%s(%s:%s)\n", part[0], part[1], id, part[2])
	}
	return b.String()[1:]
}

// retrace measures stacks of Java and Kotlin against R8's tool and rust-proguard, on the mapping that
// testdata/r8/fresh.sh made. It returns nil without that mapping.
func (b *bench) retrace() (*retraced, error) {
	mapping, jar := filepath.Join(b.cache, "r8", "mapping.txt"), filepath.Join(b.cache, "r8", "r8.jar")
	st, err := os.Stat(mapping)
	if err != nil {
		return nil, nil
	}
	r := &retraced{mapping: float64(st.Size()) / 1e6}
	frames, err := drawn(mapping)
	if err != nil {
		return nil, err
	}
	r.frames = len(frames)
	list, stacks, one := filepath.Join(b.tmp, "frames"), filepath.Join(b.tmp, "stacks.txt"), filepath.Join(b.tmp, "one.txt")
	text := asStacks(frames, "SourceFile")
	first := asStacks(fewClasses(frames), "SourceFile")
	for name, content := range map[string]string{list: strings.Join(frames, "\n") + "\n", stacks: text, one: first} {
		if err := writeFile(name, content); err != nil {
			return nil, err
		}
	}
	store := filepath.Join(b.tmp, "r8-store")
	if _, err := measure.Run(nil, nil, b.symlake, "--store", "file:"+store, "--lake", "off", "ingest", mapping); err != nil {
		return nil, err
	}
	if err := b.warmRetrace(r, store, text); err != nil {
		return nil, err
	}
	if err := b.coldRetrace(r, store, first); err != nil {
		return nil, err
	}
	var process []time.Duration
	for range 11 {
		u, err := measure.Run(nil, nil, b.symlake, "--store", "file:"+store, "symbolicate", "--artifact", "mapping.txt", one)
		if err != nil {
			return nil, err
		}
		process = append(process, u.Wall)
	}
	r.coldProcess = median(process)
	retracer := []string{"-cp", jar, "com.android.tools.r8.retrace.Retrace", "--quiet", mapping}
	short, err := measure.Run(nil, nil, "java", append(retracer, one)...)
	if err != nil {
		return nil, err
	}
	long, err := measure.Run(nil, nil, "java", append(retracer, stacks)...)
	if err != nil {
		return nil, err
	}
	r.coldR8 = short.Wall
	r.r8 = float64(r.frames-stackFrames) / max(long.CPU-short.CPU, time.Millisecond).Seconds()
	if b.peer == "" {
		return r, nil
	}
	var out bytes.Buffer
	if _, err := measure.Run(nil, &out, b.peer, "retrace", mapping, list); err != nil {
		return nil, err
	}
	_, err = fmt.Sscan(out.String(), &r.mapper, &r.cache)
	return r, err
}

// client opens a store as a service does.
func (b *bench) client(dir string) (*answer.Client, func() error, error) {
	store, err := stores.Open(b.ctx, "file:"+dir, stores.Options{ReadOnly: true})
	if err != nil {
		return nil, nil, err
	}
	key, err := kek.OpenKeyset(context.Background(), filepath.Join(dir, "keyset.json"), nil)
	if err != nil {
		return nil, nil, err
	}
	return answer.New(lookup.New(store, key, lookup.Options{CacheBytes: 2 << 30})), store.Close, nil
}

func splitOptions() report.Options {
	return report.Options{Artifacts: []string{"mapping.txt"}, Managed: report.ManagedOptions{School: report.R8}}
}

// warmRetrace measures the client with every class in its cache: from parsed lines to answers, and from text
// to text.
func (b *bench) warmRetrace(r *retraced, dir, text string) error {
	client, close, err := b.client(dir)
	if err != nil {
		return err
	}
	defer close()
	var parsed []*report.Report
	err = report.Split(b.ctx, strings.NewReader(text), reportall.Dialects, splitOptions(), func(s *report.Report) error {
		parsed = append(parsed, s)
		return nil
	})
	if err != nil {
		return err
	}
	answered := 0
	for pass := range 6 {
		start := measure.Spent()
		for _, s := range parsed {
			answers, err := client.Stack(b.ctx, s, answer.Options{})
			if err != nil {
				return err
			}
			for _, t := range answers {
				for i := range t {
					if pass == 0 && t[i].Status == symbol.Found {
						answered++
					}
				}
			}
		}
		if pass > 0 {
			r.warm = max(r.warm, float64(r.frames)/(measure.Spent()-start).Seconds())
		}
	}
	if answered < r.frames {
		return fmt.Errorf("%d of %d frames were retraced", answered, r.frames)
	}
	for range 3 {
		start := measure.Spent()
		var out bytes.Buffer
		err := report.Split(b.ctx, strings.NewReader(text), reportall.Dialects, splitOptions(), func(s *report.Report) error {
			answers, err := client.Stack(b.ctx, s, answer.Options{})
			if err != nil {
				return err
			}
			return report.Print(&out, s, answers)
		})
		if err != nil {
			return err
		}
		r.text = max(r.text, float64(r.frames)/(measure.Spent()-start).Seconds())
	}
	return nil
}

// coldRetrace measures one trace from a store that is opened for it, in process.
func (b *bench) coldRetrace(r *retraced, dir, text string) error {
	var colds []time.Duration
	for range 21 {
		start := time.Now()
		client, close, err := b.client(dir)
		if err != nil {
			return err
		}
		err = report.Split(context.Background(), strings.NewReader(text), reportall.Dialects, splitOptions(), func(s *report.Report) error {
			_, err := client.Stack(b.ctx, s, answer.Options{})
			return err
		})
		colds = append(colds, time.Since(start))
		if err := close(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
	r.cold = median(colds)
	return nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func (r *retraced) print() {
	fmt.Printf("\nJava and Kotlin: a mapping of %.1f MB, %d frames drawn of it, thousand frames a second of one core's time\n", r.mapping, r.frames)
	fmt.Printf("  symlake, warm: lines to answers %.0f, text to text %.0f; rust-proguard: in memory %.0f, its cache %.0f; R8's retrace, text to text, without its start %.0f\n",
		r.warm/1e3, r.text/1e3, r.mapper/1e3, r.cache/1e3, r.r8/1e3)
	fmt.Printf("  one trace of %d frames in half as many classes, cold: symlake %.1f ms in process, %.1f ms as a process; R8's retrace %.0f ms\n",
		stackFrames, float64(r.cold.Microseconds())/1e3, float64(r.coldProcess.Microseconds())/1e3, float64(r.coldR8.Microseconds())/1e3)
}
