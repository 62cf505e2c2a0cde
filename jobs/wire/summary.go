package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf16"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/unread"
	"github.com/symlake/symlake/formats/symbol"
)

// Summary counts the frames of an input. The zero value counts none. In NDJSON it stands behind the records of its input,
// as a record of its own with an empty list of threads: see SummaryRecord.
type Summary struct {
	Input      string `json:"input,omitempty"`   // its name
	Profile    string `json:"profile,omitempty"` // name of its form, if it is a profile: frames are then its distinct places
	Samples    uint64 `json:"samples,omitempty"` // of a profile
	Recognized int    `json:"recognized"`        // frames
	Answered   int    `json:"answered"`          // of these, with status found
	// Unanswered are the other recognized frames, the most frequent reason first.
	Unanswered []Unanswered `json:"unanswered,omitempty"`
	// Unread are parts that look like frames, and that no dialect reads. Their frames are not recognized.
	Unread []Unread `json:"unread,omitempty"`

	LookedFor string `json:"looked_for,omitempty"` // if nothing was recognized
	Looks     string `json:"looks,omitempty"`      // what such an input looks like
	Nearest   string `json:"nearest,omitempty"`    // the form whose lines are most like the input's

	head   []byte             // of the text without frames, for Describe
	groups []Unanswered       // all, in the order of their first frames
	known  map[Unanswered]int // in groups, by all but Frames
	last   int                // in groups: the one that was counted last
	more   Unanswered         // of groups that are not kept
	failed Unanswered         // the first that the store failed to answer; no status: there is none
}

// Unanswered are frames that share image, status and reason.
type Unanswered struct {
	Frames  int    `json:"frames"`
	Image   string `json:"image,omitempty"` // the file or artifact that the frames name
	Status  string `json:"status"`          // as of an answer; "named": the frames had their names already; "other": of reasons that are not listed
	Reason  string `json:"reason"`
	Reasons int    `json:"reasons,omitempty"` // of "other": how many
}

// Unread is a part of an input that looks like frames and that no dialect reads.
type Unread struct {
	Path    string   `json:"path,omitempty"` // in JSON, as jq takes it
	Frames  int      `json:"frames,omitempty"`
	Parts   uint64   `json:"parts,omitempty"`   // of a profile, that stay as they came
	Members []string `json:"members,omitempty"` // of the first frame
	Reason  string   `json:"reason"`
}

// Final reports whether symbols that come later leave the frames as they are.
func (u *Unanswered) Final() bool {
	return u.Status == string(symbol.Hole) || u.Status == string(symbol.Outside) || u.Status == statusNamed
}

const (
	mostGroups     = 4096     // are counted apart
	mostUnanswered = 20       // are listed
	headRoom       = 16 << 10 // bytes of a text without frames are kept
)

// Statuses of Unanswered that no answer has.
const (
	statusNamed = "named"
	statusOther = "other"
)

// Add counts the frames of a report with its answers, [thread][frame]. Without answers it counts them as recognized.
func (s *Summary) Add(r *report.Report, answers [][]symbol.Answer) {
	for i := range r.Unread {
		s.unread(&r.Unread[i])
	}
	if room := headRoom - len(s.head); len(r.Threads) == 0 && s.Recognized == 0 && room > 0 {
		s.head = append(s.head, r.Text[:min(room, len(r.Text))]...)
	}
	for t := range r.Threads {
		frames := r.Threads[t].Frames
		if t >= len(answers) {
			s.Recognized += len(frames)
			continue
		}
		for i := range frames {
			f, a := &frames[i], &answers[t][i]
			switch {
			case Silent(f, a):
				continue
			case a.Status == symbol.Found:
				s.Answered++
			default:
				s.count(Unanswered{Frames: 1, Image: imageOf(f, a.Status), Status: string(a.Status), Reason: a.Reason()})
			}
			s.Recognized++
		}
	}
}

// imageOf returns the image by which unanswered frames are counted. Positions without an answer are counted by their
// mapping.
func imageOf(f *report.Frame, status symbol.Status) string {
	switch {
	case f.Managed != nil && status == symbol.Hole, f.File == "" && len(f.Image) == 0:
		return ""
	case f.File == "":
		return f.Image[0]
	}
	return f.File
}

// count counts frames without an answer.
func (s *Summary) count(u Unanswered) {
	if s.failed.Status == "" && Failed(symbol.Status(u.Status)) {
		s.failed = u
	}
	key := u
	key.Frames = 0
	if s.last < len(s.groups) { // frames of one image often follow each other
		g := &s.groups[s.last]
		if g.Reason == u.Reason && g.Image == u.Image && g.Status == u.Status && u.Status != statusOther {
			g.Frames += u.Frames
			return
		}
	}
	at, known := s.known[key]
	switch {
	case u.Status == statusOther, !known && len(s.groups) >= mostGroups:
		s.more.Frames += u.Frames
		s.more.Reasons += max(u.Reasons, 1)
	case known:
		s.last = at
		s.groups[at].Frames += u.Frames
	default:
		if s.known == nil {
			s.known = map[Unanswered]int{}
		}
		s.last = len(s.groups)
		s.known[key] = s.last
		s.groups = append(s.groups, u)
	}
}

