package gsym

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// fixtures maps GSYM files to the images that they were made of.
var fixtures = map[string]string{
	"libgame-arm64-dw5":      "elf/libgame-arm64-dw5.so",
	"libgame-arm64be-dw5":    "elf/libgame-arm64be-dw5.so",
	"libgame-armv7thumb-dw5": "elf/libgame-armv7thumb-dw5.so",
	"libgame-x64-dw5":        "elf/libgame-x64-dw5.so",
	"libgame-x86-dw4":        "elf/libgame-x86-dw4.so",
	"libgame.dylib":          "macho/libgame.dylib.dSYM",
}

func path(t testing.TB, name string) string { return formattest.Testdata(t, "gsym/"+name+".gsym") }

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func input(b []byte) *formats.Input { return formattest.InputOf("app.gsym", b, formats.Limits{}) }

func one(t testing.TB, b []byte) *formats.Artifact {
	t.Helper()
	obj := formattest.Open(t, &Format, input(b))
	if len(obj.Artifacts) != 1 {
		t.Fatalf("%d artifacts: %s", len(obj.Artifacts), obj.Note)
	}
	return &obj.Artifacts[0]
}

func flat(t testing.TB, a *formats.Artifact) *formattest.Flat {
	t.Helper()
	fl, err := formattest.Flatten(t.Context(), &Format, a)
	if err != nil {
		t.Fatal(err)
	}
	return fl
}

func TestConformance(t *testing.T) {
	t.Parallel()
	formattest.Run(t, &Format, path(t, "libgame-x64-dw5"), path(t, "libgame-arm64be-dw5"), path(t, "libgame.dylib"))
}

// TestGoldens: what a GSYM file says of an image is what llvm-symbolizer says of the image itself, but for columns, which it
// does not have.
func TestGoldens(t *testing.T) {
	t.Parallel()
	for name, image := range fixtures {
		golden := formattest.Testdata(t, image+".golden.json")
		t.Run(name, func(t *testing.T) {
			if n := formattest.GoldenOf(t, &Format, formattest.Input(t, path(t, name)), golden, known); n < 10 {
				t.Errorf("%d cases", n)
			}
		})
	}
}

// known says why a GSYM file answers otherwise than llvm-symbolizer does of its image.
func known(_ uint64, want, got []symbol.Frame) string {
	plain := slices.Clone(want)
	for i := range plain {
		plain[i].Column = 0
	}
	switch {
	case slices.Equal(plain, got):
		return "GSYM has no columns"
	case len(plain) == 1 && len(got) == 1 && plain[0].Line == 0 && got[0].Line == 0 && got[0].Linkage == plain[0].Linkage:
		return "llvm-symbolizer names no file where there is no line"
	case len(got) == 0 && len(plain) == 1 && (plain[0].Linkage == "" || plain[0].Line == 0):
		return "llvm-gsymutil drops symbols of data, those without lines where there is DWARF, and lines outside of functions"
	case len(plain) == len(got) && renamed(plain, got):
		return "llvm-gsymutil qualifies names, and of several at one address it may choose another"
	}
	return ""
}

// renamed reports whether frames differ in names alone: of the outermost function, and of functions without linkage names,
// which llvm-gsymutil qualifies.
func renamed(want, got []symbol.Frame) bool {
	for i, w := range want {
		g := got[i]
		if i == len(want)-1 || strings.HasSuffix(g.Linkage, "::"+w.Linkage) {
			g.Linkage = w.Linkage
		}
		if w != g {
			return false
		}
	}
	return true
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	elf, macho := read(t, "libgame-x64-dw5"), read(t, "libgame.dylib")
	id := func(b []byte, id []byte) []byte {
		b = bytes.Clone(b)
		clear(b[28:48])
		b[7] = byte(len(id))
		copy(b[28:], id)
		return b
	}
	uuid := []byte{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x37, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0}
	raw := bytes.Clone(uuid)
	raw[6] = 0x77
	for _, c := range []struct {
		what      string
		b         []byte
		kind      symbol.Kind
		canonical string
		name      symbol.Name
	}{
		{"build-id", elf, symbol.ELF, fmt.Sprintf("%x", elf[28:48]), symbol.Name{Kind: symbol.NameFile, Text: "app.gsym"}},
		{"UUID", id(macho, uuid), symbol.MachO, "11223344-5566-3788-99aa-bbccddeeff00", symbol.Name{Kind: symbol.NameBuildID, Text: "1122334455663788" + "99aabbccddeeff00"}},
		{"build-id of 16 bytes", id(elf, raw), symbol.ELF, "112233445566778899aabbccddeeff00", symbol.Name{Kind: symbol.NameDebugID, Text: "44332211-6655-8877-99aa-bbccddeeff00"}},
		{"build-id of 16 bytes", id(elf, raw), symbol.ELF, "112233445566778899aabbccddeeff00", symbol.Name{Kind: symbol.NameDebugID, Text: "11223344-5566-7788-99aa-bbccddeeff00"}},
		{"build-id of 8 bytes", id(elf, raw[:8]), symbol.ELF, "1122334455667788", symbol.Name{Kind: symbol.NameBuildID, Text: "1122334455667788"}},
	} {
		a := one(t, c.b)
		if a.Kind != c.kind || a.Canonical != c.canonical || !slices.Contains(a.Names, c.name) {
			t.Errorf("%s: %s %s %v", c.what, a.Kind, a.Canonical, a.Names)
		}
	}
	if a := one(t, id(elf, nil)); a.Kind != symbol.ELF || !strings.HasPrefix(a.Canonical, "sha256:") {
		t.Errorf("without an id: %s %s", a.Kind, a.Canonical)
	}
}

