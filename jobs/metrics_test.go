package jobs

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/ingest/report"
)

// families are metrics by name, as Prometheus's own parser reads them.
type families map[string]*dto.MetricFamily

func readMetrics(t *testing.T, path string) families {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	m, err := parser.TextToMetricFamilies(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for name, family := range m {
		if family.GetHelp() == "" || family.GetType() != dto.MetricType_GAUGE {
			t.Errorf("%s is %s, %q", name, family.GetType(), family.GetHelp())
		}
	}
	info, err := f.Stat()
	if err != nil || info.Mode().Perm()&0o044 != 0o044 {
		t.Errorf("%s: mode %v, %v: the collector is another user", path, info.Mode(), err)
	}
	return m
}

// value returns the value of one metric, by pairs of label and value.
func (f families) value(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
next:
	for _, m := range f[name].GetMetric() {
		for i := 0; i < len(labels); i += 2 {
			has := func(l *dto.LabelPair) bool { return l.GetName() == labels[i] && l.GetValue() == labels[i+1] }
			if !slices.ContainsFunc(m.GetLabel(), has) {
				continue next
			}
		}
		return m.GetGauge().GetValue()
	}
	t.Errorf("no %s %v", name, labels)
	return math.NaN()
}

// someObjects is a folder with two good objects, a broken one, and a file of no known format.
func someObjects(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{"libgame-arm64-dw5.so": "a.so", "libgame-x64-dw5.so": "b.so", "libgame-armv7-dw4.so": "broken.so"} {
		text, err := os.ReadFile(formattest.Testdata(t, filepath.Join("elf", from)))
		if err != nil {
			t.Fatal(err)
		}
		if to == "broken.so" {
			text = text[:0x1000]
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The text files say what the report and status say.
func TestMetricsFiles(t *testing.T) {
	store, dir := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "textfile")
	out, _ := mustRun(t, []int{3}, "--store", store, "--metrics", dir, "ingest", someObjects(t), "--report", "-")
	var r report.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	m := readMetrics(t, filepath.Join(dir, "symlake_ingest.prom"))
	for outcome, want := range map[string]int{"seen": 4, "new": 4, "loaded": 2, "skipped": 1, "rejected": 1, "kept": 0, "failed": 0, "pending": 0, "gone": 0} {
		if got := m.value(t, "symlake_run_objects", "outcome", outcome); got != float64(want) {
			t.Errorf("%v %s, want %d", got, outcome, want)
		}
	}
	if len(m["symlake_run_rejected"].GetMetric()) != 1 || !strings.HasPrefix(m["symlake_run_rejected"].Metric[0].Label[0].GetValue(), "elf: ") {
		t.Errorf("rejected by reason: %v", m["symlake_run_rejected"])
	}
	for stage, want := range r.Stages {
		if got := m.value(t, "symlake_run_stage_seconds", "stage", stage); got != want {
			t.Errorf("stage %s: %v s, want %v", stage, got, want)
		}
	}
	for name, want := range map[string]float64{"symlake_run_artifacts": 2, "symlake_run_ranges": float64(r.Ranges), "symlake_run_classes": 0, "symlake_run_success": 1, "symlake_run_seconds": r.Seconds} {
		if got := m.value(t, name); got != want {
			t.Errorf("%s %v, want %v", name, got, want)
		}
	}
	for kind, want := range map[string]float64{"read": float64(r.Bytes.Read), "stored": float64(r.Bytes.Stored), "lake": float64(r.Bytes.Lake)} {
		if got := m.value(t, "symlake_run_bytes", "kind", kind); got != want || want == 0 {
			t.Errorf("%v bytes %s, want %v", got, kind, want)
		}
	}
	if ended := time.Unix(int64(m.value(t, "symlake_run_ended_timestamp_seconds")), 0); time.Since(ended) > time.Hour || time.Since(ended) < -time.Hour {
		t.Errorf("ended %s", ended)
	}

	// Two shards have a file each.
	for _, shard := range []string{"0/2", "1/2"} {
		mustRun(t, []int{0}, "--store", store, "--metrics", dir, "ingest", someObjects(t), "--shard", shard, "--limit", "1", "--rejected-code", "0")
		m := readMetrics(t, filepath.Join(dir, "symlake_ingest_"+strings.ReplaceAll(shard, "/", "_of_")+".prom"))
		m.value(t, "symlake_run_success", "shard", shard)
	}

	out, _ = mustRun(t, []int{0}, "--store", store, "--metrics", dir, "--json", "status")
	var st statusJSON
	if err := json.Unmarshal([]byte(out), &st); err != nil {
		t.Fatal(err)
	}
	m = readMetrics(t, filepath.Join(dir, "symlake_status.prom"))
	for name, want := range map[string]float64{"symlake_artifacts": 2, "symlake_ranges": float64(st.Ranges), "symlake_rows": float64(st.Rows), "symlake_stored_bytes": float64(st.Bytes),
		"symlake_loading": 0, "symlake_backlog_objects": float64(st.Backlog)} {
		if got := m.value(t, name); got != want {
			t.Errorf("%s %v, want %v", name, got, want)
		}
	}
	if lag := m.value(t, "symlake_lag_seconds"); st.Backlog == 0 || lag <= 0 || lag != st.LagSeconds {
		t.Errorf("%d wait, lag %v s and %v", st.Backlog, lag, st.LagSeconds)
	}
	if got := m.value(t, "symlake_coverage_ratio", "what", "text"); got != st.Coverage.Text || got <= 0.5 {
		t.Errorf("coverage %v, want %v", got, st.Coverage.Text)
	}
	if got := m.value(t, "symlake_objects", "state", "rejected"); got != float64(st.Objects["rejected"]) || got == 0 {
		t.Errorf("%v rejected", got)
	}
	if len(m["symlake_rejected_objects"].GetMetric()) != len(st.Rejects) {
		t.Errorf("quarantined: %v, want %v", m["symlake_rejected_objects"], st.Rejects)
	}
}

// A Pushgateway gets the same, each shard in a group of its own. If it is away or refuses, the job logs that and goes on.
func TestMetricsPushed(t *testing.T) {
	var mu sync.Mutex
	pushed := map[string][]string{} // by path
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := expfmt.NewDecoder(r.Body, expfmt.ResponseFormat(r.Header))
		var names []string
		for {
			var family dto.MetricFamily
			err := d.Decode(&family)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Error(err)
				break
			}
			names = append(names, family.GetName())
		}
		mu.Lock()
		defer mu.Unlock()
		pushed[r.Method+" "+r.URL.EscapedPath()] = names
	}))
	defer gateway.Close()
	store, dir, objects := filepath.Join(t.TempDir(), "store"), t.TempDir(), someObjects(t)
	mustRun(t, []int{3}, "--store", store, "--metrics", dir, "--pushgateway", gateway.URL, "ingest", objects)
	mustRun(t, []int{0}, "--store", store, "--pushgateway", gateway.URL, "ingest", objects, "--shard", "1/2")
	mustRun(t, []int{0}, "--store", store, "--metrics", dir, "--pushgateway", gateway.URL, "status")
	written := func(file string) (names []string) {
		for name := range readMetrics(t, filepath.Join(dir, file)) {
			names = append(names, name)
		}
		return names
	}
	for path, want := range map[string][]string{"PUT /metrics/job/symlake_ingest": written("symlake_ingest.prom"), "PUT /metrics/job/symlake_ingest/part@base64/MS8y": nil,
		"PUT /metrics/job/symlake_status": written("symlake_status.prom")} {
		got := pushed[path]
		slices.Sort(got)
		slices.Sort(want)
		if len(got) == 0 || want != nil && !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v; there are %d pushes", path, got, want, len(pushed))
		}
	}

	refusing := httptest.NewServer(http.NotFoundHandler())
	defer refusing.Close()
	for _, url := range []string{refusing.URL, "http://" + closedPort(t)} {
		_, said := mustRun(t, []int{0}, "--log-level", "error", "--store", store, "--pushgateway", url, "ingest", objects)
		if !strings.Contains(said, "metrics were not pushed") {
			t.Errorf("said %s", said)
		}
	}
	// A folder that cannot be made is an error, at every log level: an old file would pass for news.
	for _, job := range [][]string{{"ingest", objects}, {"status"}} {
		_, said := mustRun(t, []int{1}, append([]string{"--log-level", "error", "--store", store, "--metrics", filepath.Join(objects, "a.so", "metrics")}, job...)...)
		if !strings.Contains(said, "metrics were not written") {
			t.Errorf("%v said %s", job, said)
		}
	}
}

