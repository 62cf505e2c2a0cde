package query

import (
	"bufio"
	"fmt"
	"log/slog"
	"strings"

	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/report/unread"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/wire"
)

// mostUnread parts of an input have a line of their own on standard error.
const mostUnread = 5

// notices tells of the frames that symbolicate did not recognize, read or answer.
type notices struct {
	p      *session.Session
	json   bool // records are printed
	strict bool
	going  bool         // answers that the store failed to give do not fail the command
	places bool         // of a profile are counted, no frames
	all    wire.Summary // of all inputs
	short  []string     // inputs that --strict does not accept
}

// input tells of one input that has been read. It writes the summary where a record of it is wanted.
func (n *notices) input(w *bufio.Writer, name string, s *wire.Summary, sample *unread.Sample) error {
	s.Input = name
	s.End()
	if s.Recognized == 0 {
		n.nothing(s, sample)
	} else {
		n.unread(s)
	}
	if s.Notable() {
		n.short = append(n.short, name)
	}
	counts := *s
	counts.Unread = nil
	n.all.Merge(&counts)
	if n.json && (n.strict || s.Notable()) {
		return term.WriteJSON(w, s.Record())
	}
	return nil
}

// nothing describes an input in which no frame was recognized, in one line.
func (n *notices) nothing(s *wire.Summary, sample *unread.Sample) {
	s.LookedFor, s.Looks = unread.LookedFor(all.Dialects), sample.Looks()
	words := []any{"input", s.Input, "looked_for", s.LookedFor, "looks", s.Looks}
	if form, ok := sample.Nearest(unread.Forms(all.Dialects)); ok {
		s.Nearest = fmt.Sprintf("%s, with lines like %q", form.Name, form.Line)
		words = append(words, "nearest", s.Nearest)
	}
	for i := range s.Unread[:min(len(s.Unread), mostUnread)] {
		words = append(words, "unread", unreadText(&s.Unread[i]))
	}
	n.p.Log.Warn("no frame was recognized", words...)
}

// unread names the parts of an input that look like frames, if others were recognized.
func (n *notices) unread(s *wire.Summary) {
	for i := range s.Unread {
		if i == mostUnread {
			n.p.Log.Warn(fmt.Sprintf("not read: and %d parts more", len(s.Unread)-i), "input", s.Input)
			return
		}
		n.p.Log.Warn("not read", "input", s.Input, "part", unreadText(&s.Unread[i]))
	}
}

// unreadText describes a part in a few words.
func unreadText(u *wire.Unread) string {
	var b strings.Builder
	switch {
	case u.Frames == 1:
		b.WriteString("1 frame")
	case u.Frames > 1:
		fmt.Fprintf(&b, "%d frames", u.Frames)
	case u.Parts > 1:
		fmt.Fprintf(&b, "%d parts", u.Parts)
	default:
		b.WriteString("a part")
	}
	if u.Path != "" {
		b.WriteString(" at " + u.Path)
	}
	if len(u.Members) > 0 {
		b.WriteString(" with " + strings.Join(u.Members, ", "))
	}
	return b.String() + ": " + u.Reason
}

// storeFailed is the error of a command that printed everything, and had to print it without some answers.
func storeFailed(status symbol.Status, reason string) error {
	return fmt.Errorf("%s: %s (--keep-going exits 0 all the same)", status, reason)
}

// end counts the frames without an answer by their reasons, the most frequent first. The error is that of the store, or the
// verdict of --strict.
func (n *notices) end() error {
	n.all.End()
	counted := "frames"
	if n.places {
		counted = "places"
	}
	for _, u := range n.all.Unanswered {
		words := []any{counted, u.Frames}
		if u.Reasons > 0 {
			n.p.Log.Warn(fmt.Sprintf("not symbolicated: and %d more", u.Reasons), words...)
			continue
		}
		if u.Image != "" {
			words = append(words, "image", u.Image)
		}
		words = append(words, "status", u.Status, "reason", u.Reason)
		if u.Final() {
			n.p.Log.Info("not symbolicated", words...)
		} else {
			n.p.Log.Warn("not symbolicated", words...)
		}
	}
	if u, failed := n.all.Failure(); failed && !n.going {
		return storeFailed(symbol.Status(u.Status), u.Reason)
	}
	if n.strict && len(n.short) > 0 {
		if n.p.Log.Enabled(n.p.Ctx, slog.LevelWarn) { // the log has told all
			return &exit.Error{Code: exit.Rejected}
		}
		return &exit.Error{Code: exit.Rejected, Err: fmt.Errorf("--strict: not everything was recognized in %s", strings.Join(n.short[:min(len(n.short), mostUnread)], ", "))}
	}
	return nil
}
