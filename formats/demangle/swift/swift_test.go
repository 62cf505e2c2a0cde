package swift

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/symlake/symlake/formats/formattest"
)

const maxBytes = 64 << 10

// answer is a name with both its forms; a name that is none stands unchanged.
type answer struct{ name, full, simplified string }

// answers reads a table of names and Apple's answers.
func answers(t testing.TB, file string) []answer {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var list []answer
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		cells := strings.Split(lines.Text(), "\t")
		if len(cells) != 3 {
			t.Fatalf("%s: %d cells in %q", file, len(cells), lines.Text())
		}
		list = append(list, answer{cells[0], cells[1], cells[2]})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// of gives both forms as the tables have them.
func (d *Demangler) of(name string) answer {
	form := func(simplified bool) string {
		if s, ok := d.Name(name, simplified, maxBytes); ok {
			return s
		}
		return name
	}
	return answer{name, form(false), form(true)}
}

// leavesOut reports whether Apple's program left out what a parameter was replaced by: of old manglings the printer of
// Swift 6 forgets names and strings, which earlier ones wrote.
func leavesOut(full string) bool {
	for _, gap := range []string{"Propagated Function : ]", "Propagated Global : ]", "u8'']", "u16'']"} {
		if strings.Contains(full, gap) {
			return true
		}
	}
	return false
}

// compare counts the names with other forms than the wanted ones.
func compare(t *testing.T, want []answer) (differ int) {
	t.Helper()
	d := new(Demangler)
	for _, a := range want {
		got := d.of(a.name)
		if got == a || leavesOut(a.full) && !leavesOut(got.full) {
			continue
		}
		if differ++; differ <= 20 {
			t.Logf("%s\n got %s\nwant %s\n got %s\nwant %s", a.name, got.full, a.full, got.simplified, a.simplified)
		}
	}
	t.Logf("%d names, %d differ", len(want), differ)
	return differ
}

// TestFixtures: real names of four packages, with the answers of Apple's
// demangler. All are equal.
func TestFixtures(t *testing.T) {
	list := answers(t, formattest.Fixture(t, "swift/names.tsv.zst"))
	if differ := compare(t, list); differ > 0 || len(list) < 40_000 {
		t.Errorf("%d of %d names differ", differ, len(list))
	}
}

// TestAnswers: names that use every rule of the grammar, see testdata/swift.
func TestAnswers(t *testing.T) {
	list := answers(t, formattest.Testdata(t, "swift/answers.tsv.zst"))
	if differ := compare(t, list); differ > 0 || len(list) < 4_000 {
		t.Errorf("%d of %d names differ", differ, len(list))
	}
}

func TestName(t *testing.T) {
	d := new(Demangler)
	for _, a := range []answer{
		{"$s4game6EngineC4step2byAA5ScoreVSi_tF", "game.Engine.step(by: Swift.Int) -> game.Score", "Engine.step(by:)"},
		{"_$s4game3runyyYaKFTY2_", "(3) suspend resume partial function for game.run() async throws -> ()", "run()"},
		{"$s4game3runyyFyycfU_TA.12", `partial apply forwarder for closure #1 () -> () in game.run() -> () with unmangled suffix ".12"`, "partial apply for closure #1 in run()"},
		{"_TtC4game6Engine", "game.Engine", "Engine"},
		{"_TFC4game6Engine4stepfT2bySi_VS_5Score", "game.Engine.step(by: Swift.Int) -> game.Score", "Engine.step(by:)"},
		{"_TTSf1cpfr20_TF4game6helperFSiT__n___TF4game3runFT_T_",
			"function signature specialization <Arg[0] = [Constant Propagated Function : game.helper(Swift.Int) -> ()]> of game.run() -> ()", "specialized run()"},
		{"_TTSf1cpse0v3abc_cpg4word_cpi7___TF4game3runFT_T_", "function signature specialization <Arg[0] = [Constant Propagated String : u8'abc'], " +
			"Arg[1] = [Constant Propagated Global : word], Arg[2] = [Constant Propagated Integer : 7]> of game.run() -> ()", "specialized run()"},
		{"_TTSf1cpfr13_TFC3foo3barZ___TF4game3runFT_T_", "function signature specialization <Arg[0] = [Constant Propagated Function : _TFC3foo3barZ]> of game.run() -> ()", "specialized run()"},
		{"_TFC3foo3barZ", "_TFC3foo3barZ", "_TFC3foo3barZ"},                      // no type: Apple's program takes it for no name
		{"$s4game003Xcacd_pxaC", "$s4game003Xcacd_pxaC", "$s4game003Xcacd_pxaC"}, // no Punycode
	} {
		if got := d.of(a.name); got != a {
			t.Errorf("%s: %+v", a.name, got)
		}
	}
	// A shape is printed with what it is of, unlike Apple's, which looks past
	// the end of its node.
	if got, _ := d.Name("$sx4game5SoundPRlzXG", false, maxBytes); got != "" && !strings.HasPrefix(got, "existential shape") {
		t.Error(got)
	}
}

// TestSymbolicReferences: what refers to an image by address is no name.
func TestSymbolicReferences(t *testing.T) {
	d := new(Demangler)
	for kind := range byte(0x20) {
		for _, name := range []string{"$s" + string(kind) + "\x10\x20\x30\x40D", "$sSay" + string(kind) + "\x10\x20\x30\x40G", "$s\xff" + string(kind) + "\x01\x02\x03\x04_pD"} {
			if got, ok := d.Name(name, false, maxBytes); ok && kind != 0 {
				t.Errorf("%q: %s", name, got)
			}
		}
	}
}

// TestBounds: names that would cost memory or time are none, soon.
func TestBounds(t *testing.T) {
	d := new(Demangler)
	pairs := "Si_Sit"
	for i := range 12 {
		pairs = "4game1" + string(rune('a'+i)) + "Vy" + pairs + "_AB" + "GSg"
	}
	for what, name := range map[string]string{
		"words":          "$s" + strings.Repeat("a", 8) + "20" + strings.Repeat("A", 8000),
		"long words":     "$s9999" + strings.Repeat("a", 9999) + strings.Repeat("0"+strings.Repeat("a", 500)+"A0", 40),
		"repeats":        "$s4game1aV" + strings.Repeat("A2048a", 5000),
		"tuples":         "$sSi" + strings.Repeat("_SitSg", 5000) + "D",
		"optionals":      "$sSi" + strings.Repeat("Sg", 15000) + "D",
		"shared":         "$sSi" + strings.Repeat("Sg", 20) + strings.Repeat("A2048T", 100) + "tD",
		"doubled":        "$s4game1aV" + strings.Repeat("_ACtSgAD_ADt", 2000) + "D",
		"pairs":          "$s" + pairs,
		"metatypes":      "$sSi" + strings.Repeat("m", 30000),
		"functions":      "$s" + strings.Repeat("yyc", 9000),
		"curried":        "$sy" + strings.Repeat("yc", 15000),
		"contexts":       "$s1a" + strings.Repeat("1bC", 10000),
		"bound contexts": "$s1a" + strings.Repeat("1bC", 3000) + "ySi" + strings.Repeat("_Si", 3000) + "G",
		"parameters":     "$s4game1fyyxRzlr" + strings.Repeat("2147483646_", 2000) + "lF",
		"specialized":    "$s4game1fyyFTf" + strings.Repeat("0p", 10000),
		"cut short":      "$s4game1fyyFTf0p",
		"nested names":   strings.Repeat("$s1a1fyyF", 3000) + strings.Repeat("Tf3pf_n", 3000),
		"punycode":       "$s00" + "30000" + strings.Repeat("9", 30000),
		"old pointers":   "_Tt" + strings.Repeat("M", 30000) + "Si",
		"old contexts":   "_TF" + strings.Repeat("F", 30000),
		"old tuples":     "_Tt" + strings.Repeat("T", 30000),
		"old extensions": "_TF" + strings.Repeat("E1a", 10000),
		"old partials":   "_T" + strings.Repeat("PA__T", 6000),
		"old archetypes": "_TtQ" + strings.Repeat("Q", 30000),
		"old bound":      "_TtG" + strings.Repeat("GSa", 10000),
		"old inout":      "_Tt" + strings.Repeat("R", 30000) + "Si",
		"old specs":      "_TTS" + strings.Repeat("g5Si___TTS", 3000),
		"old signature":  "_Ttu" + strings.Repeat("_", 30000) + "rx",
		"old doubled":    "_TtTV1a1b" + strings.Repeat("TS0_S0__", 4000) + "_",
	} {
		for _, simplified := range []bool{false, true} {
			start := time.Now()
			got, ok := d.Name(name, simplified, maxBytes)
			if len(got) > maxBytes {
				t.Errorf("%s: %d bytes", what, len(got))
			}
			// It takes hundredths of a second: the aim is to tell that from minutes, on any host.
			if took := time.Since(start); took > formattest.Patience {
				t.Errorf("%s: %v for %d bytes, %v", what, took, len(name), ok)
			}
		}
	}
	if cap(d.parser.nodes) > keepNodes || cap(d.parser.stack) > keepNodes {
		t.Errorf("%d nodes, %d on the stack are kept", cap(d.parser.nodes), cap(d.parser.stack))
	}
}

// TestAlone: a name's forms do not depend on the names before it.
func TestAlone(t *testing.T) {
	list := answers(t, formattest.Testdata(t, "swift/answers.tsv.zst"))
	for i := 0; i < len(list); i += 7 {
		if got := new(Demangler).of(list[i].name); got != list[i] && !leavesOut(list[i].full) {
			t.Errorf("%s: %+v", list[i].name, got)
		}
	}
}

func FuzzName(f *testing.F) {
	for i, a := range answers(f, formattest.Testdata(f, "swift/answers.tsv.zst")) {
		if i%20 == 0 {
			f.Add(a.name)
		}
	}
	d := new(Demangler)
	f.Fuzz(func(t *testing.T, name string) {
		start := time.Now()
		got := d.of(name)
		if took := time.Since(start); took > formattest.Patience {
			t.Fatalf("%q took %v", name, took)
		}
		if len(got.full) > maxBytes+len(name) || len(got.simplified) > maxBytes+len(name) {
			t.Fatalf("%q became %d and %d bytes", name, len(got.full), len(got.simplified))
		}
		if again := new(Demangler).of(name); again != got {
			t.Fatalf("%q became %+v, then %+v", name, got, again)
		}
		if !Is(name) && got.full != name {
			t.Fatalf("%q is no name and became %q", name, got.full)
		}
	})
}