// The dashboard asks for every metric of ingest and status, and for no other.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("grafana", "symlake.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			ID         int
			Type       string
			Title      string
			Datasource struct{ Type, UID string }
			GridPos    struct{ X, Y, W, H int }
			Targets    []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name, Type, Query string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	if l := board.Templating.List; len(l) != 1 || l[0].Type != "datasource" || l[0].Query != "prometheus" {
		t.Errorf("variables: %+v", l)
	}
	store, dir, objects := filepath.Join(t.TempDir(), "store"), t.TempDir(), someObjects(t)
	mustRun(t, []int{3}, "--store", store, "--metrics", dir, "ingest", objects)
	mustRun(t, []int{0}, "--store", store, "--metrics", dir, "status")
	written := readMetrics(t, filepath.Join(dir, "symlake_ingest.prom"))
	for name, family := range readMetrics(t, filepath.Join(dir, "symlake_status.prom")) {
		written[name] = family
	}
	served := startServe(t, store)
	served.ask(t, "POST", "/v1/symbolicate", "text/plain", "#00 pc 47d4  libgame.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n")
	_, live := served.ask(t, "GET", "/metrics", "", "")

	name, label := regexp.MustCompile(`symlake_\w+`), regexp.MustCompile(`by \(([\w, ]+)\)|{{(\w+)}}|\{(\w+)=`)
	asked, ids := map[string]bool{}, map[int]bool{}
	at := map[[2]int]string{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d %q", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				spot := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if at[spot] != "" || spot[0] >= 24 {
					t.Fatalf("%s lies on %s, or outside", p.Title, at[spot])
				}
				at[spot] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Datasource.Type != "prometheus" || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("%s: %+v", p.Title, p)
		}
		for _, target := range p.Targets {
			for _, n := range name.FindAllString(target.Expr, -1) {
				asked[n] = true
				family := written[n]
				if family == nil && !strings.Contains(live, "\n"+n+"{") {
					t.Errorf("%s asks for %s, which nobody writes", p.Title, n)
				}
				for _, m := range label.FindAllStringSubmatch(target.Expr, -1) {
					for _, l := range strings.Split(m[1]+m[2]+m[3], ", ") {
						has := func(p *dto.LabelPair) bool { return p.GetName() == l }
						if family != nil && !slices.ContainsFunc(family.Metric[0].Label, has) || family == nil && !regexp.MustCompile(`\n`+n+`\{[^}]*\b`+l+`="`).MatchString(live) {
							t.Errorf("%s asks for %s by %s, which it has not", p.Title, n, l)
						}
					}
				}
			}
		}
	}
	for n := range written {
		if !asked[n] {
			t.Errorf("no panel shows %s", n)
		}
	}
}
