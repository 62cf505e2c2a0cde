package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/compact"
	"github.com/symlake/symlake/sinks/row"
)

// ObjectState is where an object of the ledger stands. Durable.
type ObjectState string

// The states of an object.
const (
	ObjectPending ObjectState = "pending" // listed, not opened yet
	ObjectLoading ObjectState = "loading" // an attempt was noted before it was opened
	ObjectLoaded  ObjectState = "loaded"  // all its artifacts are published, in the lake too
	// all its artifacts are published, and the lake does not name them yet
	ObjectPublished ObjectState = "published"
	ObjectKept      ObjectState = "kept"     // the published load is better
	ObjectConflict  ObjectState = "conflict" // the published load belongs to another owner
	ObjectSkipped   ObjectState = "skipped"  // no format knows it
	ObjectRejected  ObjectState = "rejected" // quarantined
	ObjectFailed    ObjectState = "failed"   // the environment failed; tried again
	ObjectGone      ObjectState = "gone"     // no longer listed
)

// Object is the ledger's entry of one object: the "o" record. Its JSON is the form of earlier versions, and is durable.
type Object struct {
	URL      string      `json:"-"` // the record's key, in clear
	ETag     string      `json:"etag,omitempty"`
	Size     int64       `json:"size"`
	Modified time.Time   `json:"modified,omitzero"`
	State    ObjectState `json:"state"`
	Reason   string      `json:"reason,omitempty"`
	Attempts int         `json:"attempts,omitempty"` // that failed, one after the other, on these bytes
	// Interrupted counts the processes that died, or lost their lease, while it was open, one after the other.
	Interrupted int          `json:"interrupted,omitempty"`
	Owner       row.WorkerID `json:"owner,omitzero"` // the worker that has it open: loading and published only
	// Again says of an object at work that it had ended before: By counts how, from Artifacts.
	Again     bool             `json:"again,omitempty"`
	First     time.Time        `json:"first,omitzero"` // seen first, tried last
	Last      time.Time        `json:"last,omitzero"`
	Seconds   float64          `json:"seconds,omitempty"` // of the last attempt
	Run       string           `json:"run,omitempty"`
	By        row.WorkerID     `json:"by,omitzero"`       // the account that tells the state
	Standing  row.Standing     `json:"standing,omitzero"` // of the source that it was taken from last
	App       string           `json:"app,omitempty"`     // APP@BUILD that its artifacts were named after
	Artifacts []ObjectArtifact `json:"artifacts,omitempty"`
	Parsers   map[string]int   `json:"parsers,omitempty"` // versions of the formats that looked at it

	stored
	rest []byte // its plain text, where that was not read whole
}

// The counters of objects. Each has a text behind it.
const (
	CountObjects = "objects/" // a state
	CountBacklog = "backlog/" // the second since 1970 in which an object that is not done was seen first
	CountRejects = "rejects/" // the kind of a reason
	CountRun     = "run/"     // a state, a slash, and the run that touched the object last
	CountLast    = "last/"    // a run: the nanosecond since 1970 of its last object
)

// Whole reads the fields that Between left unread.
func (o *Object) Whole() error {
	if o.rest == nil {
		return nil
	}
	whole := Object{URL: o.URL, stored: o.stored}
	if err := parse(o.rest, &whole); err != nil {
		return fmt.Errorf("ledger of %s: %w", o.URL, err)
	}
	*o = whole
	return nil
}

// InBacklog reports whether an object is listed and not done.
func (o *Object) InBacklog() bool {
	switch o.State {
	case ObjectPending, ObjectLoading, ObjectPublished, ObjectFailed:
		return true
	}
	return false
}

func (o *Object) counts(_ records, add func(sinks.Count)) error {
	if err := o.Whole(); err != nil {
		return err
	}
	add(sinks.Count{Name: CountObjects + string(o.State), By: 1})
	if o.InBacklog() {
		add(sinks.Count{Name: CountBacklog + strconv.FormatInt(o.First.Unix(), 10), By: 1})
	}
	if o.State == ObjectRejected {
		add(sinks.Count{Name: CountRejects + ReasonKind(o.Reason), By: 1})
	}
	add(sinks.Count{Name: CountRun + string(o.State) + "/" + o.Run, By: 1})
	add(sinks.Count{Name: CountLast + o.Run, By: o.Last.UnixNano(), Most: true})
	return nil
}

// ObjectArtifact is what became of one artifact of an object.
type ObjectArtifact struct {
	ID      symbol.ID `json:"-"`
	Member  string    `json:"member,omitempty"`
	Outcome string    `json:"outcome"` // loaded, kept, skipped, rejected, held, conflict
	Error   string    `json:"error,omitempty"`
}

