package browsertest

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"slices"
)

// paletteColors is how many colors a picture keeps: pages have few, and shades of them at the edges of letters.
const paletteColors = 64

// smaller returns a picture with the colors that it has most of, in a fifth of the bytes.
func smaller(picture []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	bounds := full.Bounds()
	counts := map[color.RGBA]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[rgba(full, x, y)]++
		}
	}
	colors := make([]color.RGBA, 0, len(counts))
	for c := range counts {
		colors = append(colors, c)
	}
	slices.SortFunc(colors, func(a, b color.RGBA) int {
		return cmp.Or(counts[b]-counts[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var palette color.Palette
	for _, c := range colors { // shades that differ little share one
		if len(palette) < paletteColors && (len(palette) == 0 || distance(c, palette[palette.Index(c)].(color.RGBA)) > 60) {
			palette = append(palette, c)
		}
	}
	nearest := map[color.RGBA]uint8{}
	for _, c := range colors {
		nearest[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			out.SetColorIndex(x, y, nearest[rgba(full, x, y)])
		}
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, out); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func rgba(m image.Image, x, y int) color.RGBA {
	r, g, b, _ := m.At(x, y).RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}
}

// distance is the sum of the squares of the differences of two colors.
func distance(a, b color.RGBA) int {
	square := func(x, y uint8) int { return (int(x) - int(y)) * (int(x) - int(y)) }
	return square(a.R, b.R) + square(a.G, b.G) + square(a.B, b.B)
}
