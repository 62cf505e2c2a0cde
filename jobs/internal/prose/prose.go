// Package prose tells a person in one paragraph what a job did. Scripts get the job's report instead.
package prose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/transfer"
	"github.com/symlake/symlake/ingest/upkeep/forget"
	"github.com/symlake/symlake/ingest/upkeep/gc"
	"github.com/symlake/symlake/ingest/upkeep/keys"
	"github.com/symlake/symlake/ingest/upkeep/verify"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/sinks/tables"
)

// words is a paragraph in the making.
type words struct{ list []string }

// add adds a sentence.
func (w *words) add(format string, args ...any) {
	w.list = append(w.list, fmt.Sprintf(format, args...))
}

// if1 adds a sentence about n things, if there are any: as one or as many says it.
func (w *words) if1(n int, one, many string) {
	switch {
	case n == 1:
		w.add("%s", one)
	case n > 1:
		w.add("%s", strings.ReplaceAll(many, "#", term.Count(n)))
	}
}

func (w *words) String() string { return strings.Join(w.list, " ") }

// Ingest sums up a run of ingest.
func Ingest(r *report.Report, dryRun bool) string {
	w, o := &words{}, r.Objects
	took := " in " + term.Seconds(r.Seconds)
	switch {
	case dryRun:
		w.add("Dry run, nothing was changed: %s, %s new.", term.Counted(o.Seen, "object"), term.Count(o.New))
	case o.Renamed > 0:
		w.add("Renamed the artifacts of %s%s.", term.Counted(o.Renamed, "object"), took)
	case o.New == 0 && o.Loaded == 0:
		w.add("Nothing new: %s seen%s.", term.Counted(o.Seen, "object"), took)
	default:
		w.add("Loaded %s of %s (%s seen)%s.", term.Count(o.Loaded), term.Counted(o.New, "new object"), term.Count(o.Seen), took)
	}
	if !dryRun && r.Artifacts > 0 {
		var holds []string
		if r.Ranges > 0 || r.Classes == 0 {
			holds = append(holds, term.Counted(r.Ranges, "range"))
		}
		if r.Classes == 1 {
			holds = append(holds, "1 class")
		} else if r.Classes > 1 {
			holds = append(holds, term.Count(r.Classes)+" classes")
		}
		w.add("Published %s with %s.", term.Counted(r.Artifacts, "artifact"), strings.Join(holds, " and "))
		w.add("Read %s; the rows take %s%s.", term.Size(r.Bytes.Read), term.Size(r.Bytes.Stored), inLake(r.Bytes.Lake))
	}
	objects(w, &o)
	w.if1(o.Pending, "1 object is still pending: run it again.", "# objects are still pending: run it again.")
	w.if1(o.Elsewhere, "Another process works on 1 object.", "Other processes work on # objects.")
	w.if1(r.Conflicted, "1 artifact belongs to another owner: see symlake objects --state conflict.", "# artifacts belong to other owners: see symlake objects --state conflict.")
	w.if1(len(r.Held), "1 load was held back, because it answers less than the published one.", "# loads were held back, because they answer less than the published ones.")
	w.if1(len(r.Warnings), "The parsers warn of 1 object.", "The parsers warn # times.")
	w.if1(len(r.Wanted), "1 name came that stacks had asked for in vain: symbolicate them again.", "# names came that stacks had asked for in vain: symbolicate them again.")
	if e := r.Earlier; e != nil {
		w.add("Earlier runs could not tell that they loaded %s and rejected %s.", term.Counted(e.Objects.Loaded, "object"), term.Count(e.Objects.Rejected))
	}
	if r.Error != "" {
		w.add("The run failed.")
	}
	return w.String()
}

// objects tells what became of objects that were not loaded.
func objects(w *words, o *report.ObjectCounts) {
	w.if1(o.Kept, "1 object brought only artifacts that are there.", "# objects brought only artifacts that are there.")
	skipped, why := 0, []string{}
	for reason, n := range o.Skipped {
		skipped += n
		why = append(why, fmt.Sprintf("%s %s", term.Count(n), reason))
	}
	slices.Sort(why)
	if skipped > 0 {
		w.add("Skipped %s: %s.", term.Counted(skipped, "object"), strings.Join(why, ", "))
	}
	w.if1(o.Rejected, "1 object was rejected: see symlake objects --state rejected.", "# objects were rejected: see symlake objects --state rejected.")
	w.if1(o.Failed, "1 object failed: run it again.", "# objects failed: run it again.")
	w.if1(o.Gone, "1 object is no longer in its source.", "# objects are no longer in their sources.")
}

func inLake(n int64) string {
	if n == 0 {
		return ""
	}
	return " in the store, the tables " + term.Size(n) + " in the lake"
}

// Locked says that another process had the store.
func Locked(store string) string {
	return fmt.Sprintf("Another process works on store %s: nothing was done.", store)
}

// Copy sums up a load of one store into another.
func Copy(r *transfer.Report) string {
	w, a := &words{}, r.Artifacts
	w.add("Copied %s of %s from %s to %s in %s: %s, %s.", term.Count(a.Copied), term.Counted(a.Seen, "artifact"), r.From, r.To, term.Seconds(r.Seconds),
		term.Counted(r.Rows, "row"), term.Size(r.Bytes))
	w.if1(r.Objects, "1 entry of the ledger came along.", "# entries of the ledger came along.")
	w.if1(a.Failed, "1 artifact could not be copied.", "# artifacts could not be copied.")
	return w.String()
}