// UnmarshalJSON reads the artifact of earlier versions, which has the ID beside the fields.
func (a *ObjectArtifact) UnmarshalJSON(b []byte) (err error) {
	type fieldsAlone ObjectArtifact
	f := struct {
		ID string `json:"id"`
		*fieldsAlone
	}{fieldsAlone: (*fieldsAlone)(a)}
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	if f.ID != "" {
		a.ID, err = symbol.ParseID(f.ID)
	}
	return err
}

// Bits of an entry's fields that need not be there. Durable.
const (
	objectETag = 1 << iota
	objectParsers
	objectDated // the second number of the ETag is the time of the last change in nanoseconds
	objectFirst
	objectLast
	objectSeconds
	objectRun
	objectBy
	objectArtifacts
	objectModified
	objectSize // it is not the number with which the ETag begins
	objectReason
	objectOwner
	objectAttempts
	objectInterrupted
	objectAgain
	objectStanding
	objectApp
	objectBits = iota
)

// Bits of the fields of an ObjectArtifact. Durable.
const (
	artifactID = 1 << iota
	artifactMember
	artifactError
	artifactBits = iota
)

func (o *Object) write(w *compact.Writer) {
	var bits uint64
	dated := !o.Modified.IsZero() && o.Modified.Equal(dateOf(o.ETag))
	set := func(bit uint64, on bool) {
		if on {
			bits |= bit
		}
	}
	set(objectETag, o.ETag != "")
	set(objectSize, o.Size != compact.First(o.ETag))
	set(objectReason, o.Reason != "")
	set(objectOwner, o.Owner != row.WorkerID{})
	set(objectParsers, len(o.Parsers) > 0)
	set(objectModified, !o.Modified.IsZero() && !dated)
	set(objectDated, dated)
	set(objectAttempts, o.Attempts != 0)
	set(objectInterrupted, o.Interrupted != 0)
	set(objectAgain, o.Again)
	set(objectFirst, !o.First.IsZero())
	set(objectLast, !o.Last.IsZero())
	set(objectSeconds, o.Seconds != 0)
	set(objectRun, o.Run != "")
	set(objectBy, o.By != row.WorkerID{})
	set(objectStanding, o.Standing != row.Standing{})
	set(objectApp, o.App != "")
	set(objectArtifacts, len(o.Artifacts) > 0)
	has := func(bit uint64) bool { return bits&bit != 0 }
	w.Uint(bits)
	w.Text(string(o.State))
	if has(objectETag) {
		w.Text(o.ETag)
	}
	if has(objectReason) {
		w.Text(o.Reason)
	}
	if has(objectOwner) {
		o.Owner.Write(w)
	}
	if has(objectParsers) {
		var p compact.Writer
		for _, name := range slices.Sorted(maps.Keys(o.Parsers)) {
			p.Text(name)
			p.Int(int64(o.Parsers[name]))
		}
		w.Bytes(p.B)
	}
	if has(objectSize) {
		w.Int(o.Size)
	}
	if dated {
		w.Base(o.Modified)
	}
	if has(objectModified) {
		w.Time(o.Modified)
	}
	if has(objectAttempts) {
		w.Int(int64(o.Attempts))
	}
	if has(objectInterrupted) {
		w.Int(int64(o.Interrupted))
	}
	if has(objectFirst) {
		w.Time(o.First)
	}
	if has(objectLast) {
		w.Time(o.Last)
	}
	if has(objectSeconds) {
		w.Seconds(o.Seconds)
	}
	if has(objectRun) {
		w.Text(o.Run)
	}
	if has(objectBy) {
		o.By.Write(w)
	}
	if has(objectStanding) {
		o.Standing.Write(w)
	}
	if has(objectApp) {
		w.Text(o.App)
	}
	if has(objectArtifacts) {
		w.Uint(uint64(len(o.Artifacts)))
		for i := range o.Artifacts {
			o.Artifacts[i].write(w)
		}
	}
}

func (o *Object) read(r *compact.Reader) {
	bits := o.readHead(r, &parsersOf{})
	has := func(bit uint64) bool { return bits&bit != 0 }
	if o.Size = compact.First(o.ETag); has(objectSize) {
		o.Size = r.Int()
	}
	if has(objectDated) {
		if o.Modified = dateOf(o.ETag); o.Modified.IsZero() {
			r.Fail("an ETag without a time")
		}
		r.Base(o.Modified)
	}
	if has(objectModified) {
		o.Modified = r.Time()
	}
	if has(objectAttempts) {
		o.Attempts = int(r.Int())
	}
	if has(objectInterrupted) {
		o.Interrupted = int(r.Int())
	}
	if has(objectFirst) {
		o.First = r.Time()
	}
	if has(objectLast) {
		o.Last = r.Time()
	}
	if has(objectSeconds) {
		o.Seconds = r.Seconds()
	}
	if has(objectRun) {
		o.Run = r.Text()
	}
	if has(objectBy) {
		o.By = row.ReadWorkerID(r)
	}
	if has(objectStanding) {
		o.Standing = row.ReadStanding(r)
	}
	if has(objectApp) {
		o.App = r.Text()
	}
	if has(objectArtifacts) {
		o.Artifacts = make([]ObjectArtifact, r.Count())
		for i := range o.Artifacts {
			o.Artifacts[i].read(r)
		}
	}
	o.Again = has(objectAgain)
}