// unread counts a part that no dialect reads.
func (s *Summary) unread(u *report.Unread) {
	if u.Named {
		s.Recognized += u.Frames
		s.count(Unanswered{Frames: u.Frames, Status: statusNamed, Reason: u.Why})
		return
	}
	s.addUnread(Unread{Path: u.Path, Frames: u.Frames, Members: u.Members, Reason: u.Why})
}

// addUnread adds a part. Those behind the bound are counted together.
func (s *Summary) addUnread(u Unread) {
	for i := range s.Unread {
		if known := &s.Unread[i]; known.Path == u.Path && known.Reason == u.Reason {
			known.Frames += u.Frames
			known.Parts += u.Parts
			return
		}
	}
	if len(s.Unread) < report.MaxUnread {
		s.Unread = append(s.Unread, u)
		return
	}
	last := &s.Unread[len(s.Unread)-1]
	*last = Unread{Frames: last.Frames + u.Frames, Parts: last.Parts + u.Parts, Reason: report.WhyMore}
}

// Merge adds the counts of another part of the input, or of another input.
func (s *Summary) Merge(o *Summary) {
	s.Recognized += o.Recognized
	s.Answered += o.Answered
	groups := o.groups
	if groups == nil { // it came as JSON
		groups = o.Unanswered
	} else if o.more.Frames > 0 {
		s.more.Frames += o.more.Frames
		s.more.Reasons += o.more.Reasons
	}
	for _, u := range groups {
		s.count(u)
	}
	for _, u := range o.Unread {
		s.addUnread(u)
	}
	if s.failed.Status == "" {
		s.failed = o.failed
	}
}

// Failed reports whether a status says that the store failed to answer. Another attempt, or a repaired store, may answer.
func Failed(s symbol.Status) bool { return s == symbol.Unavailable || s == symbol.Corrupt }

// Failure returns the first frames that the store failed to answer; ok is false if there are none.
func (s *Summary) Failure() (u Unanswered, ok bool) { return s.failed, s.failed.Status != "" }

// End lists the reasons: the most frequent first, and those behind the bound as one.
func (s *Summary) End() {
	all := slices.Clone(s.groups)
	slices.SortStableFunc(all, func(a, b Unanswered) int { return -cmp.Compare(a.Frames, b.Frames) })
	listed := min(len(all), mostUnanswered)
	more := Unanswered{Frames: s.more.Frames, Status: statusOther, Reason: "more reasons than are listed", Reasons: s.more.Reasons + len(all) - listed}
	for _, u := range all[listed:] {
		more.Frames += u.Frames
	}
	if s.Unanswered = all[:listed:listed]; more.Reasons > 0 {
		s.Unanswered = append(s.Unanswered, more)
	}
}

// Describe says what the input looks like, if nothing was recognized.
func (s *Summary) Describe(dialects []report.Dialect) {
	if s.Recognized > 0 {
		return
	}
	s.Looks = unread.Looks(s.head)
	if form, ok := unread.Nearest(s.head, unread.Forms(dialects)); ok {
		s.Nearest = fmt.Sprintf("%s, with lines like %q", form.Name, form.Line)
	}
}

// Notable reports whether records must have the summary: nothing was recognized, or a part stayed unread.
func (s *Summary) Notable() bool { return s.Recognized == 0 || len(s.Unread) > 0 }

// SummaryHeader is the HTTP header, or trailer of a streamed answer, with the summary as JSON.
const SummaryHeader = "Symlake-Summary"

// headerBytes bound a summary in a header.
const headerBytes = 4 << 10

// Header returns the summary as the text of a header: JSON in ASCII. Lists are cut if they are long; the counts stay.
func (s *Summary) Header() string {
	short := *s
	for {
		text := ascii(short.AppendMembers([]byte{'{'}))
		text = append(text, '}')
		n := max(len(short.Unanswered), len(short.Unread))
		if len(text) <= headerBytes || n == 0 && short.Looks == "" {
			return string(text)
		}
		short.Unanswered, short.Unread = short.Unanswered[:min(n/2, len(short.Unanswered))], short.Unread[:min(n/2, len(short.Unread))]
		if n == 0 {
			short.Looks, short.Nearest, short.LookedFor = "", "", ""
		}
	}
}

// AppendMembers appends the summary's members as JSON, without the brackets of an object.
func (s *Summary) AppendMembers(to []byte) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil { // of strings and numbers: it cannot fail
		return to
	}
	return append(to, bytes.TrimSuffix(b.Bytes()[1:], []byte("}\n"))...)
}

// ascii returns JSON with escapes in place of letters beyond ASCII.
func ascii(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		switch {
		case r < 0x80:
			out = append(out, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// SummaryRecord is a summary as a record of NDJSON: a stack without threads.
type SummaryRecord struct {
	Format  string   `json:"format"`
	Threads []Thread `json:"threads"`
	*Summary
}

// AppendRecord appends the record and its line end.
func (s *Summary) AppendRecord(to []byte) []byte {
	return append(s.AppendMembers(append(to, `{"format":"","threads":[],`...)), "}\n"...)
}

// Record returns the summary as a record.
func (s *Summary) Record() SummaryRecord { return SummaryRecord{Threads: []Thread{}, Summary: s} }
