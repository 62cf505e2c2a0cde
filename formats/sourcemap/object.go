package sourcemap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/symbol"
)

// object is an opened map.
type object struct {
	in     *formats.Input
	script *formats.Input // that the map stands in; nil: it is a file of its own
	beside *formats.Input // the script that lies beside such a file; nil: none was found
	ids    []string       // debug ids of the script, and of its other map
	layout *mapfile.Layout
}

// end is the end of every script.
var end = mapfile.Position{Line: symbol.MaxLine}

// names returns the names of the script and of the map.
func (o *object) names() []symbol.Name {
	var names []symbol.Name
	add := func(k symbol.NameKind, text string) {
		for _, n := range names {
			if n.Kind == k && strings.EqualFold(n.Text, text) {
				return
			}
		}
		if text != "" && text != "." && text != "/" {
			names = append(names, symbol.Name{Kind: k, Text: text})
		}
	}
	for _, id := range o.layout.DebugIDs {
		add(symbol.NameDebugID, id)
	}
	for _, id := range o.ids {
		add(symbol.NameDebugID, id)
	}
	where := pathOf(o.in.Name)
	if o.script != nil {
		where = pathOf(o.script.Name)
	}
	script := strings.TrimSuffix(where, ".map")
	add(symbol.NameFile, formats.Base(script))
	add(symbol.NameFile, formats.Base(where))
	if file := o.layout.File; file != "" {
		add(symbol.NameFile, formats.Base(pathOf(file)))
	}
	if strings.Contains(strings.Trim(script, "/"), "/") {
		add(symbol.NamePath, script)
	}
	return names
}

// pathOf is the path in an object's name or a URL, without query and fragment:
// the member's in an archive.
func pathOf(file string) string {
	if i := strings.LastIndexByte(file, '!'); i >= 0 {
		return file[i+1:]
	}
	if scheme, rest, ok := strings.Cut(file, "://"); ok && !strings.ContainsAny(scheme, "/.") {
		if u, err := url.Parse(file); err == nil && scheme != "file" {
			return path.Clean(strings.TrimPrefix(u.Path, "/"))
		}
		return rest
	}
	return strings.TrimPrefix(file, "file:")
}

// digest is the id of a map without one.
func (o *object) digest(ctx context.Context) (string, error) {
	h := sha256.New()
	if err := o.layout.Hash(ctx, h, o.in); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}
