// Package flame draws samples as flame graphs: as a picture, and as a page with views, search and a table.
//
// Both are one file that asks for nothing else. The picture says all without its script. Equal samples give equal bytes.
// Functions of one module share a hue. A frame is as wide as its share of the values; frames that would be narrower than a
// tenth of a pixel are left out and counted, so that a file stays small for any number of samples.
package flame

import "github.com/symlake/symlake/formats/profile"

// SVG is a picture of a profile.
var SVG = &profile.Format{
	Name:    "svg",
	Title:   "a flame graph as SVG",
	Endings: []string{".svg"},
	Media:   []string{"image/svg+xml"},
	Write:   writeSVG,
}

// Page is a page of a profile.
var Page = &profile.Format{
	Name:    "html",
	Title:   "a page with a flame graph",
	Endings: []string{".html", ".htm"},
	Media:   []string{"text/html"},
	Write:   writePage,
}
