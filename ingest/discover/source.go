package discover

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/row"
)

// Source is a bucket, or one object of it, and says which of its objects are wanted.
type Source struct {
	Bucket  bucket.Bucket
	Key     string   // one object; "": everything
	Include []string // globs over keys; none: everything. ** crosses folders
	Exclude []string
	Names   string // pattern that finds APP and BUILD in keys: "android/{app}/{build}/**"

	// Owner and Rank name the source's owner, and how far symlake trusts it beside other sources. Only
	// the same owner or a higher rank replaces a published load. Sources without an owner belong to
	// one common owner.
	Owner string
	Rank  int
	Texts bool // keep the source texts that source maps carry, sealed as rows are

	// Dates says that keys begin with a day, as in "%Y/%m/%d/". A run lists only the last LookBack
	// days (0: 3), today and tomorrow. It lists everything if it did so longer than Full (0: 24
	// hours) ago.
	Dates    string
	LookBack int
	Full     time.Duration

	Hints Hints // nil: none

	// Inventory gives the source's objects, in any order, as they were some time ago. A run reads it
	// in place of a listing (nil: there is none).
	Inventory func(ctx context.Context, emit func(bucket.Entry) error) error
}

// Hints tells of objects that may be new before a listing does. A hint only brings an object
// forward: the next listing corrects hints that are missing or wrong.
type Hints interface {
	// Take returns the waiting hints, none if there are none. It does not wait long.
	Take(ctx context.Context) ([]Hint, error)
	// Done says that the run needs these hints no longer.
	Done(ctx context.Context, done []Hint) error
}

// Hint is one message about objects.
type Hint struct {
	// URLs names the objects. If two servers would write a key differently, it stands in both ways.
	URLs  []string
	Token string // identifies the message to its sender
}

// CheckedSource is a Source with patterns that parse.
type CheckedSource struct {
	Source
	Prefix string // the URLs of its objects begin with it

	include, exclude globs
	Names            *NamePattern
}

// NewSource checks the patterns of s.
func NewSource(s Source) (*CheckedSource, error) {
	if s.Bucket == nil {
		return nil, errors.New("a source without a bucket")
	}
	src, err := s.checked()
	if err == nil {
		src.Prefix = urlPrefix(s.Bucket)
	}
	return src, err
}

// CheckPatterns returns the first error in the patterns of s, which needs no bucket.
func (s Source) CheckPatterns() error {
	_, err := s.checked()
	return err
}

func (s Source) checked() (*CheckedSource, error) {
	src := &CheckedSource{Source: s}
	var err error
	if src.include, err = newGlobs(s.Include); err != nil {
		return nil, err
	}
	if src.exclude, err = newGlobs(s.Exclude); err != nil {
		return nil, err
	}
	if _, err := datePrefix(s.Dates, time.Time{}); err != nil {
		return nil, err
	}
	src.Names, err = ParseNames(s.Names)
	return src, err
}

// Check returns the first error in the patterns of sources.
func Check(srcs []Source) error {
	for _, s := range srcs {
		if _, err := NewSource(s); err != nil {
			return fmt.Errorf("source %s: %w", s.Bucket.URL(s.Key), err)
		}
	}
	return nil
}

// urlPrefix returns the part of the URLs of a bucket's objects before their keys.
func urlPrefix(b bucket.Bucket) string { return strings.TrimSuffix(b.URL(""), "/") + "/" }

// Standing returns the owner and rank of the source's objects.
func (s *CheckedSource) Standing() row.Standing { return row.Standing{Owner: s.Owner, Rank: s.Rank} }

// takes reports whether the source's globs accept a key.
func (s *CheckedSource) takes(key string) bool {
	return !s.exclude.match(key) && (len(s.include) == 0 || s.include.match(key))
}

// cutPrefix returns the key of a URL that lies in the source.
func (s *CheckedSource) cutPrefix(url string) (string, bool) {
	key, ok := strings.CutPrefix(url, s.Prefix)
	return key, ok && key != "" && (s.Key == "" || key == s.Key)
}

// Sources are the sources of a run.
type Sources []*CheckedSource

// NewSources checks the patterns of sources.
func NewSources(srcs []Source) (Sources, error) {
	var all Sources
	for _, s := range srcs {
		checked, err := NewSource(s)
		if err != nil {
			return nil, err
		}
		all = append(all, checked)
	}
	return all, nil
}

// Of returns the source that a URL, or a place in it ("URL!member"), belongs to: of nested sources
// the innermost, of equal ones the first with globs that accept the key. nil: there is none.
//
// takes reports whether the globs of the source accept the key. If they do not, the object lies in
// the source's bucket, but in a source that this run does not have.
func (all Sources) Of(url string) (found *CheckedSource, takes bool) {
	for _, s := range all {
		rest, ok := strings.CutPrefix(url, s.Prefix)
		if !ok || found != nil && len(s.Prefix) < len(found.Prefix) {
			continue
		}
		key, _, _ := strings.Cut(rest, "!")
		is := s.takes(key)
		if found == nil || len(s.Prefix) > len(found.Prefix) || is && !takes {
			found, takes = s, is
		}
	}
	return found, takes
}

// Have reports whether a place lies in one of the sources.
func (all Sources) Have(place string) bool {
	_, takes := all.Of(place)
	return takes
}

// Standing returns the standing of a place. If no source has the place, the ledger's answer counts
// (known; nil: the ledger was not asked).
func (all Sources) Standing(place string, known map[string]row.Standing) (s row.Standing, is bool) {
	if from, takes := all.Of(place); takes {
		return from.Standing(), true
	}
	s, is = known[place]
	return s, is
}

// Serve reports whether the file at a place may be a companion of an object of standing s: a
// companion changes that object's functions.
func (all Sources) Serve(place string, s row.Standing, known map[string]row.Standing) bool {
	from, is := all.Standing(place, known)
	return !is || from.MayReplace(s)
}

// Locate finds the source and the object that a place begins with, and the rest of the place: the
// member. The error is formats.ErrNoCompanion if no source has it.
func (all Sources) Locate(ctx context.Context, place string) (*CheckedSource, bucket.Entry, string, error) {
	for _, s := range all {
		rest, ok := strings.CutPrefix(place, s.Prefix)
		if !ok {
			continue
		}
		for end := len(rest); end > 0; end = strings.LastIndexByte(rest[:end], '!') {
			e, _, err := s.Bucket.Stat(ctx, rest[:end])
			if errors.Is(err, bucket.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, e, "", err
			}
			return s, e, strings.TrimPrefix(rest[end:], "!"), nil
		}
	}
	return nil, bucket.Entry{}, "", formats.ErrNoCompanion
}
