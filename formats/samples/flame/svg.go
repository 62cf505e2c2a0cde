package flame

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/symlake/symlake/formats/samples"
)

// Measures of the picture, in its own pixels.
const (
	width     = 1200.0
	rowHeight = 17
	above     = 58  // title and words
	below     = 30  // words of the frame under the pointer
	margin    = 10  // at all sides
	letter    = 6.9 // of a letter of 12 pixels
	least     = 0.1 // frames that are narrower are not drawn
	mostRows  = 600 // deeper frames are not drawn
)

//go:embed assets/svg.js
var svgScript string

// drawing is a picture on its way.
type drawing struct {
	w        *bufio.Writer
	t        *tree
	weights  *weights
	children [][]int32
	kind     samples.Type
	height   int
	folded   uint64 // frames that are too narrow or too deep
}

// rect is a node with its place.
type rect struct {
	node int32
	x    float64 // of its left side
	row  int
}

// writeSVG draws the values of the profile's default type.
func writeSVG(out io.Writer, p *samples.Profile) error {
	kind := first(p)
	d := &drawing{w: bufio.NewWriter(out), t: newTree(p), kind: types(p)[kind]}
	d.weights = d.t.weigh(p, kind)
	var outermost []int32
	d.children, outermost = d.t.children()
	rects, rows := d.layout(outermost)
	d.height = above + below + (rows+1)*rowHeight + margin
	d.begin(p)
	for i := range rects {
		d.rect(&rects[i])
	}
	d.w.WriteString("</g>\n<script><![CDATA[\n" + svgScript + "]]></script>\n</svg>\n")
	return d.w.Flush()
}

// scale is the width of a value of 1.
func (d *drawing) scale() float64 {
	if d.weights.all == 0 {
		return 0
	}
	return (width - 2*margin) / d.weights.all
}

// layout places the nodes that are wide enough, row by row from the outermost ones; rows is how many rows there are. It
// needs no stack of calls, however deep the nodes are.
func (d *drawing) layout(outermost []int32) (rects []rect, rows int) {
	scale := d.scale()
	place := func(all []int32, x float64, row int) {
		for _, n := range all {
			w := d.weights.total[n] * scale
			if w <= 0 {
				continue
			}
			if w < least || row >= mostRows {
				d.folded++
			} else {
				rects = append(rects, rect{n, x, row})
				rows = max(rows, row+1)
			}
			x += w
		}
	}
	place(outermost, margin, 0)
	for i := 0; i < len(rects); i++ {
		r := rects[i]
		place(d.children[r.node], r.x, r.row+1)
	}
	return rects, rows
}

// begin writes all that stands before the frames.
func (d *drawing) begin(p *samples.Profile) {
	title := "Flame graph"
	if p.Name != "" {
		title += " of " + p.Name
	}
	total := value(d.weights.all, d.kind.Unit, d.kind.Name)
	about := fmt.Sprintf("%s: %s in %s samples", d.kind.Name, total, thousands(float64(len(p.Samples))))
	if d.folded > 0 {
		about += fmt.Sprintf(". %s frames are too small to be drawn", thousands(float64(d.folded)))
	}
	if d.weights.left > 0 {
		about += fmt.Sprintf(". %s samples have a value below 0 and are not drawn", thousands(float64(d.weights.left)))
	}
	if p.Lost > 0 {
		about += fmt.Sprintf(". %s samples have no stack", thousands(float64(p.Lost)))
	}
	fmt.Fprintf(d.w, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" version="1.1" viewBox="0 0 %g %d" width="%g" height="%d" role="group" aria-labelledby="title about" font-family="ui-sans-serif, system-ui, sans-serif" font-size="12">
<title id="title">%s</title>
<desc id="about">%s. Each frame is as wide as its share. The functions that it called stand above it.</desc>
<style>
#frames rect { rx: 2; stroke: #ffffff; stroke-width: .5; }
#frames text { pointer-events: none; fill: #1a1a1a; }
#frames g:hover rect, #frames g:focus rect { stroke: #1a1a1a; stroke-width: 1; }
#frames g:focus { outline: none; }
#frames g.found rect { fill: #7b2ff2; }
#frames g.found text { fill: #ffffff; }
#frames g.caller { opacity: .55; }
.hidden { display: none; }
.button { cursor: pointer; fill: #0b57d0; }
</style>
<rect width="100%%" height="100%%" fill="#ffffff"/>
<text x="%d" y="26" font-size="17" font-weight="600" fill="#1a1a1a">%s</text>
<text x="%d" y="46" fill="#4a4a4a">%s</text>
<text id="said" x="%d" y="%d" fill="#1a1a1a"></text>
<text id="reset" class="button hidden" x="%g" y="26" text-anchor="end" tabindex="0" role="button">Reset zoom</text>
<text id="search" class="button hidden" x="%g" y="46" text-anchor="end" tabindex="0" role="button">Search</text>
<g id="frames" data-all="%s" data-unit="%s">
`, width, d.height, width, d.height, escape(title), escape(about), margin, escape(title), margin, escape(about), margin, d.height-margin, width-margin, width-margin,
		strconv.FormatFloat(d.weights.all, 'f', -1, 64), escape(d.kind.Unit))
}

// rect writes a frame: its box, its title and as much of its name as fits in.
func (d *drawing) rect(r *rect) {
	n := &d.t.nodes[r.node]
	f := &d.t.functions[n.function]
	w := d.weights.total[r.node] * d.scale()
	y := d.height - below - (r.row+1)*rowHeight
	title := fmt.Sprintf("%s (%s, %s)", f.name, value(d.weights.total[r.node], d.kind.Unit, d.kind.Name), share(d.weights.total[r.node], d.weights.all))
	if f.file != "" {
		title += "\n" + f.file
	}
	if f.module != "" {
		title += "\n" + f.module
	}
	if n.inlined {
		title += "\ninlined"
	}
	fmt.Fprintf(d.w, `<g><title>%s</title><rect x="%s" y="%d" width="%s" height="%d" fill="%s"/>`, escape(title), pixels(r.x), y, pixels(w), rowHeight-1, color(f))
	if text := clip(f.name, w-6); text != "" {
		fmt.Fprintf(d.w, `<text x="%s" y="%d">%s</text>`, pixels(r.x+3), y+12, escape(text))
	}
	d.w.WriteString("</g>\n")
}

// pixels writes a length.
func pixels(v float64) string { return strconv.FormatFloat(float64(int64(v*100+0.5))/100, 'f', -1, 64) }

// clip returns as much of a name as fits into so many pixels; "": nothing that helps.
func clip(name string, room float64) string {
	most := int(room / letter)
	switch {
	case most < 3:
		return ""
	case utf8.RuneCountInString(name) <= most:
		return name
	}
	runes := 0
	for i := range name {
		if runes == most-1 {
			return name[:i] + "…"
		}
		runes++
	}
	return name
}

// escape returns a text for XML and HTML. Letters that XML does not know become marks.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&quot;")
		case r == '\n':
			b.WriteString("&#10;")
		case r < ' ' && r != '\t', r == utf8.RuneError, r == 0xfffe, r == 0xffff, r >= 0x7f && r < 0xa0:
			b.WriteRune('\ufffd')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
