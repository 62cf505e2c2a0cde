// Package dart reads the maps of names that Dart's compiler writes
// (gen_snapshot --save-obfuscation-map, `flutter build --obfuscate`): a JSON
// array of strings, an original name and its replacement in turn.
//
// Dart's code itself comes in ELF and Mach-O files, which formats/elf and
// formats/macho read: DWARF 2 of one unit with the producer "Dart …". Its
// sections may have no bytes but the debug information. They record the symbols
// that traces count from as anchors (symbol.DartIsolate and its kin), in every
// form of the file: app.*.symbols, libapp.so, a deferred loading unit,
// App.framework and its dSYM. formats/report reads the traces, sinks/lookup brings
// all three together.
//
// Recent compilers write DWARF with original names, so a map is needed for
// texts of the program itself, above all the classes of exceptions; in older
// symbols it also gives functions their names.
//
// Invariants:
//   - a map is read whole or rejected: a lost string would shift every pair behind it;
//   - of several pairs for one replacement the first counts, the others make warnings;
//   - a name that replaces itself is a pair as any other: it tells that the compiler
//     kept the name.
//
// A map has no id of its own. It is known by the SHA-256 of its bytes, by its
// file's name, and by the builds of the programs beside it (symbol.DartBuild):
// Flutter writes both to one folder.
package dart

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/elffile"
	"github.com/symlake/symlake/formats/internal/machofile"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

const name = "dart-names"

// Format reads maps of names.
var Format = formats.Format{Name: name, Version: 3, Detect: detect, Open: open}

const (
	// maxBytes bounds a map: it is held whole. A program of 300,000 names has one of 15 MB.
	maxBytes = 256 << 20
	// detectNames are looked at to tell a map from any other array of strings.
	detectNames = 64
	// maxReplaced bounds what the compiler calls a thing: letters in turn, and for
	// a private name its library's key.
	maxReplaced = 24
)

// detect takes a JSON array of strings if each second string is as short as the
// compiler makes them.
func detect(_ string, head []byte) bool {
	whole := len(head) < formats.HeadBytes
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(head, []byte("\ufeff"))))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return false
	}
	n := 0
	for ; n < detectNames; n++ {
		t, err := d.Token()
		if err != nil {
			return !whole && n > 2 && !errors.As(err, new(*json.SyntaxError))
		}
		if t == json.Delim(']') {
			break
		}
		s, ok := t.(string)
		if !ok || n%2 == 1 && !isReplaced(s) {
			return false
		}
	}
	return n >= 2 && n%2 == 0
}

// isReplaced reports whether the compiler may have made a name.
func isReplaced(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '@', c == '$', c == ':', c == '.', c == '&':
		default:
			return false
		}
	}
	return len(s) > 0 && len(s) <= maxReplaced
}

func open(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	if in.Size > maxBytes {
		return nil, fault(maxBytes, "a map of at most 256 MiB", formats.ErrLimit)
	}
	h := sha256.New()
	if err := native.Feed(ctx, h, in, name); err != nil {
		return nil, err
	}
	id := native.Identity{}
	id.Claim(native.Sum(h))
	id.Add(symbol.NameHash, id.Canonical)
	id.Add(symbol.NameFile, formats.Base(in.Name))
	builds, err := programs(ctx, in)
	if err != nil {
		return nil, err
	}
	for _, b := range builds {
		id.Add(symbol.NameDartBuild, symbol.DartBuild(b))
	}
	m := &names{in: in}
	return &formats.Object{Artifacts: []formats.Artifact{{
		Artifact: id.Artifact(symbol.DartNames, "", 0, 0), Rank: symbol.RankMapping, Parts: 1, ExplodeClasses: m.explode}}}, nil
}

// names is an opened map.
type names struct{ in *formats.Input }