// readHead reads the fields that a listing is compared with.
func (o *Object) readHead(r *compact.Reader, last *parsersOf) (bits uint64) {
	bits = r.Bits(objectBits)
	o.State = ObjectState(r.Text())
	if bits&objectETag != 0 {
		o.ETag = r.Text()
	}
	if bits&objectReason != 0 {
		o.Reason = r.Text()
	}
	if bits&objectOwner != 0 {
		o.Owner = row.ReadWorkerID(r)
	}
	if bits&objectParsers != 0 {
		o.Parsers = last.read(r)
	}
	return bits
}

// head reads the fields that a listing is compared with from the plain text of an entry.
func (o *Object) head(last *parsersOf) error {
	if !isJSON(o.rest) {
		r, err := reader(o.rest)
		if err != nil {
			return err
		}
		o.readHead(r, last)
		return damage(r.Err())
	}
	var f struct {
		ETag    string          `json:"etag"`
		State   ObjectState     `json:"state"`
		Reason  string          `json:"reason"`
		Owner   row.WorkerID    `json:"owner"`
		Parsers json.RawMessage `json:"parsers"`
	}
	err := json.Unmarshal(o.rest, &f)
	if err == nil && !bytes.Equal(f.Parsers, last.text) {
		last.versions, last.text = nil, f.Parsers
		if f.Parsers != nil {
			err = json.Unmarshal(f.Parsers, &last.versions)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", row.ErrUnauthentic, err)
	}
	o.ETag, o.State, o.Reason, o.Owner = f.ETag, f.State, f.Reason, f.Owner
	if f.Parsers != nil {
		o.Parsers = last.versions
	}
	return nil
}

// parsersOf holds the parsers of the entry that was read last. Most entries have the same.
type parsersOf struct {
	text     []byte // as that entry has them
	versions map[string]int
}

func (p *parsersOf) read(r *compact.Reader) map[string]int {
	text := r.Bytes()
	if text != nil && bytes.Equal(text, p.text) {
		return p.versions
	}
	p.text, p.versions = text, make(map[string]int)
	list := compact.NewReader(text)
	for len(list.Rest()) > 0 {
		name := list.Text()
		p.versions[name] = int(list.Int())
	}
	if err := list.Err(); err != nil {
		r.Fail("parsers: %w", err)
		p.text = nil
	}
	return p.versions
}

// dateOf returns the time in the ETag of a local file, SIZE-NANOSECONDS-INODE; zero if there is none.
func dateOf(etag string) time.Time {
	_, rest, _ := strings.Cut(etag, "-")
	date, _, ok := strings.Cut(rest, "-")
	ns, err := strconv.ParseInt(date, 10, 64)
	if !ok || err != nil {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

func (a *ObjectArtifact) write(w *compact.Writer) {
	var bits uint64
	if a.ID != (symbol.ID{}) {
		bits |= artifactID
	}
	if a.Member != "" {
		bits |= artifactMember
	}
	if a.Error != "" {
		bits |= artifactError
	}
	w.Uint(bits)
	w.Text(a.Outcome)
	if bits&artifactID != 0 {
		w.Raw(a.ID[:])
	}
	if bits&artifactMember != 0 {
		w.Text(a.Member)
	}
	if bits&artifactError != 0 {
		w.Text(a.Error)
	}
}

func (a *ObjectArtifact) read(r *compact.Reader) {
	bits := r.Bits(artifactBits)
	a.Outcome = r.Text()
	if bits&artifactID != 0 {
		copy(a.ID[:], r.Raw(len(a.ID)))
	}
	if bits&artifactMember != 0 {
		a.Member = r.Text()
	}
	if bits&artifactError != 0 {
		a.Error = r.Text()
	}
}

// ReasonKind returns what a reason has in common with others of its kind: "elf: corrupt input" of a
// parser's error, else the text before the second colon, without numbers. So counts by reason stay few.
func ReasonKind(reason string) string {
	if m := parserError().FindStringSubmatch(reason); m != nil {
		return m[1] + ": " + m[2]
	}
	parts := strings.SplitN(reason, ": ", 3)
	if len(parts) > 2 {
		parts = parts[:2]
	}
	return anyNumber().ReplaceAllString(strings.Join(parts, ": "), "N")
}

// The expressions are compiled when the first reason is asked for.
var (
	parserError = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z0-9]+): \S+\+0x[0-9a-f]+: ([^:]+)`)
	})
	anyNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(0x)?[0-9][0-9a-fA-F]*`) })
)
