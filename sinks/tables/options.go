package tables

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/opentable"
)

// Options of a run.
type Options struct {
	Client *answer.Client
	// Input holds the rows: in the object Key or, if Key is empty, in every object of a known kind with a key that Take accepts
	// (nil: all).
	Input bucket.Bucket
	Key   string
	Take  func(key string) bool
	// Tables has a folder that is a table of Delta or Iceberg read as Snapshot of it: its files, and no other ones. Newest is
	// the snapshot that counts now.
	Tables   bool
	Snapshot int64
	// Output is where the results go, under the keys of their inputs; of one object under OutputKey, if that is given.
	Output    bucket.Bucket
	OutputKey string
	// OutputTable is the format of the table that the output becomes, delta or iceberg, as the input is: a new table at Output, or
	// the table there, which gets the rows in a new snapshot. "": files.
	OutputTable string

	Columns Columns
	Prefix  string   // before the names of columns that are added
	Added   []string // of AddedNames: the columns that Stream adds, without the prefix; nil: all
	Profile string   // of Parquet that is written: sealed or plain; "": as the input
	// Keys gives the keys of the lake, for sealed files.
	Keys func() (sinks.LakeKeys, error)

	// What rows do not say themselves: App is APP@BUILD; of Stack, Artifacts and Frame0 are for frames that are no text too.
	App      string
	Platform string
	Stack    report.Options

	Force       bool  // answer files again that have an output already
	MemoryBytes int64 // beside the client's cache; 0: 256 MiB
	DiskBytes   int64 // the most that scratch files may take; 0: no bound
	UnitRows    int64 // rows that are sorted together; 0: 64 M
	Workers     int   // 0: one
	Scratch     string

	Run   string // for the report
	Shard string // for the report: I/N where Take accepts one of N parts
	// Progress is called as rows are read and written, one call at a time; nil: never.
	Progress func(Event)
}

// Newest is the snapshot of a table that counts now.
const Newest = opentable.Newest

// Event is how far a run is.
type Event struct {
	Step  string // read, answer, write
	URL   string
	Rows  uint64 // done in this step
	All   uint64 // rows of this step; 0: not known
	Files int    // written
	Of    int    // files pending at the start
	Err   error  // of a file that was rejected or failed
}

const (
	defaultMemory   = 256 << 20
	defaultUnitRows = 64 << 20
)

func (o Options) withDefaults() Options {
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = defaultMemory
	}
	if o.UnitRows <= 0 {
		o.UnitRows = defaultUnitRows
	}
	if o.Workers <= 0 {
		o.Workers = 1
	}
	return o
}

// Role is what a column or field is for.
type Role string

// The roles.
const (
	RoleArtifact Role = "artifact" // any name of it; empty: what App names
	RoleAddress  Role = "address"  // of the file, as a number or text (0x1f3a, +0x1f3a, LINE:COLUMN)
	RoleFrame    Role = "frame"    // number of the frame in its stack; frame 0 is what Frame0 says
	RoleStack    Role = "stack"    // raw text
	RoleApp      Role = "app"
	RoleBuild    Role = "build"
	RolePlatform Role = "platform"
	RoleFrame0   Role = "frame0" // exact, return or stepped
)

var roles = []Role{RoleArtifact, RoleAddress, RoleFrame, RoleStack, RoleApp, RoleBuild, RolePlatform, RoleFrame0}

// Columns names the columns or fields that have a role. Without an entry a role has its own name, or of pairs
// frames.artifact and frames.address, and may be missing.
type Columns map[Role]string

// ParseColumns reads ROLE=NAME.
func ParseColumns(all []string) (Columns, error) {
	c := Columns{}
	for _, s := range all {
		role, name, ok := strings.Cut(s, "=")
		if !ok || name == "" || !slices.Contains(roles, Role(role)) {
			return nil, fmt.Errorf("column %q: want ROLE=NAME, ROLE one of %v", s, roles)
		}
		c[Role(role)] = name
	}
	return c, nil
}

// names are the names that a role's column may have, best first.
func (c Columns) names(r Role) []string {
	if n := c[r]; n != "" {
		return []string{n}
	}
	if r == RoleArtifact || r == RoleAddress {
		return []string{string(r), "frames." + string(r)}
	}
	return []string{string(r)}
}

// ErrInput says that a fault is the file's. The run goes on with other files.
var ErrInput = errors.New("input")

// Report is what a run did: the last line that the job prints.
type Report struct {
	Job     string    `json:"job"`
	Run     string    `json:"run,omitempty"`
	Shard   string    `json:"shard,omitempty"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`

	Table  *TableVersion `json:"table,omitempty"`        // that was read, if the input is one
	Output *TableVersion `json:"output_table,omitempty"` // that has the rows, if OutputTable was asked for
	Files  FileCounts    `json:"files"`
	Rows   uint64        `json:"rows"`
	Frames uint64        `json:"frames"`
	// Recognized counts the rows with a frame that symlake reads: all but those with the status invalid.
	Recognized uint64            `json:"recognized"`
	Unread     uint64            `json:"unread"`        // parts of texts that look like frames and were not read
	Distinct   uint64            `json:"distinct"`      // places that were looked up
	Statuses   map[string]uint64 `json:"statuses"`      // rows by status
	Groups     int               `json:"group_version"` // of the rule that made the column group
	Again      uint64            `json:"again"`         // rows that may have another answer once more symbols are there
	Bytes      struct {
		Read    int64 `json:"read"` // sizes of the inputs
		Written int64 `json:"written"`
		Spilled int64 `json:"spilled"`
	} `json:"bytes"`
	Outputs  []string    `json:"outputs"` // 1,000 at most
	Rejected []Rejection `json:"rejected"`
	Failed   []Rejection `json:"failed,omitempty"`
	Untold   int         `json:"untold,omitempty"` // more than the lists name
}

// TableVersion is a version of a table.
type TableVersion struct {
	Format   string `json:"format"`   // delta or iceberg
	Snapshot int64  `json:"snapshot"` // of Delta: the version
}

// FileCounts counts inputs by what became of them.
type FileCounts struct {
	Seen     int `json:"seen"`
	Done     int `json:"done"`    // by an earlier run: the output is there, and not older
	Skipped  int `json:"skipped"` // of no kind that is read
	Written  int `json:"written"`
	Rejected int `json:"rejected"`
	Failed   int `json:"failed"`
}

// Rejection names a file and its fault.
type Rejection struct {
	URL   string `json:"url"`
	Error string `json:"error"`
}

const maxTold = 1000
