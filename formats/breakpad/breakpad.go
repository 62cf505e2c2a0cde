// Package breakpad reads Breakpad symbol files (.sym), which dump_syms makes
// and Crashpad's and Mozilla's servers keep: text records MODULE, INFO, FILE,
// INLINE_ORIGIN, FUNC with its lines and INLINE records, and PUBLIC
// (Breakpad's docs/symbol_files.md). In files of 2021, INLINE names no file of the
// call, and INLINE_ORIGIN has a file before the name: the package reads them too.
// STACK CFI and STACK WIN records become call frame information.
//
// # Identity
//
// The artifact is the image's, so a .sym and the debug file of one build are
// sources of one artifact. Of a Mach-O image the module's id is the UUID with an
// age. Of an ELF image it is a debug-id: the first 16 bytes of the build-id, three
// fields turned around. INFO CODE_ID has the whole build-id. Old files lack it:
// then the canonical id is a build-id of those 16 bytes. Of a Windows image the id
// is the GUID of its PDB and an age; INFO CODE_ID names the image's file.
//
// # Positions
//
// Addresses count from the image base, as rows do. The file does not say the
// base's address, so Base is 0, which is right for all but programs linked to a
// fixed address.
//
// Invariants:
//   - a file is read in pieces of partBytes that begin at a FUNC record, and in
//     one more for PUBLIC records; memory is the tables of files and origins, and one function;
//   - inside a function, code without a line record has the function, no file and no line;
//   - an INLINE record counts inside the record of the level above, and inside its function;
//   - a PUBLIC symbol reaches to the next record of either kind, at most to the end of its
//     page where none follows;
//   - of two STACK WIN records that overlap the inner one counts, and frame data before FPO;
//   - a record that does not parse is counted and dropped; above 1 % the file is rejected;
//   - a record above Limits.LineBytes is cut: of an INLINE record the last ranges are lost, of others the end of the name.
package breakpad

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/once"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

const name = "breakpad"

// Format reads Breakpad symbol files.
var Format = formats.Format{Name: name, Version: 3, Detect: detect, Open: open}

var (
	moduleWord = []byte("MODULE ")
	mark       = []byte("\ufeff") // of UTF-8, which Windows' tools write before the first record
)

func detect(_ string, head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimPrefix(head, mark), []byte{'\n'})
	return bytes.HasPrefix(line, moduleWord) && len(bytes.Fields(line)) >= 4
}

// object is an opened file.
type object struct {
	in *formats.Input

	shared once.Work
	tables *tables

	mu    sync.Mutex
	spare [][]string // copies of the tables' strings, with room behind
}

// takeStrings returns the tables' strings with room of its own behind them: one copy for each part that is read at a
// time.
func (o *object) takeStrings(t *tables) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.spare); n > 0 {
		s := o.spare[n-1]
		o.spare = o.spare[:n-1]
		return s
	}
	return append(make([]string, 0, len(t.strings)+len(t.strings)/8+64), t.strings...)
}

// giveStrings takes them back.
func (o *object) giveStrings(s []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.spare = append(o.spare, s[:len(o.tables.strings)])
}

// partBytes is how much of a file one part reads.
const partBytes = 8 << 20

func open(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	m, err := readModule(in)
	if err != nil {
		return nil, err
	}
	o := &object{in: in}
	t, err := o.prepare(ctx)
	if err != nil {
		return nil, err
	}
	if t.end == 0 {
		return &formats.Object{Note: "no-symbols: a symbol file without FUNC and PUBLIC records"}, nil
	}
	parts := int((in.Size+partBytes-1)/partBytes) + 1
	a := formats.Artifact{
		Artifact: m.identity(in.Name).Artifact(m.kind, m.arch, 0, t.end),
		Rank:     t.rank, Parts: parts, Check: check,
		Explode: func(ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
			return o.explode(ctx, part, parts, emit)
		},
	}
	if t.stack > 0 && unwind.ArchOf(m.arch) != nil {
		a.Unwind = func(ctx context.Context, emit func(*symbol.Unwind) error) (symbol.Quality, error) {
			return o.unwind(ctx, m.arch, emit)
		}
	}
	return &formats.Object{Artifacts: []formats.Artifact{a}}, nil
}

// prepare reads the tables, once.
func (o *object) prepare(ctx context.Context) (*tables, error) {
	err := o.shared.Do(name, func() (err error) {
		o.tables, err = readTables(ctx, o.in)
		return err
	})
	return o.tables, err
}

