package report

import "strings"

const (
	// MaxUnread parts of one report are kept, each with its place.
	MaxUnread = 32
	// MaxUnreadMembers of a frame are named.
	MaxUnreadMembers = 12
)

// Unread is a part of an input that looks like frames, or that holds frames, and that no dialect reads.
type Unread struct {
	// Why says in one sentence, without a period, why the part stays unread. Parts of one kind have one
	// sentence: they are counted by it. See the constants below.
	Why string
	// Path is the place of the part in JSON, as jq takes it: ".exception.values[0].frames"; "" in other text.
	Path string
	// Members are the names of the members of the part's first frame.
	Members []string
	// Frames is how many frames the part has, as far as it was read; 0: not known.
	Frames int
	// Named: the frames have their names already, so nothing would be looked up. They are no fault.
	Named bool
}

// The sentences of Unread.Why that several dialects say.
const (
	WhyShape  = "no known shape of an event has such frames"
	WhyNamed  = "the frames have their names already"
	WhyDeep   = "the JSON is nested too deep"
	WhyBase64 = "the base64 text holds no tombstone"
	WhyList   = "base64 in a list has no place for its text: give it a name"
	WhyCut    = "the text is cut"
	WhyMore   = "more parts of the report are unread"
)

// AddUnread adds a part to others. Parts whose paths differ by indexes alone become one, with the path of the first.
// Behind MaxUnread parts it only counts.
func AddUnread(parts []Unread, u Unread) []Unread {
	path := withoutIndexes(u.Path)
	for i := range parts {
		if p := &parts[i]; p.Why == u.Why && p.Named == u.Named && withoutIndexes(p.Path) == path {
			p.Frames += u.Frames
			return parts
		}
	}
	if len(parts) < MaxUnread {
		u.Members = u.Members[:min(len(u.Members), MaxUnreadMembers)]
		return append(parts, u)
	}
	last := &parts[len(parts)-1]
	if last.Why != WhyMore {
		*last = Unread{Why: WhyMore, Frames: last.Frames}
	}
	last.Frames += u.Frames
	return parts
}

// withoutIndexes returns a path with "[]" for each index.
func withoutIndexes(path string) string {
	if !strings.Contains(path, "[") {
		return path
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(path, "[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if _, path, found = strings.Cut(rest, "]"); !found {
			b.WriteString("[" + rest)
			return b.String()
		}
		b.WriteString("[]")
	}
}