// order is an order of bytes.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// rewrite writes the first n functions of a file of version 1 again: with offsets of another width, as another version, in
// another order of bytes, with another base.
func rewrite(t testing.TB, b []byte, n, width, version int, to order, base uint64) []byte {
	t.Helper()
	f, err := readFile(input(b))
	if err != nil {
		t.Fatal(err)
	}
	text := 4
	if version == 2 {
		text = 8
	}
	word := func(b []byte, v uint64) []byte {
		if text == 4 {
			return to.AppendUint32(b, uint32(v))
		}
		return to.AppendUint64(b, v)
	}
	var starts, places, infos, files []byte
	shift := f.base - base
	w := window{f: f}
	for i := range n {
		at := f.offset(i) + shift
		var o [8]byte
		switch width {
		case 1:
			o[0] = byte(at)
		case 2:
			to.PutUint16(o[:], uint16(at))
		case 4:
			to.PutUint32(o[:], uint32(at))
		default:
			to.PutUint64(o[:], at)
		}
		starts = append(starts, o[:width]...)
		for len(infos)%4 != 0 {
			infos = append(infos, 0)
		}
		places = word(places, uint64(len(infos)))
		info, err := f.info(&w, i)
		if err != nil {
			t.Fatal(err)
		}
		r := reader{b: info, order: f.order}
		infos = to.AppendUint32(infos, r.u32())
		infos = word(infos, r.word(4))
		for kind := uint32(1); kind != infoEnd; {
			kind = r.u32()
			piece := r.take(int(r.u32()))
			if kind == infoInlines {
				piece = inlinesAgain(&reader{b: piece, order: f.order}, word)
			}
			infos = to.AppendUint32(to.AppendUint32(infos, kind), uint32(len(piece)))
			infos = append(infos, piece...)
		}
	}
	files = to.AppendUint32(nil, uint32(len(f.files)/8))
	for i := 0; i < len(f.files); i += 4 {
		files = word(files, uint64(f.order.Uint32(f.files[i:])))
	}
	out := to.AppendUint16(to.AppendUint32(nil, 0x4753594d), uint16(version))
	out = append(out, byte(width), 0)
	out = to.AppendUint32(to.AppendUint64(out, base), uint32(n))
	if version == 2 {
		pieces := []struct {
			kind int
			b    []byte
		}{{ofID, f.id}, {ofStarts, starts}, {ofPlaces, places}, {ofFiles, files}, {ofStrings, f.strings}, {ofFunctions, infos}}
		at := uint64(headBytes2 + 20*(len(pieces)+1))
		for _, p := range pieces {
			at = (at + 7) &^ 7
			out = to.AppendUint64(to.AppendUint64(to.AppendUint32(out, uint32(p.kind)), at), uint64(len(p.b)))
			at += uint64(len(p.b))
		}
		out = append(out, make([]byte, 20)...)
		for _, p := range pieces {
			for len(out)%8 != 0 {
				out = append(out, 0)
			}
			out = append(out, p.b...)
		}
		return out
	}
	out[7] = byte(len(f.id))
	tables := make([]byte, align(headBytes1, int64(width))-headBytes1)
	tables = append(tables, starts...)
	for len(tables)%4 != 0 {
		tables = append(tables, 0)
	}
	from := headBytes1 + len(tables) + len(places) + len(files)
	infosAt := (from + len(f.strings) + 3) &^ 3
	for i := 0; i < len(places); i += 4 {
		to.PutUint32(places[i:], to.Uint32(places[i:])+uint32(infosAt))
	}
	out = to.AppendUint32(to.AppendUint32(out, uint32(from)), uint32(len(f.strings)))
	out = append(out, append(f.id, make([]byte, 20-len(f.id))...)...)
	out = slices.Concat(out, tables, places, files, f.strings)
	return append(append(out, make([]byte, infosAt-len(out))...), infos...)
}

