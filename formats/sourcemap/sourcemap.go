// Package sourcemap reads source maps: ECMA-426 regular and index maps with
// ignore lists, scopes and range mappings, the maps of Metro and Hermes (function maps, RAM
// bundles, segments, a compiler's map composed with its packager's), and maps inside the
// scripts they belong to. It turns them into the same ranges as native code has: a position is
// a line and a column of the script (symbol.ScriptPosition).
//
// The function of a range encloses it; it is never the name that stands
// at the place: from the map's scopes, else from its function maps, else from the
// sources in the map, else from the script itself if that lies beside the map. The map's own name goes
// to Mark.Name.
//
// Sources tell the function at the original place (package source). Mark.Compiled keeps the script's function
// around the place where its name differs. If the script's function came from another function of a source, the minifier
// inlined one into the other, and the answer is a chain of both (package origin). Of a source's text nothing is kept.
//
// It leaves to others: stacks (formats/report), and which of several maps a frame means
// (sinks/lookup).
//
// Invariants:
//   - JSON is read front to back through a window, twice: memory holds a map's
//     sources and names, one line's segments, and its function names; composing
//     two maps holds the lower one's segments, and taking functions from a script its functions' places and names;
//   - one source is in memory at a time; of each, the places and names of its functions stay;
//   - what the specification calls an error is one: a map is answered from
//     whole or not at all;
//   - a segment answers up to the next one of its line, the last one up to the line's end. A linear segment
//     (rangeMappings) that is the last one of its line answers up to the next one of the map;
//   - a script that cannot be read costs only the names.
//
// A map's id is its debug id; without one it is the SHA-256 of what its answers come from:
// for each map in it, in order, the name and the bytes of the values of sourceRoot, sources, names,
// mappings, rangeMappings, scopes, ignoreList and the x_ fields that are read. Sources are not in it.
package sourcemap

import (
	"bytes"
	"context"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
)

// Format reads source maps, and scripts for the sake of those.
var Format = formats.Format{Name: mapfile.Name, Version: 3, Detect: detect, Open: open}

// detect: a map is a JSON object with the fields of one, or any JSON object with a name that
// ends in .map. A script is known by its name.
func detect(file string, head []byte) bool {
	file = strings.ToLower(formats.Base(file))
	if isMap(file, head) {
		return true
	}
	return isScript(file) && len(head) > 0 && bytes.IndexByte(head[:min(len(head), 512)], 0) < 0
}

func isMap(file string, head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if bytes.HasPrefix(head, []byte(")]}")) {
		_, head, _ = bytes.Cut(head, []byte{'\n'})
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	if strings.HasSuffix(file, ".map") {
		return true
	}
	// The first key tells: any other JSON may hold these words somewhere.
	key := bytes.TrimLeft(head[1:], " \t\r\n")
	known := false
	for _, k := range []string{`"version"`, `"mappings"`, `"sources"`, `"file"`, `"names"`, `"sections"`, `"sourceRoot"`, `"debugId"`, `"debug_id"`} {
		known = known || bytes.HasPrefix(key, []byte(k))
	}
	return known && (bytes.Contains(head, []byte(`"mappings"`)) || bytes.Contains(head, []byte(`"sections"`)) || bytes.Contains(head, []byte(`"sourcesContent"`)))
}

func open(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	head, err := in.View(0, min(in.Size, formats.HeadBytes))
	if err != nil {
		return nil, err
	}
	if isMap(strings.ToLower(formats.Base(in.Name)), head) {
		return openMap(ctx, in, nil)
	}
	inner, _, err := inlineMap(in)
	if err != nil {
		return nil, err
	}
	if inner == nil {
		// A script alone: the map beside it asks for it.
		return &formats.Object{Companions: scriptKeys(in)}, nil
	}
	return openMap(ctx, inner, in)
}
