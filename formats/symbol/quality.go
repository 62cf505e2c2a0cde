package symbol

import "strings"

// Quality says how much of an artifact a load explains. Parsers fill Units,
// UnitsBroken, LinesBroken, Text and Split per part, ingest sums them and adds the rest
// from the swept ranges.
type Quality struct {
	Units       uint32 `json:"units"`
	UnitsBroken uint32 `json:"units_broken"`
	LinesBroken uint32 `json:"lines_broken"` // line number programs, or sequences of them, that were dropped

	Text       uint64 `json:"text"`        // bytes of executable segments (reported once, by part 0)
	Covered    uint64 `json:"covered"`     // bytes with an answer
	WithLine   uint64 `json:"with_line"`   // bytes with a line in the innermost frame
	WithInline uint64 `json:"with_inline"` // bytes with more than one frame

	// UnwindBroken counts functions, or whole sections, whose call frame information was dropped as damaged. Ingest fills it from
	// UnitsBroken of what formats.Artifact.Unwind returns.
	UnwindBroken uint32 `json:"unwind_broken,omitempty"`

	// Of mappings: lines that say something, those among them that do not parse, and what a
	// person should know ("line 12, column 5: want …"), without the text itself. Parsers give
	// the first few of a part.
	Lines    uint64   `json:"lines,omitempty"`
	BadLines uint64   `json:"bad_lines,omitempty"`
	Warnings []string `json:"warnings,omitempty"`

	// Missing names what the object refers to and this load could not read:
	// "dwo:ID" (16 hex digits; "dwo:NAME" of units without), "dwz:BUILD-ID". Sorted, without repeats.
	Missing []string `json:"missing,omitempty"`
}

// Add adds what a parser says of another part: sums, and copies of the names of
// missing parts. Warnings stay the caller's, which knows the order of parts.
func (q *Quality) Add(part Quality) {
	q.Units += part.Units
	q.UnitsBroken += part.UnitsBroken
	q.LinesBroken += part.LinesBroken
	q.Text += part.Text
	q.Lines += part.Lines
	q.BadLines += part.BadLines
	for _, m := range part.Missing {
		q.Missing = append(q.Missing, strings.Clone(m))
	}
}
