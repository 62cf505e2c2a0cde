package all_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/all"
	"github.com/symlake/symlake/formats/profile/profiletest"
	"github.com/symlake/symlake/formats/samples"
)

// shop is samples of two stacks.
func shop(t *testing.T) *samples.Profile {
	t.Helper()
	p := &samples.Profile{Name: "shop", Types: []samples.Type{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, Default: 1, Period: 10e6,
		Threads: []samples.Thread{{PID: 1, TID: 2, Name: "main", Process: "shop"}}}
	for i, stack := range []string{"main;Cart::total(int);add", "main;Cart::total(int)", "main;Cart::total(int);add", "main;pay \"now\" \\ é"} {
		at := int32(samples.None)
		for name := range strings.SplitSeq(stack, ";") {
			f, err := p.Frame(samples.Frame{Function: name, File: "src/shop.cpp", Line: uint32(len(name))})
			if err == nil {
				at, err = p.Push(at, f)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Add(samples.Sample{Stack: at, Thread: 0, Time: int64(i) * 10e6}, 1, 10e6); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// stacks returns the value of each stack, of the default type.
func stacks(p *samples.Profile) map[string]int64 {
	out := map[string]int64{}
	for i := range p.Samples {
		name := ""
		for s := p.Samples[i].Stack; s != samples.None; s = p.Stacks[s].Caller {
			name = ";" + p.Frames[p.Stacks[s].Frame].Function + name
		}
		out[name[min(1, len(name)):]] += p.Value(i, p.Default)
	}
	return out
}

// shares returns the values in thousandths of their sum, so that other units are equal.
func shares(p *samples.Profile) string {
	all := stacks(p)
	sum := int64(0)
	for _, v := range all {
		sum += v
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, fmt.Sprintf("%s=%d", name, all[name]*1000/max(sum, 1)))
	}
	return strings.Join(out, "\n")
}

// A written profile is of its form and of no other, and has the samples that were written.
func TestWrite(t *testing.T) {
	t.Parallel()
	from := shop(t)
	written := 0
	for _, f := range all.Formats {
		if f.Write == nil {
			continue
		}
		var out, again bytes.Buffer
		for _, to := range []*bytes.Buffer{&out, &again} {
			if err := f.Write(to, from); err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
		}
		if !bytes.Equal(out.Bytes(), again.Bytes()) {
			t.Errorf("%s: equal samples give other bytes", f.Name)
		}
		if err := f.Write(&again, &samples.Profile{}); err != nil {
			t.Errorf("%s: an empty profile: %v", f.Name, err)
		}
		written++
		if f.Begins == nil {
			continue
		}
		in := profile.Bytes(f.Name, out.Bytes())
		_, head, _, err := profile.Unpack(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range all.Formats {
			if other.Begins != nil && other.Begins(head) != (other == f) {
				t.Errorf("%s: %s says %v of it", f.Name, other.Name, other.Begins(head))
			}
		}
		var got samples.Profile
		if err := profile.Samples(context.Background(), all.Formats, in, &got); err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		profiletest.Check(t, &got)
		if got, want := shares(&got), shares(from); got != want {
			t.Errorf("%s: samples are\n%s\nwant\n%s", f.Name, got, want)
		}
	}
	if written < 4 {
		t.Errorf("%d forms are written", written)
	}
}

// Each form has what the command and the server need of it, and no ending, media type or name of another form.
func TestFormats(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, f := range all.Formats {
		if f.Name == "" || f.Title == "" || len(f.Endings) == 0 || len(f.Media) == 0 || f.Begins == nil && f.Write == nil || f.Begins != nil && f.Answer == nil {
			t.Errorf("%s: %+v", f.Name, f)
		}
		for _, word := range slices.Concat([]string{"name " + f.Name}, f.Endings, f.Media) {
			if other := seen[word]; other != "" && word != ".json" {
				t.Errorf("%s and %s share %s", f.Name, other, word)
			}
			seen[word] = f.Name
		}
	}
}

// Stacks, traces and symbols are no profiles, and profiles are of one form.
func TestBegins(t *testing.T) {
	t.Parallel()
	claims := func(path string) (names []string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, head, _, err := profile.Unpack(profile.Bytes(path, text))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all.Formats {
			if f.Begins != nil && f.Begins(head) {
				names = append(names, f.Name)
			}
		}
		return names
	}
	for _, folder := range []string{"stacks", "trace", "elf", "macho", "r8", "js", "events"} {
		files, err := filepath.Glob(filepath.Join(formattest.Testdata(t, folder), "*.*"))
		if err != nil || len(files) == 0 {
			t.Fatal(folder, err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.IsDir() {
				continue
			}
			if got := claims(file); len(got) > 0 {
				t.Errorf("%s passes as %v", file, got)
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(formattest.Testdata(t, "profile"), "kept", "*.pb.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		if got := claims(file); fmt.Sprint(got) != "[pprof]" {
			t.Errorf("%s passes as %v", file, got)
		}
	}
}
