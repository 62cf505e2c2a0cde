package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/symlake/symlake/jobs/internal/prose"
	"github.com/symlake/symlake/jobs/internal/session"
)

// reportsFolder reports whether --report names a folder, which gets one file a run.
func reportsFolder(to string) bool {
	if strings.HasSuffix(to, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(to)
	return err == nil && info.IsDir()
}

// ReportFile returns the file of a report with that name.
func ReportFile(to, name string) string {
	if reportsFolder(to) {
		return filepath.Join(to, fileName(name)+".json")
	}
	return to
}

// Report writes a run's report, its last word: to a file, to a file of that name in a folder, to
// standard output (-), or where --json says. A file is there whole or not at all.
func (p *Workspace) Report(to, name string, r any) error {
	p.Reported = true
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	w := p.ErrOut
	switch {
	case to == "":
		if p.Flags.JSON {
			w = p.Out
		}
	case to == "-":
		w = p.Out
	default:
		if err := replaceFile(ReportFile(to, name), text); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
		return nil
	}
	_, err = w.Write(text)
	return err
}

// Sum tells what a run did. A script gets the report, as Report writes it. A person gets a paragraph: in place of a report
// that would go to standard error, and beside a file.
func (p *Workspace) Sum(to, name string, r any, paragraph string) error {
	if !p.ErrView.People || p.Flags.JSON {
		return p.Report(to, name, r)
	}
	p.Reported = true
	if to != "" {
		if err := p.Report(to, name, r); err != nil {
			return err
		}
	}
	return session.Say(p.ErrOut, p.ErrView, paragraph)
}

// Print prints the result of a command as records, as a person's paragraph, or as a script's line.
func (p *Workspace) Print(r any, paragraph, line string) error {
	switch {
	case p.Flags.JSON:
		return p.PrintJSON(r)
	case p.OutView.People:
		return session.Say(p.Out, p.OutView, paragraph)
	}
	_, err := io.WriteString(p.Out, line)
	return err
}

// ReportFailure reports a job that did not begin its work, where a report is asked for. It returns the
// job's error, and its own.
func (p *Workspace) ReportFailure(err error, to, name string, r any) error {
	if to == "" && !p.Flags.JSON || session.CheckOutput("report", to) != nil { // the error is printed anyway
		return err
	}
	return errors.Join(err, p.Report(to, name, r))
}

// failure is the report of a job that did not begin its work.
type failure struct {
	Job     string    `json:"job"`
	Run     string    `json:"run,omitempty"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	Error   string    `json:"error"`
}

// Failure returns the report of a job that failed with err.
func (p *Workspace) Failure(job, run string, err error) failure {
	return failure{job, run, p.Began.UTC(), time.Since(p.Began).Seconds(), err.Error()}
}

// ReportLocked reports that another process had the store. That replaces no report of a run that
// did something, and is no file of its own in a folder.
func (p *Workspace) ReportLocked(to, job, run string) error {
	p.Reported = true
	if to != "" && to != "-" && (reportsFolder(to) || FileExists(to)) {
		p.Log.Info("another process works on this store: skipped", "store", p.StoreURL())
		return nil
	}
	return p.Sum(to, "", map[string]any{"job": job, "run": run, "started": time.Now().UTC(), "locked": true}, prose.Locked(p.StoreURL()))
}

// fileName makes a run's id a name of one file.
func fileName(id string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, id)
}

// replaceFile writes a file under another name and renames it, both made durable. A link stays: the file that it leads to
// is replaced. A pipe or a device is written to, and so is an open file of this process, such as /dev/stdout.
func replaceFile(to string, text []byte) error {
	if info, err := os.Stat(to); err == nil && (!info.Mode().IsRegular() || isOpenFile(to)) {
		return appendFile(to, text)
	}
	if real, err := filepath.EvalSymlinks(to); err == nil {
		to = real
	}
	dir := filepath.Dir(to)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".report-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), to)
	}
	return err
}

// isOpenFile reports whether a path leads to an open file of a process by its number, as /dev/stdout does.
func isOpenFile(path string) bool {
	for range 8 {
		dir := filepath.Dir(path)
		if dir == "/dev/fd" || strings.HasPrefix(dir, "/proc/") && filepath.Base(dir) == "fd" {
			return true
		}
		next, err := os.Readlink(path)
		if err != nil {
			return false
		}
		if path = next; !filepath.IsAbs(next) {
			path = filepath.Join(dir, next)
		}
	}
	return false
}

// appendFile writes behind what a file has.
func appendFile(to string, text []byte) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// FileExists reports whether path names a file or folder that can be asked for its state.
func FileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