// Tables sums up a run of symbolicate over tables.
func Tables(r *tables.Report) string {
	w := &words{}
	w.add("Wrote %s with %s and %s in %s: read %s, wrote %s.", term.Counted(r.Files.Written, "file"), term.Counted(r.Rows, "row"), term.Counted(r.Frames, "frame"),
		term.Seconds(r.Seconds), term.Size(r.Bytes.Read), term.Size(r.Bytes.Written))
	w.if1(r.Files.Rejected, "1 file was rejected.", "# files were rejected.")
	w.if1(r.Files.Failed, "1 file failed: run it again.", "# files failed: run it again.")
	for _, f := range r.Rejected {
		w.add("%s: %s.", f.URL, f.Error)
	}
	return w.String()
}

// Verify sums up a verification.
func Verify(r *verify.Report) string {
	w := &words{}
	w.add("Read back %s of %s in %s: %s, %s, %s.", term.Counted(r.Loads, "load"), term.Counted(r.Artifacts, "artifact"), term.Seconds(r.Seconds),
		term.Counted(r.Rows, "row"), term.Counted(r.Ranges, "range"), term.Size(r.Bytes))
	w.if1(r.Noted, "An earlier run had read 1 of the loads.", "An earlier run had read # of the loads.")
	w.add("The lake names %s, the ledger has %s, the audit %s.", term.Counted(r.InLake, "artifact"), term.Counted(r.Objects, "object"), term.Counted(r.Events, "event"))
	w.if1(r.Shredded, "The keys of 1 load are shredded.", "The keys of # loads are shredded.")
	w.if1(r.Waiting, "1 piece of work is on its way.", "# pieces of work are on their way.")
	if n := len(r.Problems); n == 0 {
		w.add("No problems.")
	} else {
		w.add("%s found.", term.Counted(n, "problem"))
	}
	return w.String()
}

// Collect sums up a gc.
func Collect(r *gc.Report, dryRun bool) string {
	w := &words{}
	if dryRun {
		w.add("Dry run, nothing was changed: gc would remove %s of %s.", term.Counted(r.Loads, "load"), term.Counted(r.Artifacts, "artifact"))
	} else {
		w.add("Removed %s of %s in %s, and freed %s.", term.Counted(r.Loads, "load"), term.Counted(r.Artifacts, "artifact"), term.Seconds(r.Seconds), term.Size(r.Freed))
	}
	w.if1(r.Orphans, "1 of the loads had no record.", "# of the loads had no record.")
	w.if1(r.Names, "1 name led nowhere.", "# names led nowhere.")
	w.if1(r.Records, "1 record was empty.", "# records were empty.")
	w.if1(r.Lost, "1 previous load has lost its rows: no rollback reaches it.", "# previous loads have lost their rows: no rollback reaches them.")
	w.if1(r.Renewed, "1 record has a smaller form now.", "# records have a smaller form now.")
	w.if1(len(r.Damaged), "1 artifact is damaged, and stays as it is: see symlake verify.", "# artifacts are damaged, and stay as they are: see symlake verify.")
	return w.String()
}

// Compact sums up a compaction of the lake.
func Compact(r *projection.CompactReport, dryRun bool) string {
	w := &words{}
	if dryRun {
		w.add("Dry run, nothing was changed.")
	}
	w.add("Rewrote %s as %s and deleted %s in %s.", term.Counted(r.Rewritten, "file"), term.Count(r.Written), term.Count(r.Deleted), term.Seconds(r.Seconds))
	w.add("The lake has %s, before it had %s.", term.Size(r.After), term.Size(r.Before))
	if r.Added+r.Dropped+r.Facts > 0 {
		w.add("Added %s, dropped %s, brought names or counts of %s up to date.", term.Counted(r.Added, "artifact"), term.Count(r.Dropped), term.Count(r.Facts))
	}
	return w.String()
}

// Forget sums up a forget.
func Forget(r *forget.Report) string {
	w := &words{}
	if r.DryRun {
		w.add("Dry run, nothing was changed: forget would remove %s with %s, %s.", term.Counted(r.Artifacts, "artifact"), term.Counted(r.Loads, "load"), term.Size(r.Bytes))
	} else {
		w.add("Forgot %s with %s, %s, in %s.", term.Counted(r.Artifacts, "artifact"), term.Counted(r.Loads, "load"), term.Size(r.Bytes), term.Seconds(r.Seconds))
	}
	w.if1(r.Renamed, "1 artifact loses a build, and stays for others.", "# artifacts lose a build, and stay for others.")
	w.if1(r.Objects, "1 object of the ledger holds nothing else.", "# objects of the ledger hold nothing else.")
	if !r.DryRun && r.Artifacts > 0 {
		w.add("symlake compact frees their space in the lake.")
	}
	return w.String()
}

// Rotate sums up a rotation of store keys. resealed is nil where none was asked for.
func Rotate(r *keys.RotateReport, rehomed int, resealed *keys.ResealReport) string {
	w := &words{}
	w.add("Store key %d seals from now on: %s and %s are under it, in %s.", r.Version, term.Counted(r.DataKeys, "data key"), term.Counted(r.Records, "record"), term.Seconds(r.Seconds))
	if r.Resumed {
		w.add("It finished a rotation that was cut short.")
	}
	w.if1(rehomed, "1 store key has a new key-encryption key.", "# store keys have a new key-encryption key.")
	if resealed != nil {
		w.add("%s of %s have new data keys.", term.Counted(resealed.Loads, "load"), term.Counted(resealed.Artifacts, "artifact"))
	}
	w.if1(len(r.Failed)+r.Untold, "1 record does not open.", "# records do not open.")
	w.add("Run symlake compact --rekey, then symlake gc: it deletes the old store key after its grace.")
	return w.String()
}