func (o *object) explode(ctx context.Context, part, parts int, emit func(*symbol.Run) error) (symbol.Quality, error) {
	if part < 0 || part >= parts {
		return symbol.Quality{}, fmt.Errorf("%s: part %d of %d", name, part, parts)
	}
	if err := ctx.Err(); err != nil {
		return symbol.Quality{}, err
	}
	t, err := o.prepare(ctx)
	if err != nil {
		return symbol.Quality{}, err
	}
	if part == parts-1 {
		q := t.quality
		q.Text = t.text
		return q, t.explodePublic(emit)
	}
	return o.explodePart(ctx, t, int64(part)*partBytes, emit)
}

// maxBad is the share of bad records, in percent, that a file may have.
const maxBad = 1

func check(q symbol.Quality) error {
	if q.BadLines*100 <= q.Lines*maxBad {
		return nil
	}
	want := fmt.Sprintf("at most %d %% of bad records: %d of %d are", maxBad, q.BadLines, q.Lines)
	if len(q.Warnings) > 0 {
		want += ", the first at " + q.Warnings[0]
	}
	return &formats.Error{Format: name, Want: want, Err: formats.ErrCorrupt}
}

// module is what a file says of its image.
type module struct {
	kind       symbol.Kind
	arch, file string
	id         [16]byte // as the record spells it
	age        string   // behind the id, in lower case
	code       string   // of INFO CODE_ID, lower case; "" if there is none
	image      string   // of INFO CODE_ID: the image's file; "" if it says none
}

// readModule reads the records before the first table: MODULE and INFO.
func readModule(in *formats.Input) (*module, error) {
	head, err := in.View(0, min(in.Size, formats.HeadBytes))
	if err != nil {
		return nil, err
	}
	head = bytes.TrimPrefix(head, mark)
	line, rest, _ := bytes.Cut(head, []byte{'\n'})
	words := strings.SplitN(string(bytes.TrimRight(line, "\r")), " ", 5)
	if len(words) < 4 || words[0] != "MODULE" {
		return nil, fault(0, "a MODULE record: system, architecture, id, name")
	}
	m := &module{arch: words[2]}
	if len(words) == 5 {
		m.file = words[4]
	}
	switch system := strings.ToLower(words[1]); system {
	case "mac", "ios", "tvos", "watchos", "visionos":
		m.kind = symbol.MachO
	case "windows":
		m.kind = symbol.PE
	default:
		m.kind = symbol.ELF
	}
	id, err := hex.DecodeString(words[3][:min(len(words[3]), 32)])
	if err != nil || len(id) != 16 {
		return nil, fault(0, fmt.Sprintf("an id of 32 digits and an age, not %.64q", words[3]))
	}
	m.id, m.age = [16]byte(id), strings.ToLower(words[3][32:])
	for bytes.HasPrefix(rest, []byte("INFO ")) {
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		words := strings.Fields(string(line))
		if len(words) < 3 || words[1] != "CODE_ID" {
			continue
		}
		if m.kind == symbol.PE && len(words) > 3 {
			m.image = words[3]
		}
		code := strings.ToLower(words[2])
		if raw, err := hex.DecodeString(code); err == nil && len(raw) >= 8 && len(raw) <= 64 {
			m.code = code
		}
	}
	return m, nil
}

// identity returns the identity of the image.
func (m *module) identity(file string) *native.Identity {
	id := &native.Identity{}
	debug := fmt.Sprintf("%x-%x-%x-%x-%x", m.id[0:4], m.id[4:6], m.id[6:8], m.id[8:10], m.id[10:])
	switch m.kind {
	case symbol.MachO:
		id.Claim(debug)
		id.Add(symbol.NameDebugID, debug)
	case symbol.PE:
		id.AddPDB(m.id, m.age)
		id.Add(symbol.NameFile, m.image)
	default:
		if m.code == "" {
			raw := m.id
			slices.Reverse(raw[0:4])
			slices.Reverse(raw[4:6])
			slices.Reverse(raw[6:8])
			m.code = hex.EncodeToString(raw[:])
		}
		id.Claim(m.code)
		id.Add(symbol.NameBuildID, m.code)
		id.Add(symbol.NameDebugID, debug)
	}
	id.Add(symbol.NameFile, formats.Base(m.file))
	id.Add(symbol.NameFile, formats.Base(file))
	return id
}

func fault(at int64, want string) error {
	return &formats.Error{Format: name, Offset: at, Want: want, Err: formats.ErrCorrupt}
}
