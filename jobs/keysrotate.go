package jobs

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/upkeep/keys"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/prose"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

type keysListJob struct{}

func (keysListJob) Help() string { return "Example:\n  symlake keys list\n  symlake keys list --json" }

// storeKeyJSON is one version of the store key.
type storeKeyJSON struct {
	Version  uint32     `json:"version"`
	KEK      string     `json:"kek,omitempty"`
	Made     *time.Time `json:"made,omitempty"`
	Finished bool       `json:"finished"`  // false: a rotation to it was cut short
	DataKeys int        `json:"data_keys"` // loads with a data key under it
	Records  int        `json:"records"`   // of the catalog, sealed under it
	Lake     int        `json:"lake_files"`
}

// Run prints the versions, oldest first.
func (keysListJob) Run(p *workspace.Workspace) error {
	s, err := p.OpenRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	versions, err := row.StoreKeys(p.Ctx, s.Store.Catalog)
	if err != nil {
		return err
	}
	use, err := s.Keys.Counted(p.Ctx)
	if err != nil {
		return err
	}
	lake, err := p.OpenLake(s, false)
	var files map[uint32]int
	if err == nil {
		files, err = lake.Keys(p.Ctx)
	}
	if err != nil && !errors.Is(err, workspace.ErrNoLake) {
		return err
	}
	table := p.Table(term.Column{Name: "KEY", Right: true}, term.Column{Name: "MADE", Spare: 2}, term.Column{Name: "AGE", Right: true}, term.Column{Name: "DATA KEYS", Right: true},
		term.Column{Name: "RECORDS", Right: true}, term.Column{Name: "LAKE FILES", Right: true}, term.Column{Name: "ROTATION"}, term.Column{Name: "UNDER", Least: 12, Spare: 1})
	for _, v := range versions {
		k := storeKeyJSON{Version: v.Version, KEK: v.KEK, Finished: !v.Finished.IsZero(),
			DataKeys: use.DataKeys[v.Version], Records: use.Records[v.Version], Lake: files[v.Version]}
		if !v.Made.IsZero() {
			k.Made = &v.Made
		}
		switch {
		case table != nil:
			err = table.Row(k.cells()...)
		case p.Flags.JSON:
			err = p.PrintJSON(k)
		default:
			_, err = fmt.Fprintln(p.Out, k)
		}
		if err != nil {
			return err
		}
	}
	if table != nil {
		return table.Flush()
	}
	return nil
}

// cells returns the row of a table.
func (k storeKeyJSON) cells() []string {
	made, age, state := "-", "-", "over"
	if k.Made != nil {
		made, age = k.Made.Local().Format(time.DateTime), term.Age(*k.Made, time.Now())
	}
	if !k.Finished {
		state = "not over"
	}
	return []string{fmt.Sprint(k.Version), made, age, term.Count(k.DataKeys), term.Count(k.Records), term.Count(k.Lake), state, k.KEK}
}

func (k storeKeyJSON) String() string {
	made, state := "", ""
	if k.Made != nil {
		made = ", made " + k.Made.UTC().Format(time.RFC3339)
	}
	if k.KEK != "" {
		made += ", under " + k.KEK
	}
	if !k.Finished {
		state = ", rotation not over"
	}
	return fmt.Sprintf("store key %d%s: %d data keys, %d records, %d files of the lake%s", k.Version, made, k.DataKeys, k.Records, k.Lake, state)
}

type keysRotateJob struct {
	Artifacts  []string `arg:"" optional:"" name:"artifact" help:"With --reseal: any name of what gets new data keys. Without one: everything."`
	Reseal     bool     `help:"Make new data keys, too, and seal rows again: when a data key became known."`
	FromKeyset string   `help:"Keyset that the store is under now. --kms or --keyset names the next key." type:"path" placeholder:"FILE" xor:"from"`
	FromKMS    string   `name:"from-kms" help:"Key of AWS KMS that the store is under now." placeholder:"ARN" xor:"from"`
	IfLocked   string   `help:"If an ingest writes the store: wait, skip (exit code 0) or fail." enum:"wait,skip,fail" default:"wait" placeholder:"HOW"`
}

// Supervised: the command runs in a worker.
func (keysRotateJob) Supervised() bool { return true }

func (keysRotateJob) Help() string {
	return "Rows stay unchanged, and readers read on. If a rotation stops, run it again: it goes on from there. The old store key " +
		"stays until symlake compact --rekey has moved the lake and symlake gc deletes the key.\n\n" +
		"Example:\n  symlake keys rotate\n  symlake keys rotate --from-keyset keyset.json --kms arn:aws:kms:…"
}

// rotateJSON is the report of a rotation.
type rotateJSON struct {
	*keys.RotateReport
	Rehomed  int                `json:"rehomed,omitempty"` // store keys that are under another key-encryption key now
	Resealed *keys.ResealReport `json:"resealed,omitempty"`
}

