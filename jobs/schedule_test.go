package jobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/sinks/stores"
)

// scheduled is a host as the files of jobs/cron want it: the program, a configuration, folders for state and metrics.
type scheduled struct {
	t       *testing.T
	dir     string
	objects string
	paths   *strings.Replacer // from the files' to this test's
}

func newScheduled(t *testing.T) *scheduled {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &scheduled{t: t, dir: t.TempDir(), objects: t.TempDir()}
	for _, dir := range []string{"etc", "state"} {
		if err := os.Mkdir(filepath.Join(s.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.paths = strings.NewReplacer("/usr/local/bin/symlake", program, "/etc/symlake", filepath.Join(s.dir, "etc"),
		"/var/lib/symlake", filepath.Join(s.dir, "state"), "/var/lib/node_exporter", filepath.Join(s.dir, "node_exporter"))
	config := "sources: [{url: " + s.objects + "}]\nstore: " + filepath.Join(s.dir, "store") + "\n"
	if err := os.WriteFile(filepath.Join(s.dir, "etc", "symlake.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scheduled) file(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.paths.Replace(string(text))
}

// run runs a line by the shell, or a command by itself, and gives what cron would mail.
func (s *scheduled) run(code int, env []string, command ...string) string {
	s.t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(append([]string{asProgram + "=1", "PATH=" + os.Getenv("PATH")}, env...), "GOCOVERDIR="+s.dir)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != code {
		s.t.Fatalf("%v: %v, want exit code %d\n%s", command, err, code, out)
	}
	return string(out)
}

func (s *scheduled) has(name string) {
	s.t.Helper()
	if info, err := os.Stat(filepath.Join(s.dir, name)); err != nil || info.Size() == 0 {
		s.t.Errorf("%s: %v", name, err)
	}
}

// crontab is the lines of a crontab with a user column: its variables and its commands.
func (s *scheduled) crontab() (env, lines []string) {
	s.t.Helper()
	schedule := regexp.MustCompile(`^((?:[-*/,0-9]+\s+){5})symlake\s+(.*)$`)
	for line := range strings.Lines(s.file("cron/crontab")) {
		line = strings.TrimSuffix(line, "\n")
		switch m := schedule.FindStringSubmatch(line); {
		case line == "" || line[0] == '#':
		case m != nil:
			if strings.Contains(m[2], "%") {
				s.t.Errorf("cron ends a command at a %%: %s", m[2])
			}
			lines = append(lines, m[2])
		case regexp.MustCompile(`^[A-Z_]+=\S+$`).MatchString(line):
			env = append(env, line)
		default:
			s.t.Errorf("no line of a crontab: %s", line)
		}
	}
	if len(lines) != 3 {
		s.t.Fatalf("%d commands", len(lines))
	}
	return env, lines
}

// reports lists the reports of the runs.
func (s *scheduled) reports() []string {
	s.t.Helper()
	all, err := filepath.Glob(filepath.Join(s.dir, "state", "reports", "ingest-*.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// Each line of the crontab does its work without a word, also before there is a store. Where somebody must look, cron's
// mail names the objects, their reasons, and a report that no later run replaces.
func TestCrontab(t *testing.T) {
	s := newScheduled(t)
	env, lines := s.crontab()
	ingest, status, tidy := lines[0], lines[1], lines[2]
	shell := func(line string) string { return s.run(0, env, "/bin/sh", "-c", line) }
	silent := func(lines ...string) {
		t.Helper()
		for _, line := range lines {
			if said := shell(line); said != "" {
				t.Errorf("%s\nsaid %s", line, said)
			}
		}
	}
	silent(status, tidy)
	copyTo(t, s.objects, "libgame-arm64-dw5.so")
	silent(ingest, status, tidy, ingest)
	for _, name := range []string{"state/status.txt", "node_exporter/textfile/symlake_ingest.prom", "node_exporter/textfile/symlake_status.prom"} {
		s.has(name)
	}
	if all := s.reports(); len(all) != 2 {
		t.Errorf("two runs left the reports %v", all)
	}

	if err := os.WriteFile(filepath.Join(s.objects, "broken.so"), []byte("\x7fELF\x02\x01\x01"+strings.Repeat("\xff", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	said := shell(ingest)
	if !regexp.MustCompile(`(?m)^symlake: rejected file:\S*/broken\.so: elf: .*\+0x.*$`).MatchString(said) || !strings.Contains(said, "exit code 3") || strings.Count(said, "\n") != 3 {
		t.Errorf("of something rejected it said %q", said)
	}
	file := regexp.MustCompile(`(?m)^symlake: the report is (\S+)$`).FindStringSubmatch(said)
	if file == nil {
		t.Fatalf("it names no report: %q", said)
	}
	told, err := os.ReadFile(file[1])
	if err != nil || !strings.Contains(string(told), "broken.so") {
		t.Errorf("%s: %v", told, err)
	}

	// A run that finds another one at work leaves no report. A later one leaves its own.
	before := len(s.reports())
	unlock, err := stores.Join(filepath.Join(s.dir, "store"), "ingest-0-of-1")
	if err != nil {
		t.Fatal(err)
	}
	silent(ingest)
	last := strings.Replace(ingest, "/reports/", "/last.json", 1)
	if err := os.WriteFile(filepath.Join(s.dir, "state", "last.json"), told, 0o600); err != nil {
		t.Fatal(err)
	}
	silent(last)
	if now, err := os.ReadFile(filepath.Join(s.dir, "state", "last.json")); err != nil || !bytes.Equal(now, told) {
		t.Errorf("a locked run left %s, %v", now, err)
	}
	unlock()
	if n := len(s.reports()); n != before {
		t.Errorf("a locked run left %d reports", n-before)
	}
	silent(ingest)
	if now, err := os.ReadFile(file[1]); err != nil || !bytes.Equal(now, told) || len(s.reports()) != before+1 {
		t.Errorf("%s: %v", now, err)
	}

	copyTo(t, s.objects, "libgame-x64-dw5.so", "libgame-x86-dw4.so")
	s.run(0, env, "/bin/sh", "-c", strings.Replace(ingest, "--deadline 50m", "--limit 1", 1))
	if said := s.run(1, env, "/bin/sh", "-c", strings.Replace(status, "2h", "1ns", 1)); strings.Count(said, "\n") != 1 || !strings.Contains(said, "1 objects wait") {
		t.Errorf("of the lag it said %q", said)
	}

	// A folder of metrics that cannot be made.
	if err := os.Rename(filepath.Join(s.dir, "node_exporter"), filepath.Join(s.dir, "away")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "node_exporter"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := shell(ingest); !strings.Contains(said, "metrics were not written") || !strings.Contains(said, "exit code 1") {
		t.Errorf("without a folder for its metrics it said %q", said)
	}
	if err := os.Rename(filepath.Join(s.dir, "store", settings.DefaultKeyset), filepath.Join(s.dir, "keys")); err != nil {
		t.Fatal(err)
	}
	if said := shell(ingest); !strings.Contains(said, "exit code 1") {
		t.Errorf("without its keyset it said %q", said)
	}
}

// What the service starts works, and systemd finds nothing wrong with its files.
func TestSystemd(t *testing.T) {
	s := newScheduled(t)
	copyTo(t, s.objects, "libgame-arm64-dw5.so")
	unit := s.file("cron/symlake-ingest.service")
	var env []string
	var commands [][]string
	for line := range strings.Lines(unit) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "Environment":
			env = append(env, value)
		case "ExecStart", "ExecStartPost":
			commands = append(commands, strings.Fields(value))
		}
	}
	if len(commands) != 3 {
		t.Fatalf("it starts %v", commands)
	}
	for _, c := range commands {
		s.run(0, env, c...)
	}
	if all := s.reports(); len(all) != 1 {
		t.Errorf("it left the reports %v", all)
	}
	for _, name := range []string{"state/metrics/symlake_ingest.prom", "state/metrics/symlake_status.prom"} {
		s.has(name)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd-analyze is not here: the units themselves were not checked")
		return
	}
	args := []string{"verify", "--man=no"}
	for _, name := range []string{"symlake-ingest.service", "symlake-ingest.timer"} {
		path := filepath.Join(s.dir, name)
		if err := os.WriteFile(path, []byte(s.file(filepath.Join("cron", name))), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	if said := s.run(0, nil, append([]string{analyze}, args...)...); strings.Contains(said, "symlake") {
		t.Errorf("systemd-analyze: %s", said)
	}
}

func copyTo(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(formattest.Testdata(t, filepath.Join("elf", name)))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// kubernetesJob is what the test looks at of a resource.
type kubernetesJob struct {
	Kind string
	Data map[string]string // of a ConfigMap
	Spec struct {
		JobTemplate struct {
			Spec struct {
				Completions, Parallelism int
				Template                 struct {
					Spec struct {
						SecurityContext struct {
							User int `yaml:"runAsUser"`
						} `yaml:"securityContext"`
						InitContainers []container `yaml:"initContainers"`
						Containers     []container
					}
				}
			}
		} `yaml:"jobTemplate"`
	}
}

type container struct{ Args []string }

// The configuration of the ConfigMap is one, the arguments of the jobs are known, a job has as many indexes as shards.
func TestKubernetes(t *testing.T) {
	text, err := os.ReadFile("kubernetes/symlake.yaml")
	if err != nil {
		t.Fatal(err)
	}
	jobs, config := 0, filepath.Join(t.TempDir(), "symlake.yaml")
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var r kubernetesJob
		if err := d.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch r.Kind {
		case "ConfigMap":
			if err := os.WriteFile(config, []byte(r.Data["symlake.yaml"]), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := settings.Read(config); err != nil {
				t.Error(err)
			}
		case "CronJob":
			spec := r.Spec.JobTemplate.Spec
			for _, c := range append(spec.Template.Spec.Containers, spec.Template.Spec.InitContainers...) {
				jobs++
				args := strings.Split(strings.ReplaceAll(strings.Join(c.Args, "\n"), "$(SHARD)", "3"), "\n")
				mustRun(t, []int{0}, append(args, "--help")...)
				if at := strings.Join(args, " "); strings.Contains(at, "--shard") && !(strings.Contains(at, "--shard 3/4") && spec.Completions == 4 && spec.Parallelism == 4) {
					t.Errorf("%d completions of %s", spec.Completions, at)
				}
			}
			if spec.Template.Spec.SecurityContext.User != imageUser {
				t.Errorf("it runs as %d", spec.Template.Spec.SecurityContext.User)
			}
		}
	}
	if jobs != 4 {
		t.Errorf("%d containers", jobs)
	}
}

// imageUser is the user that the image runs as.
const imageUser = 65532

// The image starts from nothing, runs as an unprivileged user, and copies what the Makefile puts beside it.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("image/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join("..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(makefile), "\nimage:")
	recipe, _, _ = strings.Cut(recipe, "\n\n")
	said, copied, owned := map[string]string{}, map[string]bool{}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		said[word] = rest
		owner, isOwned := strings.CutPrefix(rest, "--chown=")
		if isOwned {
			owner, rest, _ = strings.Cut(owner, " ")
		}
		if from, to, ok := strings.Cut(rest, " "); word == "COPY" && ok {
			copied[to] = true
			if isOwned {
				owned[to] = owner
			}
			if !regexp.MustCompile(`/` + regexp.QuoteMeta(from) + `\b`).MatchString(recipe) {
				t.Errorf("make image does not bring %s: %s", from, recipe)
			}
		}
	}
	if said["FROM"] != "scratch" || said["USER"] != fmt.Sprintf("%[1]d:%[1]d", imageUser) {
		t.Errorf("from %s as %s", said["FROM"], said["USER"])
	}
	if owned[said["WORKDIR"]] != said["USER"] || !strings.HasSuffix(said["ENV"], "TMPDIR="+said["WORKDIR"]) {
		t.Errorf("user %s works in %s, with %s; folders belong to %v", said["USER"], said["WORKDIR"], said["ENV"], owned)
	}
	var entry []string
	if err := json.Unmarshal([]byte(said["ENTRYPOINT"]), &entry); err != nil || len(entry) != 1 || !copied[entry[0]] || !copied["/etc/ssl/certs/ca-certificates.crt"] {
		t.Errorf("it starts %s, has %v", said["ENTRYPOINT"], copied)
	}
}
