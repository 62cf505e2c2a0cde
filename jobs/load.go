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
	"github.com/symlake/symlake/jobs/garbage"
	"github.com/symlake/symlake/sinks/all"
	"github.com/symlake/symlake/sinks/lookup"
)

type loadJob struct {
	Artifacts  []string `arg:"" optional:"" name:"artifact" help:"Any name of what is to be copied; everything without."`
	From       string   `help:"The store to copy from (default: the configuration's, else the embedded one in ./symlake-data)." placeholder:"URL"`
	FromKeyset string   `help:"Keyset of that store (default: keyset.json in it)." type:"path" placeholder:"FILE" xor:"from"`
	FromKMS    string   `name:"from-kms" help:"Key of AWS KMS of that store, instead of a keyset." placeholder:"ARN" xor:"from"`
	HFilesOut  string   `name:"hfiles-out" help:"Write all of the source as HFiles into this folder, for HBase's own completebulkload; no server is asked." type:"path" placeholder:"DIR"`
	Force      bool     `help:"Replace what is better, pinned or shredded in the target."`
	IfLocked   string   `help:"When an ingest writes the target: wait, skip (exit 0) or fail." enum:"wait,skip,fail" default:"wait"`
	RunID      string   `name:"run" help:"Identity of this run, for the report." placeholder:"ID"`
	Report     string   `help:"Where the report goes; - is standard output, as the very last line." placeholder:"FILE"`
}

// supervised: the command runs in a worker.
func (loadJob) supervised() bool { return true }

func (loadJob) Help() string {
	return "Rows go as they are, data keys are wrapped under the target's key, names and ledger come along: " +
		"an ingest into the target finds nothing new. Run it again after whatever stopped it.\n\n" +
		"Example:\n  symlake load --store hbase://master:16000/symlake --keyset keyset.json"
}

// loadGCPercent keeps the heap near what is held: rows pass through, and little stays.
const loadGCPercent = 50

// Run copies published loads of one store into another.
func (j loadJob) Run(p *workspace) error {
	src, err := j.source(p)
	if err != nil {
		return err
	}
	if j.HFilesOut != "" {
		return j.export(p, src)
	}
	if src.storeURL() == p.storeURL() {
		return usage("source and target are both %s: name one with --from or --store", p.storeURL())
	}
	from, err := src.openRecords(true)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	defer from.Close()
	o := transfer.Options{From: transfer.Store{Store: from.Store, Keyring: from.ring}, Force: j.Force, Run: runID(j.RunID), Now: time.Now}
	o.Owner = owner(o.Run)
	if o.Artifacts, err = j.artifacts(p, from); err != nil {
		return err
	}
	p.heard = &notices{}
	to, unlock, err := p.createLocked(func() (func(), error) { return p.lockStore(j.IfLocked) })
	if errors.Is(err, errSkipLocked) {
		return p.reportLocked(j.Report, "load", o.Run)
	}
	if err != nil {
		return err
	}
	defer unlock()
	defer to.Close()
	o.To = transfer.Store{Store: to.Store, Keyring: to.ring}
	p.garbage.Limit(garbage.FirstHeapPercent, loadGCPercent, int64(p.config.Limits.Memory))
	if j.Force {
		if err := to.audit(p.ctx, "force", "load from "+src.storeURL()); err != nil {
			return err
		}
	}
	watch := p.watch("load")
	o.Progress = func(r ingest.CopyReport) { showCopy(watch, r) }
	report, err := ingest.Copy(p.ctx, o)
	watch.stop()
	report.From, report.To, report.Notes = src.storeURL(), p.storeURL(), p.heard.list
	if report.Artifacts.Copied > 0 {
		err = errors.Join(err, to.audit(p.ctx, "load", fmt.Sprintf("%d artifacts from %s", report.Artifacts.Copied, src.storeURL())))
		noteCopy(src, fmt.Sprintf("%d artifacts to %s", report.Artifacts.Copied, p.storeURL()))
	}
	if rerr := p.report(j.Report, "load-"+o.Run, report); rerr != nil && err == nil {
		err = rerr
	}
	if err == nil && report.Artifacts.Failed > 0 {
		err = fmt.Errorf("%d artifacts could not be copied: see the report, and symlake verify --store %s", report.Artifacts.Failed, src.storeURL())
	}
	return err
}

// failed reports a copy that did not begin.
func (j loadJob) failed(s *process, err error) error {
	p := newWorkspace(s)
	run := runID(j.RunID)
	return p.reportFailure(err, j.Report, "load-"+run, p.failure("load", run, err))
}

// noteCopy notes in the audit of the source where copies of it are, for whoever shreds or forgets there. Who may only
// read the source may copy it all the same.
func noteCopy(p *workspace, detail string) {
	s, err := p.openRecords(false)
	if err == nil {
		err = errors.Join(s.audit(p.ctx, "copied", detail), s.Close())
	}
	if err != nil {
		p.log.Warn("the source's audit does not know of this copy", "error", err.Error())
	}
}

// source is this process as it would be with the source as its store.
func (j loadJob) source(p *workspace) (*workspace, error) {
	url := j.From
	if url == "" && p.config.Store != "" && p.config.Store != p.storeURL() {
		url = p.config.Store
	}
	if url == "" {
		url = "file:" + defaultData
	}
	flags := *p.flags
	src := *p.process
	src.flags, flags.Store, flags.Keyset, flags.KMS = &flags, url, j.FromKeyset, j.FromKMS
	if dir := src.storeDir(); flags.Keyset == "" && flags.KMS == "" && dir != "" {
		if path := filepath.Join(dir, "keyset.json"); fileExists(path) {
			flags.Keyset = path
		}
	}
	return newWorkspace(&src), nil
}

// export writes files instead of loading them.
func (j loadJob) export(p, src *workspace) error {
	if len(j.Artifacts) > 0 {
		return usage("--hfiles-out writes the whole store: name no artifact")
	}
	unlock, err := src.lockStore(j.IfLocked)
	if err != nil {
		return err
	}
	defer unlock()
	from, err := src.openStore(true)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	defer from.Close()
	out, err := all.ExportHBase(p.ctx, from.Store, j.HFilesOut, p.storeURL())
	if err != nil {
		return fmt.Errorf("write HFiles into %s: %w", j.HFilesOut, err)
	}
	if p.flags.JSON {
		return p.printJSON(out)
	}
	_, err = fmt.Fprintf(p.out, "%d rows and %d records written; its keyset is the source's. To load them:\n  %s\n", out.Rows, out.Records, strings.Join(out.Commands, "\n  "))
	return err
}

// artifacts resolves the names given.
func (j loadJob) artifacts(p *workspace, from *records) ([]symbol.ID, error) {
	var ids []symbol.ID
	client := lookup.New(from.Store, from.kek, lookup.Options{})
	for _, name := range j.Artifacts {
		r := client.Resolve(p.ctx, name, lookup.Narrow{})
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

// showCopy shows how far a copy is.
func showCopy(w *progress, r ingest.CopyReport) {
	w.at(int64(r.Artifacts.Seen), fmt.Sprintf("load: %d batches, %d MB", r.Batches, r.Bytes/1e6), "load", slog.Int("seen", r.Artifacts.Seen),
		slog.Int("copied", r.Artifacts.Copied), slog.Int("batches", r.Batches), slog.Uint64("bytes", r.Bytes))
}
