package jobs

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/transfer"
	"github.com/symlake/symlake/jobs/internal/collector"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/prose"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/sinks/all"
	"github.com/symlake/symlake/sinks/lookup"
)

type loadJob struct {
	Artifacts  []string `arg:"" optional:"" name:"artifact" help:"Any name of what load copies. Without one: everything."`
	From       string   `help:"The store to copy from (default: the configured one, else ./symlake-data)." placeholder:"URL" group:"Source"`
	FromKeyset string   `help:"Keyset of that store (default: keyset.json in it)." type:"path" placeholder:"FILE" xor:"from" group:"Source"`
	FromKMS    string   `name:"from-kms" help:"Key of AWS KMS of that store, instead of a keyset." placeholder:"ARN" xor:"from" group:"Source"`
	Force      bool     `help:"Replace artifacts that are better, pinned or shredded in the target." group:"How"`
	HFilesOut  string   `name:"hfiles-out" help:"Write the whole source as HFiles into this folder, for HBase's completebulkload." detail:"No server is asked." type:"path" placeholder:"DIR" group:"How"`
	IfLocked   string   `help:"If an ingest writes the target: wait, skip (exit code 0) or fail." enum:"wait,skip,fail" default:"wait" placeholder:"HOW" group:"How"`
	RunID      string   `name:"run" help:"Name of this run, for the report." placeholder:"ID" group:"Report"`
	Report     string   `help:"Where the report goes: a file, or - as the last line of standard output." placeholder:"FILE" group:"Report"`
}

// Supervised: the command runs in a worker.
func (loadJob) Supervised() bool { return true }

func (loadJob) Help() string {
	return "Rows go unchanged. Data keys are wrapped under the target's key. Names and ledger come along, so an ingest into the target finds nothing new. " +
		"If a load stops, run it again.\n\n" +
		"Example:\n  symlake load --store hbase://master:16000/symlake --keyset keyset.json"
}

// Check finds faults in the words before anything is opened or made.
func (j loadJob) Check(s *session.Session) error {
	p := workspace.New(s)
	src, err := j.source(p)
	if err != nil {
		return err
	}
	from := "the source"
	if j.From != "" {
		from = "--from"
	}
	switch {
	case session.IsRemote(src.StoreURL()):
		return exit.Usage("%s %s is a symlake serve: load reads the store itself", from, src.StoreURL())
	case j.HFilesOut != "" && len(j.Artifacts) > 0:
		return exit.Usage("--hfiles-out writes the whole store: name no artifact")
	case j.HFilesOut == "" && src.StoreURL() == p.StoreURL():
		return exit.Usage("source and target are both %s: name one with --from or --store", p.StoreURL())
	case j.HFilesOut == "" && session.IsRemote(p.StoreURL()):
		return exit.Usage("store %s is a symlake serve: load writes a store itself", p.StoreURL())
	}
	if err := session.CheckOutput("report", j.Report); err != nil {
		return err
	}
	return session.CheckStore(from, src.StoreURL())
}

// Run copies published loads of one store into another.
func (j loadJob) Run(p *workspace.Workspace) error {
	src, err := j.source(p)
	if err != nil {
		return err
	}
	if j.HFilesOut != "" {
		return j.export(p, src)
	}
	from, err := src.OpenRecords(true)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	defer from.Close()
	o := transfer.Options{From: transfer.Store{Store: from.Store, Keyring: from.Ring}, Force: j.Force, Run: workspace.RunID(j.RunID), Now: time.Now}
	o.Owner = workspace.Owner(o.Run)
	if o.Artifacts, err = j.artifacts(p, from); err != nil {
		return err
	}
	p.Heard = &session.Notices{}
	to, unlock, err := p.CreateLocked(func() (func(), error) { return p.LockStore(j.IfLocked) })
	if errors.Is(err, workspace.ErrSkipLocked) {
		return p.ReportLocked(j.Report, "load", o.Run)
	}
	if err != nil {
		return err
	}
	defer unlock()
	defer to.Close()
	o.To = transfer.Store{Store: to.Store, Keyring: to.Ring}
	p.Collector.Use(collector.Stream, int64(p.Config.Limits.Memory))
	if j.Force {
		if err := to.NoteEvent(p.Ctx, "force", "load from "+src.StoreURL()); err != nil {
			return err
		}
	}
	watch := p.Watch("load")
	defer watch.Stop()
	if err := j.watch(p, watch, from, &o); err != nil {
		return err
	}
	report, err := transfer.Copy(p.Ctx, o)
	watch.Stop()
	report.From, report.To, report.Notes = src.StoreURL(), p.StoreURL(), p.Heard.List
	if report.Artifacts.Copied > 0 {
		err = errors.Join(err, to.NoteEvent(p.Ctx, "load", fmt.Sprintf("%d artifacts from %s", report.Artifacts.Copied, src.StoreURL())))
		noteCopy(src, fmt.Sprintf("%d artifacts to %s", report.Artifacts.Copied, p.StoreURL()))
	}
	if rerr := p.Sum(j.Report, "load-"+o.Run, report, prose.Copy(report)); rerr != nil && err == nil {
		err = rerr
	}
	if err == nil && report.Artifacts.Failed > 0 {
		err = fmt.Errorf("%d artifacts could not be copied: see the report, and symlake verify --store %s", report.Artifacts.Failed, src.StoreURL())
	}
	return err
}

