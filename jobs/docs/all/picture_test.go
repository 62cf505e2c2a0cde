package all_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/elf"
	"github.com/symlake/symlake/formats/formattest"
)

var update = flag.Bool("update", false, "draw jobs/docs/picture.svg again")

// drawn are the frames of the tombstone that the picture shows.
var drawn = []string{"#00", "#02", "#06"}

// Sizes of the picture, in units of its own.
const (
	pictureWidth = 880
	leftColumn   = 20
	rowColumn    = 340
	rightColumn  = 580
	firstLine    = 76
	lineHeight   = 22
	charWidth    = 7.8
)

// pictureStyle has the colors of a light page, and of a dark one.
const pictureStyle = `
  .page { fill: #ffffff; stroke: #d0d7de } .head { fill: #57606a } .raw { fill: #24292f } .row { fill: #ddf4ff; stroke: #54aeff } .key { fill: #0550ae }
  .name { fill: #1a7f37; font-weight: 600 } .place { fill: #57606a } .way { stroke: #8c959f; fill: none }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #30363d } .head { fill: #8b949e } .raw { fill: #c9d1d9 } .row { fill: #0c2d6b; stroke: #388bfd } .key { fill: #a5d6ff }
    .name { fill: #56d364 } .place { fill: #8b949e } .way { stroke: #6e7681 }
  }
`

// picture draws symbolicated frames of a tombstone: its lines left, the ranges that hold their addresses in the middle, the source
// right.
type picture struct {
	shapes bytes.Buffer
	y      int
}

func (p *picture) text(class string, x, y int, text string) {
	fmt.Fprintf(&p.shapes, "<text class=%q x=\"%d\" y=\"%d\">%s</text>\n", class, x, y, html.EscapeString(text))
}

// frame is one of symbolicate --json.
type frame struct {
	Raw, Status string
	Frames      []struct {
		Function, File string
		Line           int
	}
}

var (
	rawFrame = regexp.MustCompile(`^(#\d+) pc ([0-9a-f]+) .*[!/](\w+\.so)`)
	scopes   = regexp.MustCompile(`^(?:\w+::|\(anonymous namespace\)::)+`)
)

// add draws a frame and the range [start, end) that answers it.
func (p *picture) add(f frame, start, end uint64) {
	m := rawFrame.FindStringSubmatch(f.Raw)
	top := p.y
	for _, inlined := range f.Frames {
		name, _, _ := strings.Cut(scopes.ReplaceAllString(inlined.Function, ""), "(")
		p.text("name", rightColumn, p.y, name)
		p.text("place", rightColumn+160, p.y, fmt.Sprintf("%s:%d", path.Base(inlined.File), inlined.Line))
		p.y += lineHeight
	}
	middle := (top + p.y - lineHeight) / 2
	p.text("raw", leftColumn, middle, fmt.Sprintf("%s pc %s %s", m[1], strings.TrimPrefix(m[2], "00000000"), m[3]))
	key := fmt.Sprintf("[%#x, %#x)", start, end)
	fmt.Fprintf(&p.shapes, "<rect class=\"row\" x=\"%d\" y=\"%d\" width=\"180\" height=\"24\" rx=\"4\"/>\n", rowColumn, middle-16)
	p.text("key", rowColumn+90-int(charWidth*float64(len(key))/2), middle, key)
	fmt.Fprintf(&p.shapes, "<path class=\"way\" d=\"M%d %d H%d M%d %d H%d\"/>\n", rowColumn-46, middle-4, rowColumn-8, rowColumn+188, middle-4, rightColumn-12)
	p.y += lineHeight / 2
}

func (p *picture) svg() []byte {
	var all bytes.Buffer
	height := p.y + 10
	fmt.Fprintf(&all, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, monospace\" font-size=\"13\">\n", pictureWidth, height)
	fmt.Fprintf(&all, "<title>A raw stack, the ranges that hold its addresses, and the source lines</title>\n<style>%s</style>\n", pictureStyle)
	fmt.Fprintf(&all, "<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", pictureWidth-1, height-1)
	all.Write(p.shapes.Bytes())
	all.WriteString("</svg>\n")
	return all.Bytes()
}

// TestPicture fails when the picture of README differs from a real run. With -update it draws the picture again.
func TestPicture(t *testing.T) {
	t.Parallel()
	object := formattest.Testdata(t, "elf/libgame-arm64-dw5.so")
	place := newWorkplace(t, "README.md")
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "symlake --log-level error symbolicate --json --symbols testdata/elf/libgame-arm64-dw5.so testdata/stacks/tombstone.txt")
	cmd.Dir, cmd.Env = place.dir, place.env
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var stack struct{ Threads []struct{ Frames []frame } }
	if err := json.Unmarshal(out, &stack); err != nil {
		t.Fatal(err)
	}
	artifacts := formattest.Open(t, &elf.Format, formattest.Input(t, object)).Artifacts
	flat, err := formattest.Flatten(t.Context(), &elf.Format, &artifacts[0])
	if err != nil {
		t.Fatal(err)
	}

	p := picture{y: firstLine}
	p.text("head", leftColumn, 36, "a crash has addresses")
	p.text("head", rowColumn, 36, "symlake stores ranges")
	p.text("head", rightColumn, 36, "you read functions, files, lines")
	for _, f := range stack.Threads[0].Frames {
		m := rawFrame.FindStringSubmatch(f.Raw)
		if m == nil || !slices.Contains(drawn, m[1]) {
			continue
		}
		address, err := strconv.ParseUint(m[2], 16, 64)
		if err != nil || f.Status != "found" {
			t.Fatal(f, err)
		}
		borders := flat.Borders()
		after, _ := slices.BinarySearch(borders, address+1)
		p.add(f, borders[after-1], borders[after])
	}
	file := filepath.Join(formattest.Root(), "jobs", "docs", "picture.svg")
	if *update {
		if err := os.WriteFile(file, p.svg(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(is, p.svg()) {
		t.Error("jobs/docs/picture.svg differs from a run: go test ./jobs/docs/all -run TestPicture -update draws it again")
	}
}
