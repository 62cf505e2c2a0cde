package macho

import (
	"bytes"
	"context"
	"errors"
	"path"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// hiddenMark begins what stands for a string in an image that was built from
// bitcode with its names hidden: "__hidden#12_" is line 12 of the symbol map.
const hiddenMark = "__hidden#"

const (
	mapMagic  = "BCSymbolMap Version:"
	mapSuffix = ".bcsymbolmap"
	mapID     = "bcsymbolmap:"
)

// SymbolMap recognizes BCSymbolMap files: companions of dSYMs.
var SymbolMap = formats.Format{Name: "bcsymbolmap", Version: 1,
	Detect: func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte(mapMagic)) },
	Open: func(_ context.Context, in *formats.Input) (*formats.Object, error) {
		id := strings.TrimSuffix(strings.ToLower(fileName(in.Name)), mapSuffix)
		return &formats.Object{Companions: []string{mapID + id}}, nil
	},
}

// symbolMap is the lines of such a file.
type symbolMap []string

func readSymbolMap(in *formats.Input) (symbolMap, error) {
	b, err := in.View(0, in.Size)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(b, []byte(mapMagic)) {
		return nil, &formats.Error{Format: "bcsymbolmap", Want: mapMagic, Err: formats.ErrCorrupt}
	}
	if n := bytes.Count(b, []byte{'\n'}); n > in.Limits.Symbols {
		return nil, &formats.Error{Format: "bcsymbolmap", Want: "fewer lines", Err: formats.ErrLimit}
	}
	_, text, _ := strings.Cut(string(b), "\n")
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines, nil
}

// maxUnhidden is how long a text may become before further marks stay: a line may stand for many of them.
const maxUnhidden = 1 << 20

// unhidden returns text as the object's symbol map has it, cut if it is too long.
func (o *object) unhidden(text string) string {
	return symbol.ShortName(o.symbolMap.unhidden(text), o.in.Limits.NameBytes)
}

// unhidden returns text with every mark replaced by its line, as far as there is
// one. Paths have a mark for each element.
func (m symbolMap) unhidden(text string) string {
	if !strings.Contains(text, hiddenMark) {
		return text
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, hiddenMark)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if b.Len() > maxUnhidden {
			return b.String() + hiddenMark + rest
		}
		digits, after, ended := strings.Cut(rest, "_")
		n, err := strconv.ParseUint(strings.TrimPrefix(digits, "#"), 10, 32)
		if !ended || err != nil || n >= uint64(len(m)) {
			b.WriteString(hiddenMark)
			text = rest
			continue
		}
		b.WriteString(m[n])
		text = after
	}
}

// unhideSymbols gives symbols their names back, if their names are hidden and
// there is a map.
func (o *object) unhideSymbols(ctx context.Context, symbols []native.Symbol) ([]native.Symbol, error) {
	hidden := false
	for i := range symbols {
		if hidden = strings.HasPrefix(symbols[i].Name, hiddenMark[1:]); hidden {
			break
		}
	}
	if !hidden {
		return symbols, nil
	}
	var err error
	if o.symbolMap, err = o.findSymbolMap(ctx); err != nil {
		return nil, err
	}
	if o.symbolMap == nil {
		o.missingMap = mapID + uuid(o.file.UUID())
		return symbols, nil
	}
	for i := range symbols {
		// The first underscore was taken for the compiler's.
		if s := &symbols[i]; strings.HasPrefix(s.Name, hiddenMark[1:]) {
			s.Name = strings.TrimPrefix(o.unhidden("_"+s.Name), "_")
		} else if strings.HasPrefix(s.Name, hiddenMark) {
			s.Name = strings.TrimPrefix(o.unhidden(s.Name), "_")
		}
	}
	return symbols, nil
}

// findSymbolMap asks for the map of this image: it is called by the UUID that
// the image had when it was uploaded, which a plist beside the dSYM notes where
// it is another one now.
func (o *object) findSymbolMap(ctx context.Context) (symbolMap, error) {
	if o.in.Companion == nil {
		return nil, nil
	}
	own := uuid(o.file.UUID())
	ids := []string{own}
	plist, err := o.companion(ctx, "", "../"+strings.ToUpper(own)+".plist")
	if err != nil {
		return nil, err
	}
	if original := originalUUID(plist); original != "" {
		ids = []string{original, own}
	}
	for _, id := range ids {
		for _, file := range []string{strings.ToUpper(id) + mapSuffix, path.Join("../../../../BCSymbolMaps", strings.ToUpper(id)+mapSuffix)} {
			var found symbolMap
			b, err := o.companionInput(ctx, mapID+id, file, func(in *formats.Input) (err error) {
				found, err = readSymbolMap(in)
				return err
			})
			if err != nil {
				return nil, err
			}
			if b {
				return found, nil
			}
		}
	}
	return nil, nil
}

// companion is the text of a small companion, "" if there is none.
func (o *object) companion(ctx context.Context, id, file string) (string, error) {
	const most = 1 << 20
	var text string
	_, err := o.companionInput(ctx, id, file, func(in *formats.Input) error {
		b, err := in.View(0, min(in.Size, most))
		text = string(b)
		return err
	})
	return text, err
}

// companionInput reads a companion; false if there is none, or a damaged one.
func (o *object) companionInput(ctx context.Context, id, file string, read func(*formats.Input) error) (bool, error) {
	in, err := o.in.Companion(ctx, formats.Ref{ID: id, Name: file})
	if errors.Is(err, formats.ErrNoCompanion) || formats.Rejects(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = read(in)
	if in.Release != nil {
		err = errors.Join(err, in.Release())
	}
	if formats.Rejects(err) {
		return false, nil
	}
	return err == nil, err
}

// originalUUID reads <key>DBGOriginalUUID</key><string>…</string>, in the form
// of canonical ids.
func originalUUID(plist string) string {
	_, rest, _ := strings.Cut(plist, "<key>DBGOriginalUUID</key>")
	_, rest, _ = strings.Cut(rest, "<string>")
	id, _, ok := strings.Cut(rest, "</string>")
	id = strings.ToLower(strings.TrimSpace(id))
	if !ok || len(id) != 36 {
		return ""
	}
	return id
}

// unhide gives the strings of runs their names back.
func (o *object) unhide(emit func(*symbol.Run) error) func(*symbol.Run) error {
	if o.symbolMap == nil {
		return emit
	}
	var texts []string
	var table any
	return func(r *symbol.Run) error {
		if r.Table != table {
			texts, table = texts[:0], r.Table
		}
		for i := len(texts); i < len(r.Strings); i++ {
			texts = append(texts, o.unhidden(r.Strings[i]))
		}
		own := *r
		own.Strings = texts[:len(r.Strings):len(r.Strings)]
		return emit(&own)
	}
}