// inlinesAgain writes inlined functions with other offsets in strings.
func inlinesAgain(r *reader, word func([]byte, uint64) []byte) []byte {
	var out []byte
	for depth := 0; ; {
		count := r.uleb()
		out = binary.AppendUvarint(out, count)
		if count == 0 {
			depth--
		} else {
			for range count {
				out = binary.AppendUvarint(binary.AppendUvarint(out, r.uleb()), r.uleb())
			}
			children := r.u8()
			out = word(append(out, children), r.word(4))
			out = binary.AppendUvarint(binary.AppendUvarint(out, r.uleb()), r.uleb())
			depth += int(children)
		}
		if depth == 0 {
			return out
		}
	}
}

// TestLayouts: each width, version and order of bytes answers as the file that LLVM wrote.
func TestLayouts(t *testing.T) {
	t.Parallel()
	b := read(t, "libgame-x64-dw5")
	first := one(t, b)
	want := flat(t, first)
	f, err := readFile(input(b))
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []int{1, 2} {
		for _, width := range []int{2, 4, 8} {
			for _, to := range []order{binary.LittleEndian, binary.BigEndian} {
				a := one(t, rewrite(t, b, f.count, width, version, to, 0))
				if a.ID != first.ID || a.End != first.End {
					t.Errorf("version %d, %d bytes, %v: %s, end %#x", version, width, to, a.Canonical, a.End)
				}
				compare(t, flat(t, a), want, a.End)
			}
		}
	}
	// Offsets of a byte count from the first function here, as programs write that do not know the image.
	from := f.start(0)
	for _, version := range []int{1, 2} {
		a := one(t, rewrite(t, b, 2, 1, version, binary.LittleEndian, from))
		if a.Base != 0 || a.End <= from {
			t.Errorf("base %#x, end %#x", a.Base, a.End)
		}
		got := flat(t, a)
		for pos := from; pos < a.End; pos++ {
			if !slices.Equal(got.At(pos), want.At(pos)) {
				t.Fatalf("%#x: %v, want %v", pos, got.At(pos), want.At(pos))
			}
		}
	}
}

func compare(t *testing.T, got, want *formattest.Flat, end uint64) {
	t.Helper()
	for pos := range end {
		if !slices.Equal(got.At(pos), want.At(pos)) {
			t.Fatalf("%#x: %v, want %v", pos, got.At(pos), want.At(pos))
		}
	}
}

// TestUtil asks llvm-gsymutil about 10,000 addresses of each fixture.
func TestUtil(t *testing.T) {
	t.Parallel()
	for name := range fixtures {
		askUtil(t, path(t, name), 2000)
	}
}

// imagesVariable lists images with DWARF, which TestImages converts.
const imagesVariable = "SYMLAKE_GSYM_IMAGES"

