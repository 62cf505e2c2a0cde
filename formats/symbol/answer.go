package symbol

// Status is the outcome of one question. The words stand in the output of the command
// line's contract.
type Status string

// Every outcome of a look-up. All but Found carry a reason.
const (
	Found       Status = "found"
	Hole        Status = "hole"        // known to have no answer
	Outside     Status = "outside"     // beyond the image
	NoArtifact  Status = "no-artifact" // it was never handed in
	Ambiguous   Status = "ambiguous"   // the name fits several artifacts
	Pending     Status = "pending"     // its object is listed, not loaded yet
	Loading     Status = "loading"     // its first load is under way
	Rejected    Status = "rejected"    // its object was seen and quarantined
	Unavailable Status = "unavailable" // store or key service out of reach
	Sealed      Status = "sealed"      // the key is gone or refused
	Corrupt     Status = "corrupt"     // stored bytes differ from the written ones
)

// Retry reports whether asking again later can change the outcome.
func (s Status) Retry() bool { return s == Unavailable || s == Loading || s == Pending }

// Answer is the outcome of one question.
type Answer struct {
	Status Status
	// Frames stand innermost first and are shared with caches: read only. Found and none: the
	// frame has no place in the source, and is dropped from its stack.
	Frames []Frame
	// Offset is how far behind the beginning of its symbol the place lies, in code with
	// symbols alone; 0 where that was not asked for.
	Offset uint64
	Or     [][]Frame // other chains that may be meant instead of Frames, where a mapping leaves several
	Err    error     // the reason, for every status but Found
}

// Reason says in one sentence why an answer is not Found.
func (a Answer) Reason() string {
	if a.Err != nil {
		return a.Err.Error()
	}
	switch a.Status {
	case Hole:
		return "nothing is known about this position"
	case Outside:
		return "the position is beyond the image"
	case NoArtifact:
		return "no such artifact"
	}
	return string(a.Status)
}

// Frame is one line of an answer.
type Frame struct {
	Function string // demangled; filled by the lookup client
	Linkage  string // as stored
	File     string // "": unknown
	Line     uint32 // 0: unknown
	Column   uint32 // 0: unknown; see Site
	Name     string // scripts: the identifier that the map gives at this place, as the source spells it; "": none
	Ignored  bool   // scripts: the source is none of the application's own
	Compiled string // scripts: the function of the script around this place, where it has another name than Function; "": it has not, or is unknown
}

// Readable returns the function's name for people: demangled, or as stored where the client filled in no other.
func (f *Frame) Readable() string {
	if f.Function != "" {
		return f.Function
	}
	return f.Linkage
}