// Failed reports a copy that did not begin.
func (j loadJob) Failed(s *session.Session, err error) error {
	p := workspace.New(s)
	run := workspace.RunID(j.RunID)
	return p.ReportFailure(err, j.Report, "load-"+run, p.Failure("load", run, err))
}

// noteCopy notes in the audit of the source where copies of it are, for people who shred or forget there. A user who may only
// read the source may copy it all the same.
func noteCopy(p *workspace.Workspace, detail string) {
	s, err := p.OpenRecords(false)
	if err == nil {
		err = errors.Join(s.NoteEvent(p.Ctx, "copied", detail), s.Close())
	}
	if err != nil {
		p.Log.Warn("the source's audit does not know of this copy", "error", err.Error())
	}
}

// source is this process as it would be with the source as its store.
func (j loadJob) source(p *workspace.Workspace) (*workspace.Workspace, error) {
	url := j.From
	switch {
	case url != "":
	case p.Config.Store != "" && p.Config.Store != p.StoreURL():
		url = p.Config.Store
	case j.HFilesOut != "" && p.StoreDir() != "": // files have no target: the store is their source
		url = p.StoreURL()
	}
	if url == "" {
		url = "file:" + settings.DefaultData
	}
	flags := *p.Flags
	src := *p.Session
	src.Flags, flags.Store, flags.Keyset, flags.KMS = &flags, url, j.FromKeyset, j.FromKMS
	if dir := src.StoreDir(); flags.Keyset == "" && flags.KMS == "" && dir != "" {
		if path := filepath.Join(dir, "keyset.json"); workspace.FileExists(path) {
			flags.Keyset = path
		}
	}
	return workspace.New(&src), nil
}

// export writes files instead of loading them.
func (j loadJob) export(p, src *workspace.Workspace) error {
	unlock, err := src.LockStore(j.IfLocked)
	if err != nil {
		return err
	}
	defer unlock()
	from, err := src.OpenStore(true)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	defer from.Close()
	out, err := all.ExportHBase(p.Ctx, from.Store, j.HFilesOut, p.StoreURL())
	if err != nil {
		return fmt.Errorf("write HFiles into %s: %w", j.HFilesOut, err)
	}
	if p.Flags.JSON {
		return p.PrintJSON(out)
	}
	_, err = fmt.Fprintf(p.Out, "%d rows and %d records written; its keyset is the source's. To load them:\n  %s\n", out.Rows, out.Records, strings.Join(out.Commands, "\n  "))
	return err
}

// artifacts resolves the names given.
func (j loadJob) artifacts(p *workspace.Workspace, from *session.Records) ([]symbol.ID, error) {
	var ids []symbol.ID
	client := lookup.New(from.Store, from.KEK, lookup.Options{})
	for _, name := range j.Artifacts {
		r := client.Resolve(p.Ctx, name, lookup.Narrow{})
		switch {
		case r.Record != nil:
			ids = append(ids, r.Record.ID)
		case len(r.Candidates) > 0:
			ids = append(ids, r.Candidates...)
		default:
			return nil, fmt.Errorf("%s: %s: %s", name, r.Status, symbol.Answer{Status: r.Status, Err: r.Err}.Reason())
		}
	}
	return ids, nil
}

// watch shows how far a copy is: by bytes in a bar, by batches in a log.
func (j loadJob) watch(p *workspace.Workspace, w *term.Progress, from *session.Records, o *transfer.Options) error {
	if !w.HasBar() {
		o.Progress = func(r transfer.Report) {
			w.At(term.Step{}, "load", slog.Int("seen", r.Artifacts.Seen),
				slog.Int("copied", r.Artifacts.Copied), slog.Int("batches", r.Batches), slog.Uint64("bytes", r.Bytes))
		}
		return nil
	}
	_, total, err := p.Contents(from, w)
	if len(o.Artifacts) > 0 {
		total = 0
	}
	step := term.Step{Total: total}
	o.Progress = func(r transfer.Report) {
		step.Text = fmt.Sprintf("%s seen, %s copied", term.Counted(r.Artifacts.Seen, "artifact"), term.Count(r.Artifacts.Copied))
		w.At(step, "")
	}
	o.Moved = func(bytes uint64) {
		step.Done = int64(bytes)
		w.At(step, "")
	}
	return err
}
