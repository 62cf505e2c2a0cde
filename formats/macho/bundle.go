package macho

import (
	"bytes"
	"context"
	"errors"
	"path"
	"strings"

	"github.com/symlake/symlake/formats"
)

const bundlePlist = ".dSYM/Contents/Info.plist"

// Bundle looks from a dSYM bundle's Info.plist for the file that the bundle is
// there for: tools that are killed, and uploads that choose files by their
// endings, leave bundles without one.
var Bundle = formats.Format{Name: "dsym-bundle", Version: 1,
	Detect: func(name string, _ []byte) bool {
		return strings.HasSuffix(strings.ReplaceAll(name, `\`, "/"), bundlePlist)
	},
	Open: openBundle,
}

func openBundle(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	obj := &formats.Object{Note: "companion: of the dSYM file in the same bundle"}
	if in.Companion == nil {
		return obj, nil
	}
	bundle := strings.TrimSuffix(strings.ReplaceAll(in.Name, `\`, "/"), bundlePlist)
	bundle = formats.Base(bundle)
	names := []string{bundle, bundle + ".dylib"}
	if plain := strings.TrimSuffix(bundle, path.Ext(bundle)); plain != bundle && plain != "" && path.Ext(bundle) != ".dylib" {
		names = []string{plain, bundle} // App.app, Kit.framework
	}
	// The file need not be called as the bundle is. The names are what can be waited for.
	const folder = "Resources/DWARF/"
	asks := []formats.Ref{{Name: folder, Optional: true}}
	for _, n := range names {
		asks = append(asks, formats.Ref{Name: folder + n})
	}
	for _, ask := range asks {
		dwarf, err := in.Companion(ctx, ask)
		if errors.Is(err, formats.ErrNoCompanion) {
			continue
		}
		if err != nil && !formats.Rejects(err) {
			return nil, err
		}
		if err == nil && dwarf.Release != nil {
			err = dwarf.Release()
		}
		return obj, err
	}
	return &formats.Object{Note: "no-dwarf: the dSYM bundle " + bundle + ".dSYM has no Contents/Resources/DWARF/" + names[0]}, nil
}

// Cache recognizes the cache that holds all libraries of a system.
var Cache = formats.Format{Name: "dyld-cache", Version: 1,
	Detect: func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte("dyld_v")) },
	Open: func(context.Context, *formats.Input) (*formats.Object, error) {
		return nil, &formats.Error{Format: "dyld-cache", Err: formats.ErrUnsupported,
			Want: "its libraries one by one: hand in Xcode's folder \"iOS DeviceSupport/VERSION/Symbols\", or what `ipsw dyld extract CACHE --all` or `dyld_shared_cache_util -extract FOLDER CACHE` wrote"}
	},
}
