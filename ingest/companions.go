package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

const (
	buildIDKey = "build-id:"
	dwzKey     = "dwz:"
	fileKey    = "file:"
)

// spellings are the ways in which one companion is called: a dwz file is
// asked for by its build-id and reported as dwz.
func spellings(id string) []string {
	if hex, ok := strings.CutPrefix(id, buildIDKey); ok {
		return []string{id, dwzKey + hex}
	}
	if hex, ok := strings.CutPrefix(id, dwzKey); ok {
		return []string{id, buildIDKey + hex}
	}
	return []string{id}
}

// waitKey is the key under which an object waits for a companion: its id, or its name where it has
// none. A file that comes under an id announces its id, too. The key is a copy.
func waitKey(want formats.Ref) string {
	if want.ID != "" {
		return strings.Clone(want.ID)
	}
	return waitName(want.Name)
}

// waitName is the waiter's key for a file name.
func waitName(name string) string {
	if name == "" {
		return ""
	}
	return fileKey + strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
}

func placesOf(ctx context.Context, c *catalog.Catalog, id string) ([]string, error) {
	var places []string
	for _, s := range spellings(id) {
		refs, err := c.Names(ctx, s, 4)
		if err != nil {
			return nil, err
		}
		for _, r := range refs {
			if r.Object != "" {
				places = append(places, r.Object)
			}
		}
	}
	if hex, ok := strings.CutPrefix(spellings(id)[0], buildIDKey); ok {
		rec, err := c.Artifact(ctx, symbol.NewID(symbol.ELF, strings.ToLower(hex)))
		if err != nil {
			return nil, err
		}
		if rec != nil && rec.Published != nil {
			s := rec.Published.Source
			places = append(places, ledger.Place(s.URL, s.Member))
		}
	}
	return places, nil
}

// waiting is a waiter and the key it waits under.
type waiting struct {
	key string
	catalog.Waiter
}

// joinWaiters records an obligation for each waiter whose companion the catalog knows. Then the
// store's obligations are complete.
func joinWaiters(ctx context.Context, c *catalog.Catalog) error {
	var all []waiting
	err := c.AllWaiters(ctx, func(companion string, w catalog.Waiter) error {
		all = append(all, waiting{companion, w})
		return nil
	})
	if err != nil {
		return err
	}
	err = parallel.Each(all, func(w waiting) error {
		there, err := arrivedBefore(ctx, c, w)
		if err != nil || !there {
			return err
		}
		return c.Oblige(ctx, w.key, w.Waiter)
	})
	if err != nil {
		return err
	}
	return c.SetJoined(ctx)
}

// arrival is what the catalog knows of a companion.
type arrival struct {
	places []string                // where the companion is
	owners map[string]row.Standing // by place, as the ledger noted them
	state  string                  // differs when one of the places or its content does; "": it is nowhere
}

// arrivedBefore reports whether the catalog knows the companion that w lacks, and w's object was
// not read yet beside it in its present state.
func arrivedBefore(ctx context.Context, c *catalog.Catalog, w waiting) (bool, error) {
	a, err := arrivalOf(ctx, c, w)
	return err == nil && a.state != "" && a.state != w.InVain, err
}

// arrivalOf looks for the companion that w lacks: by its id, or by the ledger's entry of a file of
// that name beside the object.
func arrivalOf(ctx context.Context, c *catalog.Catalog, w waiting) (arrival, error) {
	asker, err := c.Object(ctx, w.Object)
	if err != nil || asker == nil {
		return arrival{}, err
	}
	name, isFile := strings.CutPrefix(w.key, fileKey)
	places := []string{w.Object[:strings.LastIndexByte(w.Object, '/')+1] + name}
	if !isFile {
		if places, err = placesOf(ctx, c, w.key); err != nil {
			return arrival{}, err
		}
	}
	return arrivalAt(ctx, c, places, asker.Standing)
}

// arrivalAt asks the ledger for the objects of places. An object that is gone does not count, nor
// one whose source may not change what a source of standing s brought.
func arrivalAt(ctx context.Context, c *catalog.Catalog, places []string, s row.Standing) (arrival, error) {
	var a arrival
	sum := sha256.New()
	for _, place := range places {
		o, err := ledger.At(ctx, c, place)
		if err != nil {
			return arrival{}, err
		}
		if o == nil {
			continue
		}
		if a.owners == nil {
			a.owners = make(map[string]row.Standing)
		}
		a.owners[place] = o.Standing
		if o.State == catalog.ObjectGone || !o.Standing.MayReplace(s) {
			continue
		}
		a.places = append(a.places, place)
		fmt.Fprintf(sum, "%q %q\n", place, o.ETag)
		a.state = hex.EncodeToString(sum.Sum(nil)[:16])
	}
	return a, nil
}
