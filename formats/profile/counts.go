package profile

import (
	"slices"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Counts tell what a profile was, and what became of it.
type Counts struct {
	Format   string // its Name
	Samples  uint64 // that were read
	Places   uint64 // that were asked for, each once
	Answered uint64 // of these, with status found
	Named    uint64 // places that had their names already, and stay as they came
	// Unanswered are the places without an answer, by image, status and reason, in the order of their first.
	Unanswered []Unanswered
	// Kept are parts that stay as they came because they could not be read, by reason. They are faults of the input.
	Kept []Kept

	unanswered map[Unanswered]int
}

// Unanswered are places that share image, status and reason.
type Unanswered struct {
	Image  string // the file or artifact that the places name
	Status symbol.Status
	Reason string
	Places uint64
}

// Kept are parts that stay as they came.
type Kept struct {
	Why   string // one sentence, without a period
	Where string // the place of the first: "packet at 0x1f4a"
	Parts uint64
}

// mostReasons are counted apart; more share the last one.
const mostReasons = 4096

// Keep counts a part that cannot be read and stays as it came. All parts of a reason share one sentence.
func (c *Counts) Keep(why, where string) {
	i := slices.IndexFunc(c.Kept, func(k Kept) bool { return k.Why == why })
	if i < 0 {
		i = len(c.Kept)
		c.Kept = append(c.Kept, Kept{Why: why, Where: where})
	}
	c.Kept[i].Parts++
}

// place counts a place that was asked for.
func (c *Counts) place(f *report.Frame, a *symbol.Answer) {
	c.Places++
	if a.Status == symbol.Found {
		c.Answered++
		return
	}
	c.miss(Unanswered{Image: imageOf(f), Status: a.Status, Reason: a.Reason()}, 1)
}

// Class counts an obfuscated class that was asked for. Without an answer the class keeps the name that it has.
func (c *Counts) Class(answered bool) {
	if !answered {
		c.Named++
		return
	}
	c.Places++
	c.Answered++
}

// Miss counts places that were asked for in vain, and that share image, status and reason.
func (c *Counts) Miss(image string, status symbol.Status, reason string, places uint64) {
	c.Places += places
	c.miss(Unanswered{Image: image, Status: status, Reason: reason}, places)
}

// miss counts places by their reason.
func (c *Counts) miss(key Unanswered, places uint64) {
	i, known := c.unanswered[key]
	if !known {
		if c.unanswered == nil {
			c.unanswered = map[Unanswered]int{}
		}
		if i = len(c.Unanswered); i == mostReasons {
			c.Unanswered[i-1].Places += places
			return
		}
		c.unanswered[key] = i
		c.Unanswered = append(c.Unanswered, key)
	}
	c.Unanswered[i].Places += places
}

// imageOf names the image of a place.
func imageOf(f *report.Frame) string {
	if f.File == "" && len(f.Image) > 0 {
		return f.Image[0]
	}
	return f.File
}