// TestImages converts images and asks llvm-gsymutil about 10,000 addresses of each.
func TestImages(t *testing.T) {
	tool := formattest.Tool(t, "llvm-gsymutil-19", "apt-get install llvm-19")
	for _, image := range filepath.SplitList(os.Getenv(imagesVariable)) {
		to := filepath.Join(t.TempDir(), filepath.Base(image)+".gsym")
		if out, err := exec.Command(tool, "--quiet", "--convert="+image, "--out-file="+to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		askUtil(t, to, 10_000)
		formattest.OracleOf(t, &Format, formattest.Input(t, to), 10_000, 1, known, "--obj="+image)
	}
}

// askUtil compares answers with llvm-gsymutil's.
func askUtil(t *testing.T, file string, n int) {
	tool := formattest.Tool(t, "llvm-gsymutil-19", "apt-get install llvm-19")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := one(t, b)
	fl := flat(t, a)
	r := rand.New(rand.NewPCG(1, 2))
	borders := fl.Borders()
	var addrs []uint64
	var questions strings.Builder
	for i := range n {
		pos := r.Uint64N(a.End)
		if i%2 == 0 {
			pos = borders[r.IntN(len(borders))] - uint64(i/2%2)
		}
		addrs = append(addrs, a.Base+pos)
		fmt.Fprintf(&questions, "%#x %s\n", a.Base+pos, file)
	}
	cmd := exec.Command(tool, "--addresses-from-stdin")
	cmd.Stdin = strings.NewReader(questions.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(strings.TrimSuffix(string(out), "\n\n"), "\n\n")
	if len(answers) != n {
		t.Fatalf("%s: %d answers to %d questions", file, len(answers), n)
	}
	differ, found := 0, 0
	for i, addr := range addrs {
		_, want, _ := strings.Cut(answers[i], ": ")
		if strings.HasPrefix(want, "error: ") {
			want = ""
		} else {
			found++
		}
		if got := spell(fl.At(addr - a.Base)); got != plain(want) {
			if bare, without := strings.CutSuffix(plain(want), " @ "); without && strings.Contains(got, "\n"+bare+" @ ") {
				continue // it leaves out inlined functions where there is no line
			}
			if differ++; differ <= 5 {
				t.Errorf("%s: %#x:\n got %s\nwant %s", file, addr, got, plain(want))
			}
		}
	}
	t.Logf("%s: %d of %d addresses differ, %d found", filepath.Base(file), differ, n, found)
	if found < n/10 {
		t.Errorf("%s: %d found", file, found)
	}
}

// plain drops offsets, marks of inlined functions and indents from an answer of llvm-gsymutil.
func plain(answer string) string {
	var out []string
	for _, line := range strings.Split(answer, "\n") {
		line = strings.TrimSuffix(strings.TrimSpace(line), " [inlined]")
		name, place, _ := strings.Cut(line, " @ ")
		if at := strings.LastIndex(name, " + "); at > 0 {
			name = name[:at]
		}
		out = append(out, name+" @ "+place)
	}
	if answer == "" {
		return ""
	}
	return strings.Join(out, "\n")
}

func spell(frames []symbol.Frame) string {
	var out []string
	for _, f := range frames {
		place := ""
		if f.File != "" {
			place = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		out = append(out, f.Linkage+" @ "+place)
	}
	return strings.Join(out, "\n")
}

func TestRefused(t *testing.T) {
	t.Parallel()
	b := read(t, "libgame-x64-dw5")
	change := func(at int, to ...byte) []byte {
		b := bytes.Clone(b)
		copy(b[at:], to)
		return b
	}
	for what, c := range map[string]struct {
		b    []byte
		want error
		text string
	}{
		"version 3":      {change(4, 3), formats.ErrUnsupported, "version 1 or 2, not 3"},
		"width":          {change(6, 3), formats.ErrCorrupt, "1, 2, 4 or 8 bytes"},
		"id":             {change(7, 21), formats.ErrCorrupt, "at most 20 bytes"},
		"functions":      {change(16, 0xff, 0xff, 0xff, 0x7f), formats.ErrLimit, "functions"},
		"many functions": {change(16, 0xff, 0xff, 0xff), formats.ErrCorrupt, "more bytes"},
		"strings":        {change(20, 0xff, 0xff, 0xff, 0xff), formats.ErrCorrupt, "more bytes"},
		"cut":            {b[:40], formats.ErrCorrupt, "48 bytes"},
		"order":          {change(48, 0xff, 0xff), formats.ErrCorrupt, "ascend"},
		"sections":       {change(4, 2), formats.ErrUnsupported, "encoding 20"},
		"base":           {change(8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), formats.ErrCorrupt, "ascend"},
	} {
		_, err := open(t.Context(), input(c.b))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", what, err)
		}
	}
	empty := change(16, 0, 0, 0, 0)
	if obj, err := open(t.Context(), input(empty)); err == nil && (len(obj.Artifacts) > 0 || obj.Note == "") {
		t.Errorf("no functions: %v", obj)
	}
}

func FuzzGSYM(f *testing.F) {
	for name := range fixtures {
		f.Add(read(f, name))
	}
	f.Add(rewrite(f, read(f, "libgame-x64-dw5"), 5, 4, 2, binary.BigEndian, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		magic := "MYSG"
		if len(data) > 0 && data[0] == 'G' {
			magic = "GSYM"
		}
		formattest.Fuzz(t, &Format, magic, data)
	})
}
