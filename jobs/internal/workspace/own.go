package workspace

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/stores"
)

// own is what belongs to symlake on this machine, by real paths: no source.
type own struct {
	places []string // folders and files
	store  string   // the folder of a file store: only the store's files count in it; "": none

	mu   sync.Mutex
	told map[string]bool // places that were met
	tell func(place string)
}

// withoutOwn gives a source without what belongs to symlake: store, lake, scratch, keyset and configuration. A place that the
// source lies in is left alone, since somebody chose to keep symbols there.
func (p *Workspace) withoutOwn(b bucket.Bucket) bucket.Bucket {
	local, ok := b.(bucket.Hider)
	if !ok {
		return b
	}
	root := realPath(strings.TrimPrefix(b.URL(""), "file:"))
	o := &own{told: map[string]bool{}, tell: func(place string) {
		p.Log.Info("left out of a source: it belongs to symlake", "path", place)
	}}
	config := cmp.Or(p.Flags.Config, settings.File)
	for _, place := range []string{p.StoreDir(), localFolder(p.LakeURL()), p.Config.Scratch, p.KeyPlace().Keyset, config} {
		if place == "" {
			continue
		}
		if place = realPath(place); within(root, place) {
			continue
		}
		o.places = append(o.places, place)
	}
	if dir := p.StoreDir(); dir != "" {
		o.store = realPath(dir)
		for _, name := range []string{"lake", "scratch", settings.DefaultKeyset} {
			if place := filepath.Join(o.store, name); !within(root, place) {
				o.places = append(o.places, place)
			}
		}
	}
	return local.Hide(o.has)
}

// has reports whether a real path is symlake's, and tells of each place once.
func (o *own) has(path string) bool {
	i := slices.IndexFunc(o.places, func(place string) bool { return within(path, place) })
	place := ""
	switch {
	case i >= 0:
		place = o.places[i]
	case o.store != "" && within(path, o.store) && filepath.Dir(path) == o.store && stores.OwnsFile(filepath.Base(path)):
		place = path
	default:
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.told[place] {
		o.told[place] = true
		o.tell(place)
	}
	return true
}

// within reports whether a path is a place or below it.
func within(path, place string) bool {
	place = strings.TrimSuffix(place, string(filepath.Separator)) // a listing asks for each of its files: no text is joined
	return strings.HasPrefix(path, place) && (len(path) == len(place) || os.IsPathSeparator(path[len(place)]))
}

// localFolder is the path of a local URL; "": it is none.
func localFolder(url string) string {
	if path, ok := strings.CutPrefix(url, "file:"); ok {
		return strings.TrimPrefix(path, "//")
	}
	if url == settings.LakeOff || strings.Contains(url, "://") {
		return ""
	}
	return url
}

// realPath is a path without links, as far as it exists.
func realPath(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	rest := ""
	for dir := path; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		} else if !os.IsNotExist(err) || filepath.Dir(dir) == dir {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}
