package term

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
)

// NewLogger returns the log of a command: lines for a person, or slog's JSON for scripts and collectors of logs.
func NewLogger(w io.Writer, v View, level slog.Level) *slog.Logger {
	if !v.People {
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(&handler{w: w, view: v, level: level, mu: new(sync.Mutex)})
}

// handler writes records as lines: time, level, words, key=value.
type handler struct {
	w      io.Writer
	view   View
	level  slog.Level
	mu     *sync.Mutex // around w, shared by copies
	prefix string      // of keys: the open groups
	attrs  string      // of each record, as text
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

// Handle implements slog.Handler.
func (h *handler) Handle(_ context.Context, r slog.Record) error {
	var b bytes.Buffer
	if !r.Time.IsZero() {
		b.WriteString(h.view.Paint(Dim, r.Time.Format("15:04:05")) + "  ")
	}
	name, ink := levelName(r.Level)
	b.WriteString(h.view.Paint(ink, fmt.Sprintf("%-5s", name)) + "  " + OneLine(r.Message) + h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		b.WriteString(h.text(h.prefix, a))
		return true
	})
	b.WriteByte('\n')
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.w.Write(b.Bytes())
	return err
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	for _, a := range attrs {
		next.attrs += h.text(h.prefix, a)
	}
	return &next
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	next := *h
	if name != "" {
		next.prefix += name + "."
	}
	return &next
}

// text returns an attribute as a line shows it, with a blank before it.
func (h *handler) text(prefix string, a slog.Attr) string {
	a.Value = a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return ""
	}
	if a.Value.Kind() == slog.KindGroup {
		var b strings.Builder
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, g := range a.Value.Group() {
			b.WriteString(h.text(prefix, g))
		}
		return b.String()
	}
	return " " + h.view.Paint(Dim, prefix+a.Key+"=") + value(a.Value)
}

// value returns a value as a line shows it: quoted where it would not be one word.
func value(v slog.Value) string {
	var s string
	switch v.Kind() {
	case slog.KindTime:
		s = v.Time().Format(time.RFC3339)
	case slog.KindFloat64:
		s = strconv.FormatFloat(v.Float64(), 'g', 4, 64)
	default:
		s = v.String()
	}
	if line := OneLine(s); line != s || s != "" && !strings.ContainsAny(s, " \"=") {
		return line
	}
	return strconv.Quote(s)
}

// levelName returns a level as people read it.
func levelName(l slog.Level) (name string, ink Ink) {
	switch {
	case l >= slog.LevelError:
		return "error", Red
	case l >= slog.LevelWarn:
		return "warn", Yellow
	case l >= slog.LevelInfo:
		return "info", Green
	}
	return "debug", Dim
}
