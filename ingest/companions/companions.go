package companions

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
	BuildIDPrefix = "build-id:"
	dwzPrefix     = "dwz:"
	FilePrefix    = "file:"
)

// Spellings are the ways in which one companion is called: a dwz file is
// asked for by its build-id and reported as dwz.
func Spellings(id string) []string {
	if hex, ok := strings.CutPrefix(id, BuildIDPrefix); ok {
		return []string{id, dwzPrefix + hex}
	}
	if hex, ok := strings.CutPrefix(id, dwzPrefix); ok {
		return []string{id, BuildIDPrefix + hex}
	}
	return []string{id}
}

// Key is the key under which an object waits for a companion: its id, or its name where it has
// none. A file that comes under an id announces its id, too. The key is a copy.
func Key(want formats.Ref) string {
	if want.ID != "" {
		return strings.Clone(want.ID)
	}
	return FileKey(want.Name)
}

// FileKey is the waiter's key for a file name.
func FileKey(name string) string {
	if name == "" {
		return ""
	}
	return FilePrefix + strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
}

func Places(ctx context.Context, c *catalog.Catalog, id string) ([]string, error) {
	var places []string
	for _, s := range Spellings(id) {
		refs, err := c.Names.Find(ctx, s, 4)
		if err != nil {
			return nil, err
		}
		for _, r := range refs {
			if r.Object != "" {
				places = append(places, r.Object)
			}
		}
	}
	if hex, ok := strings.CutPrefix(Spellings(id)[0], BuildIDPrefix); ok {
		rec, err := c.Artifacts.Get(ctx, symbol.NewID(symbol.ELF, strings.ToLower(hex)))
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

// Wait is a waiter and the key it waits under.
type Wait struct {
	Companion string
	catalog.Waiter
}

// Join records an obligation for each waiter whose companion the catalog knows. Then the
// store's obligations are complete.
func Join(ctx context.Context, c *catalog.Catalog) error {
	var all []Wait
	err := c.Waiters.Each(ctx, func(companion string, w catalog.Waiter) error {
		all = append(all, Wait{companion, w})
		return nil
	})
	if err != nil {
		return err
	}
	err = parallel.Each(all, func(w Wait) error {
		there, err := Arrived(ctx, c, w)
		if err != nil || !there {
			return err
		}
		return c.Obligations.Add(ctx, w.Companion, w.Waiter)
	})
	if err != nil {
		return err
	}
	return c.Obligations.SetJoined(ctx)
}

// Arrival is what the catalog knows of a companion.
type Arrival struct {
	Places []string                // where the companion is
	Owners map[string]row.Standing // by place, as the ledger noted them
	State  string                  // differs when one of the places or its content does; "": it is nowhere
}

// Arrived reports whether the catalog knows the companion that w lacks, and w's object was
// not read yet beside it in its present state.
func Arrived(ctx context.Context, c *catalog.Catalog, w Wait) (bool, error) {
	a, err := ArrivalOf(ctx, c, w)
	return err == nil && a.State != "" && a.State != w.InVain, err
}

// ArrivalOf looks for the companion that w lacks: by its id, or by the ledger's entry of a file of
// that name beside the object.
func ArrivalOf(ctx context.Context, c *catalog.Catalog, w Wait) (Arrival, error) {
	asker, err := c.Ledger.Get(ctx, w.Object)
	if err != nil || asker == nil {
		return Arrival{}, err
	}
	name, isFile := strings.CutPrefix(w.Companion, FilePrefix)
	places := []string{w.Object[:strings.LastIndexByte(w.Object, '/')+1] + name}
	if !isFile {
		if places, err = Places(ctx, c, w.Companion); err != nil {
			return Arrival{}, err
		}
	}
	return ArrivalAt(ctx, c, places, asker.Standing)
}

// ArrivalAt asks the ledger for the objects of places. An object that is gone does not count, nor
// one whose source may not change what a source of standing s brought.
func ArrivalAt(ctx context.Context, c *catalog.Catalog, places []string, s row.Standing) (Arrival, error) {
	var a Arrival
	sum := sha256.New()
	for _, place := range places {
		o, err := ledger.At(ctx, c, place)
		if err != nil {
			return Arrival{}, err
		}
		if o == nil {
			continue
		}
		if a.Owners == nil {
			a.Owners = make(map[string]row.Standing)
		}
		a.Owners[place] = o.Standing
		if o.State == catalog.ObjectGone || !o.Standing.MayReplace(s) {
			continue
		}
		a.Places = append(a.Places, place)
		fmt.Fprintf(sum, "%q %q\n", place, o.ETag)
		a.State = hex.EncodeToString(sum.Sum(nil)[:16])
	}
	return a, nil
}
