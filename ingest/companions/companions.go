// Package companions joins objects with the companions that they wait for: debug files, split units,
// maps. Waits and wake-ups are records of the catalog, never a variable of a process.
//
//	waiter      object A asked for companion C in vain
//	obligation  C has come, and A must be derived again
//
// The later of A and C turns a wait into a wake-up. A records its waiters before its record changes, then
// looks for C once more. C enters its names, and its record if it is a build, before it looks for waiters.
// So each order of the four steps ends with an obligation:
//
//	A: look for C · write the waiter · look for C again, and oblige · publish · ledger
//	C: enter names, publish · look for waiters, and oblige · ledger
//
// A death before the ledger's entry repeats the object's steps. A run derives A again at its end, with the
// obligations as it read them before. It removes the waiter if A found C, then the obligation. An
// obligation that another process wrote again meanwhile has other bytes and stays.
//
// The waiter stays if A lacks C all the same: C's file is of another build, A is rejected or held with it,
// or an earlier content of A's object is published. The waiter then names the state of C beside which A
// was read, and A is due again when C changes. The obligation stays, and the run does not derive A, if C
// lies in no source of the run.
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

// The prefixes of keys say how an object asks for a companion.
const (
	// BuildIDPrefix begins the id of a companion that is known by its build-id.
	BuildIDPrefix = "build-id:"
	dwzPrefix     = "dwz:"
	FilePrefix    = "file:"
	// imagePrefix begins the id by which a debug file asks for its image. The image adds call frame information alone: an object
	// waits for it, and no report or warning tells of it.
	imagePrefix = "image:"
)

// Spellings returns the keys of one companion: objects ask for a dwz file by its build-id, and it is
// reported as dwz.
func Spellings(id string) []string {
	if hex, ok := strings.CutPrefix(id, BuildIDPrefix); ok {
		return []string{id, dwzPrefix + hex}
	}
	if hex, ok := strings.CutPrefix(id, dwzPrefix); ok {
		return []string{id, BuildIDPrefix + hex}
	}
	return []string{id}
}

// BuildID returns the build-id in the key of a companion, in lower case; "": the companion is not known by a build-id.
func BuildID(id string) string {
	for _, prefix := range []string{BuildIDPrefix, dwzPrefix} {
		if hex, ok := strings.CutPrefix(id, prefix); ok {
			return strings.ToLower(hex)
		}
	}
	return ""
}

// Key returns the key under which an object waits for a companion: its id, or its name if it has no id. A
// file that comes under an id announces its id, too. The key is a copy.
func Key(want formats.Ref) string {
	if want.ID != "" {
		return strings.Clone(want.ID)
	}
	return FileKey(want.Name)
}

// FileKey returns the waiter's key for a file name.
func FileKey(name string) string {
	if name == "" {
		return ""
	}
	return FilePrefix + strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
}

// Places returns the objects and members ("URL!member") that have an id.
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

// Join compares all waiters with all names, and records an obligation for each waiter with a companion that the
// catalog knows. Then the store's obligations are complete. A store of an earlier version gets its
// obligations from its first run; gc and copies compare again.
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

// Arrival tells where a companion is, by the catalog.
type Arrival struct {
	Places []string                // "URL!member"
	Owners map[string]row.Standing // by place, from the ledger
	State  string                  // changes with the places and their content; "": it is nowhere
}

// Arrived reports whether the catalog knows the companion that w lacks, in a state beside which w's object
// was not read yet.
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

// ArrivalAt asks the ledger for the objects of places. It leaves out objects that are gone, and objects of
// sources that may not change the loads of a source of standing s.
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
