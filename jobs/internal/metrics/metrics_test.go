package metrics

import (
	"bytes"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// text is what a registry writes. Prometheus's own parser must read it.
func text(t *testing.T, all []Family) (string, map[string]*dto.MetricFamily) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, all); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	read, err := parser.TextToMetricFamilies(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatalf("%v:\n%s", err, &b)
	}
	return b.String(), read
}

func TestText(t *testing.T) {
	t.Parallel()
	var r Registry
	c := r.Counter("b_total", "Counts\nin \\ two lines.", "path", "code")
	r.Counter("c_total", "Nothing yet.")
	h := r.Histogram("a_seconds", "Times.", []float64{0.5, 1, 2}, "from")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			c.Add(1, "/b", "200")
			c.Add(250_000, "/a", "200")
			h.Observe(0.5, "x")
			h.Observe(1.5, "x")
			h.Observe(7, "x")
		})
	}
	group.Wait()
	c.Add(0, "/c\"\\\n\xff", "100")
	r.Add(func() []Family {
		return []Family{Gauge("d", "Both.", "what", map[string]float64{"z": math.Inf(1), "y": -2.5}, Label{"shard", "1/2"})}
	})
	got, read := text(t, r.Families())
	want := `# HELP a_seconds Times.
# TYPE a_seconds histogram
a_seconds_bucket{from="x",le="0.5"} 8
a_seconds_bucket{from="x",le="1"} 8
a_seconds_bucket{from="x",le="2"} 16
a_seconds_bucket{from="x",le="+Inf"} 24
a_seconds_sum{from="x"} 72
a_seconds_count{from="x"} 24
# HELP b_total Counts\nin \\ two lines.
# TYPE b_total counter
b_total{code="100",path="/c\"\\\n` + "\uFFFD" + `"} 0
b_total{code="200",path="/a"} 2e+06
b_total{code="200",path="/b"} 8
# HELP d Both.
# TYPE d gauge
d{shard="1/2",what="y"} -2.5
d{shard="1/2",what="z"} +Inf
`
	if got != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
	if n := read["a_seconds"].GetMetric()[0].GetHistogram().GetSampleCount(); n != 24 {
		t.Errorf("the parser reads %d observations", n)
	}
}

// Names, kinds and texts of the runtime and the process are as Prometheus's client library has them.
func TestRuntime(t *testing.T) {
	runtime.GC()
	_, read := text(t, append(Go(), Process()...))
	list, err := os.ReadFile(filepath.Join("testdata", "names.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(list)) {
		word := strings.SplitN(strings.TrimSpace(line), " ", 3)
		f := read[word[0]]
		if f == nil && strings.HasPrefix(word[0], "process_") && runtime.GOOS != "linux" {
			continue
		}
		if f == nil || strings.ToLower(f.GetType().String()) != word[1] || f.GetHelp() != word[2] {
			t.Errorf("want %s, have %s %s", line, f.GetType(), f.GetHelp())
		}
		n++
	}
	if n < 28 || runtime.GOOS == "linux" && n != len(read) {
		t.Errorf("%d names are known, %d are written", n, len(read))
	}
	above := func(name string, least float64) {
		t.Helper()
		f := read[name]
		if len(f.GetMetric()) == 0 {
			t.Errorf("no %s", name)
			return
		}
		if m := f.GetMetric()[0]; m.GetGauge().GetValue()+m.GetCounter().GetValue() < least {
			t.Errorf("%s is %v, want %v or more", name, m, least)
		}
	}
	above("go_goroutines", 1)
	above("go_threads", 1)
	above("go_memstats_heap_alloc_bytes", 1)
	above("go_memstats_last_gc_time_seconds", 1e9)
	if runtime.GOOS == "linux" {
		above("process_resident_memory_bytes", 1<<20)
		above("process_start_time_seconds", 1e9)
		above("process_open_fds", 3)
		above("process_max_fds", 3)
	}
}

// A process may have any name, and a system may tell nothing.
func TestProcess(t *testing.T) {
	t.Parallel()
	if got := process(t.TempDir()); len(got) != 0 {
		t.Errorf("%v of an empty folder", got)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"stat":             "cpu 1 2 3\nbtime 1700000000\n",
		"self/stat":        "7 (a) (b c) S 1 7 7 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 9 0 1000 4096000 300 18446744073709551615\n",
		"self/limits":      "Limit                     Soft Limit           Hard Limit           Units\nMax open files            1024                 4096                 files\nMax address space         unlimited            unlimited            bytes\n",
		"self/net/netstat": "TcpExt: A B\nTcpExt: 1 2\nIpExt: InNoRoutes InOctets OutOctets\nIpExt: 0 12 34\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, read := text(t, process(dir))
	for name, want := range map[string]float64{"process_cpu_seconds_total": 2, "process_start_time_seconds": 1700000010, "process_virtual_memory_bytes": 4096000,
		"process_resident_memory_bytes": 300 * float64(os.Getpagesize()), "process_max_fds": 1024, "process_virtual_memory_max_bytes": 1 << 64,
		"process_network_receive_bytes_total": 12, "process_network_transmit_bytes_total": 34} {
		m := read[name].GetMetric()
		if len(m) != 1 || m[0].GetGauge().GetValue()+m[0].GetCounter().GetValue() != want {
			t.Errorf("%s: %v, want %v", name, m, want)
		}
	}
}

func TestPushRefused(t *testing.T) {
	t.Parallel()
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such job", http.StatusBadRequest) }))
	defer gateway.Close()
	err := Push(t.Context(), strings.TrimPrefix(gateway.URL, "http://")+"/", "a b", "", nil)
	if err == nil || !strings.Contains(err.Error(), "400") || !strings.Contains(err.Error(), "no such job") || !strings.Contains(err.Error(), "/metrics/job/a%20b") {
		t.Errorf("%v", err)
	}
}
