package wire

import (
	"math"

	"github.com/symlake/symlake/formats/profile"
)

// NewProfile returns the counts of a profile. Its frames are distinct places; its unread parts stay as they came.
func NewProfile(c *profile.Counts) *Summary {
	s := &Summary{Profile: c.Format, Samples: c.Samples, Recognized: clamp(c.Places + c.Named), Answered: clamp(c.Answered)}
	for _, u := range c.Unanswered {
		s.count(Unanswered{Frames: clamp(u.Places), Image: u.Image, Status: string(u.Status), Reason: u.Reason})
	}
	if c.Named > 0 {
		s.count(Unanswered{Frames: clamp(c.Named), Status: statusNamed, Reason: "the profile has their names"})
	}
	for _, k := range c.Kept {
		s.addUnread(Unread{Path: k.Where, Parts: k.Parts, Reason: k.Why})
	}
	s.End()
	return s
}

func clamp(n uint64) int { return int(min(n, math.MaxInt32)) }