// explode emits the one part: a class a pair.
func (m *names) explode(ctx context.Context, part int, emit func(*symbol.Class) error) (symbol.Quality, error) {
	var q symbol.Quality
	if part != 0 {
		return q, fmt.Errorf("%s: part %d of 1", name, part)
	}
	b, err := m.in.View(0, m.in.Size)
	if err != nil {
		return q, err
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	skipped := m.in.Size - int64(len(b))
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return q, fault(skipped+d.InputOffset(), "an array of names", formats.ErrCorrupt)
	}
	seen := map[string]bool{}
	var pair [2]string
	n := 0
	for ; d.More(); n++ {
		if n&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return q, err
			}
		}
		t, err := d.Token()
		s, ok := t.(string)
		at := skipped + d.InputOffset()
		switch {
		case err != nil || !ok:
			return q, fault(at, "a name in quotes", formats.ErrCorrupt)
		case n/2 >= m.in.Limits.Symbols:
			return q, fault(at, fmt.Sprintf("at most %d names", m.in.Limits.Symbols), formats.ErrLimit)
		}
		if pair[n%2] = symbol.ShortName(s, m.in.Limits.NameBytes); n%2 == 0 {
			continue
		}
		q.Lines++
		original, replaced := pair[0], pair[1]
		if replaced == "" {
			continue
		}
		if seen[replaced] {
			if len(q.Warnings) < maxWarnings {
				q.Warnings = append(q.Warnings, fmt.Sprintf("offset %d: want a replacement that no name before has", at))
			}
			continue
		}
		seen[replaced] = true
		if err := emit(&symbol.Class{Name: replaced, Original: original}); err != nil {
			return q, err
		}
	}
	if t, err := d.Token(); err != nil || t != json.Delim(']') {
		return q, fault(skipped+d.InputOffset(), "the end of the array", formats.ErrCorrupt)
	}
	if n%2 != 0 {
		return q, fault(skipped+d.InputOffset(), "names in pairs", formats.ErrCorrupt)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return q, fault(skipped+d.InputOffset(), "nothing behind the array", formats.ErrCorrupt)
	}
	return q, nil
}

// maxWarnings of a map are kept.
const maxWarnings = 8

func fault(at int64, want string, err error) error {
	return &formats.Error{Format: name, Offset: at, Want: want, Err: err}
}

// beside are what Flutter's tool calls the programs that it writes to the
// folder that it may write the map to.
var beside = []string{
	"app.android-arm.symbols", "app.android-arm64.symbols", "app.android-x64.symbols", "app.android-x86.symbols",
	"app.ios-arm64.symbols", "app.darwin-arm64.symbols", "app.darwin-x64.symbols",
	"app.linux-x64.symbols", "app.linux-arm64.symbols", "app.windows-x64.symbols", "app.windows-arm64.symbols",
	"App.framework.dSYM/Contents/Resources/DWARF/App",
}

// programs are the build-ids of the programs beside a map.
func programs(ctx context.Context, in *formats.Input) ([]string, error) {
	if in.Companion == nil {
		return nil, nil
	}
	var ids []string
	for _, file := range beside {
		c, err := in.Companion(ctx, formats.Ref{Name: file})
		if errors.Is(err, formats.ErrNoCompanion) || formats.Rejects(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if id := buildID(c); id != "" {
			ids = append(ids, id)
		}
		if c.Release != nil {
			if err := c.Release(); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// buildID returns the build-id of a program, "" if it has none or cannot be read.
// An unreadable program is rejected when it is ingested itself.
func buildID(in *formats.Input) string {
	const gnuBuildID = 3
	if head, err := in.View(0, min(in.Size, 64)); err != nil {
		return ""
	} else if machofile.Is(head) {
		f, err := machofile.Open(in)
		if err != nil {
			return ""
		}
		defer f.Close()
		return hex.EncodeToString(f.UUID())
	}
	f, err := elffile.Open(in)
	if err != nil {
		return ""
	}
	defer f.Close()
	id := ""
	if err := f.Notes(func(owner string, kind uint32, desc []byte) bool {
		if owner == "GNU" && kind == gnuBuildID {
			id = hex.EncodeToString(desc)
		}
		return id == ""
	}); err != nil {
		return ""
	}
	return id
}