// Run rotates, and reseals.
func (j keysRotateJob) Run(p *workspace.Workspace) error {
	if len(j.Artifacts) > 0 && !j.Reseal {
		return exit.Usage("artifacts are for --reseal: all of a store's keys rotate together")
	}
	unlock, err := p.LockStore(j.IfLocked)
	if errors.Is(err, workspace.ErrSkipLocked) {
		return p.Sum("", "", map[string]any{"job": "rotate", "started": time.Now().UTC(), "locked": true}, prose.Locked(p.StoreURL()))
	}
	if err != nil {
		return err
	}
	defer unlock()
	var out rotateJSON
	if j.FromKeyset != "" || j.FromKMS != "" {
		if out.Rehomed, err = j.rehome(p); err != nil {
			return err
		}
	}
	s, err := p.OpenRecords(false)
	if err != nil {
		return err
	}
	defer s.Close()
	if out.Rehomed > 0 {
		if err := s.NoteEvent(p.Ctx, "rehome", fmt.Sprintf("%d store keys to %s", out.Rehomed, s.KEK.ID())); err != nil {
			return err
		}
	}
	var ids []symbol.ID
	if j.Reseal {
		if ids, err = j.artifacts(p, s); err != nil {
			return err
		}
	}
	watch := p.Watch("keys rotate")
	defer watch.Stop()
	total := 0
	if watch.HasBar() {
		use, err := s.Keys.Counted(p.Ctx)
		if err != nil {
			return err
		}
		for _, n := range use.Records {
			total += n
		}
	}
	out.RotateReport, err = keys.Rotate(p.Ctx, keys.RotateOptions{Store: s.Store, Keyring: s.Ring, Progress: func(r keys.RotateReport) {
		text := fmt.Sprintf("rotate: %d data keys", r.DataKeys)
		watch.At(term.Step{Done: int64(r.Records), Total: int64(max(total, r.Records)), Unit: "record"}, text, slog.Int("data_keys", r.DataKeys), slog.Int("records", r.Records))
	}})
	watch.Stop()
	if out.Version == 0 { // no store key was made
		return err
	}
	if aerr := s.NoteEvent(p.Ctx, "rotate", fmt.Sprintf("to store key %d: %d data keys, %d records", out.Version, out.DataKeys, out.Records)); err == nil {
		err = aerr
	}
	if err == nil && j.Reseal {
		out.Resealed, err = j.reseal(p, s, ids)
	}
	return errors.Join(err, j.print(p, out))
}

// rehome wraps the store's keys by another key-encryption key.
func (j keysRotateJob) rehome(p *workspace.Workspace) (int, error) {
	from := session.KeyPlace{Keyset: j.FromKeyset, KMS: p.KeyPlace().KMS}
	from.KMS.Key = j.FromKMS
	old, err := from.Open(p.Ctx)
	if err != nil {
		return 0, err
	}
	s, err := p.OpenStore(false)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return row.Rehome(p.Ctx, s.Store.Catalog, old, s.KEK)
}

func (j keysRotateJob) artifacts(p *workspace.Workspace, s *session.Records) (ids []symbol.ID, err error) {
	if len(j.Artifacts) > 0 {
		return p.Resolve(s, j.Artifacts)
	}
	err = s.Artifacts.Each(p.Ctx, func(r *catalog.Record) error {
		ids = append(ids, r.ID)
		return nil
	})
	return ids, err
}

func (j keysRotateJob) reseal(p *workspace.Workspace, s *session.Records, ids []symbol.ID) (*keys.ResealReport, error) {
	lake, err := p.CreateLake(s, "")
	if err != nil {
		return nil, err
	}
	watch := p.Watch("reseal")
	defer watch.Stop()
	r, err := keys.Reseal(p.Ctx, keys.ResealOptions{Store: s.Store, Keyring: s.Ring, Lake: lake, Artifacts: ids,
		MemoryBytes: int64(p.Config.Limits.Memory), Scratch: p.Scratch(), Owner: workspace.Owner(workspace.RunID("")), Progress: func(r keys.ResealReport) {
			text := fmt.Sprintf("reseal: %d MB", r.Bytes/1e6)
			watch.At(term.Step{Done: int64(r.Artifacts), Total: int64(len(ids)), Unit: "artifact", Bytes: int64(r.Bytes)}, text, slog.Int("artifacts", r.Artifacts), slog.Uint64("bytes", r.Bytes))
		}})
	detail := fmt.Sprintf("%d loads of %d artifacts", r.Loads, r.Artifacts)
	if len(j.Artifacts) > 0 {
		detail += ": " + strings.Join(j.Artifacts, " ")
	}
	if aerr := s.NoteEvent(p.Ctx, "reseal", detail); err == nil {
		err = aerr
	}
	if err == nil {
		err = publishTables(p, lake)
	}
	return r, err
}

func (j keysRotateJob) print(p *workspace.Workspace, out rotateJSON) error {
	line := fmt.Sprintf("store key %d: %d data keys and %d records brought under it in %.1f s\n", out.Version, out.DataKeys, out.Records, out.Seconds)
	if out.Resealed != nil {
		line += fmt.Sprintf("%d loads of %d artifacts have new data keys; the rows under the old ones go with symlake gc after its grace\n", out.Resealed.Loads, out.Resealed.Artifacts)
	}
	return p.Print(out, prose.Rotate(out.RotateReport, out.Rehomed, out.Resealed), line)
}
