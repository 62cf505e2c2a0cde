package profiles

import (
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/all"
)

// Of returns the form of a profile; nil: it is none of the forms.
func Of(in *profile.Input) (*profile.Format, error) {
	_, head, _, err := profile.Unpack(in)
	if err != nil {
		return nil, err
	}
	return profile.Find(all.Formats, head), nil
}

// Output is the form that a profile is written in.
type Output struct {
	Form *profile.Format // nil: the form that came in
	Pack bool            // with gzip, if the form or the profile is not packed anyway
}

// ErrOutput says that a profile cannot be written in a form. Asking again does not help.
var ErrOutput = errors.New("no conversion")

// vague are endings of names that say nothing of a form, or that several forms share.
var vague = []string{".json", ".json.gz", ".txt", ".gz", ".pb", ".data", ".bin", ".out", ".log", ".script", ".prof"}

// Asks reports whether the name of a file asks for a form of profiles, and for nothing else: records hold stacks, too.
func Asks(name string) bool {
	f, ending, _ := byEnding(nil, strings.ToLower(name))
	return f != nil && f.Name != "ndjson" && !slices.Contains(vague, ending)
}

// byEnding returns the form with the longest ending of a name; packed: ".gz" stands behind it. Among equal endings, from's
// counts.
func byEnding(from *profile.Format, name string) (to *profile.Format, ending string, packed bool) {
	for i, name := range []string{name, strings.TrimSuffix(name, ".gz")} {
		for _, f := range all.Formats {
			for _, e := range f.Endings {
				if (len(e) > len(ending) || e == ending && f == from) && strings.HasSuffix(name, e) {
					to, ending = f, e
				}
			}
		}
		if to != nil {
			return to, ending, i > 0
		}
	}
	return nil, "", false
}

// File returns the output that the name of a file asks for, for a profile of a form. Names that ask for no form get the
// profile's own. The error is ErrOutput.
func File(from *profile.Format, name string) (Output, error) {
	name = strings.ToLower(name)
	to, ending, packed := byEnding(from, name)
	if to == nil || to == from || to.Write == nil && slices.Contains(vague, ending) {
		return Output{Pack: strings.HasSuffix(name, ".gz")}, nil
	}
	return Output{to, packed}, able(from, to)
}

// Named returns the output of a request: a form's name or an ending without its first period; "" is the profile's own
// form. The error is ErrOutput.
func Named(from *profile.Format, name string) (Output, error) {
	if name == "" || strings.EqualFold(name, from.Name) {
		return Output{}, nil
	}
	for _, f := range all.Formats {
		if f.Name == name || slices.Contains(f.Endings, "."+strings.ToLower(name)) {
			if f == from {
				return Output{}, nil
			}
			return Output{Form: f}, able(from, f)
		}
	}
	return Output{}, fmt.Errorf("%w: no form is called %q: want one of %s", ErrOutput, name, strings.Join(written(), ", "))
}

// Accepted returns the output that a header Accept asks for. Media types that no form has ask for the profile's own form.
func Accepted(from *profile.Format, accept string) Output {
	for part := range strings.SplitSeq(accept, ",") {
		media, _, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		if slices.Contains(from.Media, media) {
			return Output{}
		}
		for _, f := range all.Formats {
			if slices.Contains(f.Media, media) && able(from, f) == nil {
				return Output{Form: f}
			}
		}
	}
	return Output{}
}

// able reports why a profile of one form cannot be written in another.
func able(from, to *profile.Format) error {
	switch {
	case from.Samples == nil:
		return fmt.Errorf("%w: %s has no samples in common with other forms", ErrOutput, from.Title)
	case to.Write == nil:
		return fmt.Errorf("%w: nothing is converted to %s: want one of %s", ErrOutput, to.Title, strings.Join(written(), ", "))
	}
	return nil
}

// written returns the endings of the forms that profiles are converted to.
func written() (endings []string) {
	for _, f := range all.Formats {
		if f.Write != nil {
			endings = append(endings, strings.TrimPrefix(f.Endings[0], "."))
		}
	}
	return endings
}
