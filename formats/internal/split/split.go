// Package split finds the split units of a program file: in the file itself, in its package, in the file that a unit
// names, and among the files known by the unit's id.
//
// Invariants:
//   - a found file counts only with the right id;
//   - a missing or damaged file costs its own answers alone.
package split

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/once"
)

// File is a program file, or a part of one.
type File interface {
	dwarf.File
	Has(section string) bool // it holds bytes of the section
	Close() error
}

const (
	// probes is how many split units are looked for by the names of their
	// files before all are: of whoever hands in an image alone, none of its
	// thousands of files is there, and each name takes several requests.
	probes = 16
	// packageIDs is how many ids a package is asked for by. It is known by its
	// formats.MaxCompanions smallest, so that the smallest of an object find it even
	// if it serves a hundred objects like that.
	packageIDs = 8
	// idleFiles is how many files of split units stay open that no unit reads:
	// after link-time optimization many units share one.
	idleFiles = 8
)

// splitFile is a file with split units.
type splitFile struct {
	in   *formats.Input
	file File
	pack *dwarf.Pack

	opened once.Work
	users  int
}

func (f *splitFile) close() error {
	var errs []error
	if f.file != nil {
		errs = append(errs, f.file.Close())
	}
	if f.in != nil && f.in.Release != nil {
		errs = append(errs, f.in.Release())
	}
	f.in, f.file, f.pack = nil, nil, nil
	return errors.Join(errs...)
}

// Units finds the split units of an object, in this order: in the object
// itself, in its package, in the file that the unit names, among the files known
// by the unit's id.
type Units struct {
	Format string                                // in errors
	In     *formats.Input                        // the object
	File   File                                  // the object too; it stays the caller's to close
	Data   *dwarf.Data                           // of the object
	Open   func(in *formats.Input) (File, error) // opens a file with split units

	prepared once.Work

	packages []*splitFile // open until the object is closed
	fault    error        // of a package, when it rejects
	byName   bool         // files are there under their names

	mu    sync.Mutex
	files map[string]*splitFile // by the wanted name or id
	idle  []string              // of these, the files without a reader; the oldest first
	errs  []error
}

// Find is explode.Exploder's Split.
func (s *Units) Find(ctx context.Context, unit *dwarf.Skeleton) (*dwarf.Pack, func(), error) {
	err := s.prepared.Do("split", func() error { return s.prepare(ctx) })
	if err != nil || !unit.HasID {
		return nil, func() {}, err
	}
	for _, f := range s.packages {
		if f.pack.Has(unit.ID) {
			return f.pack, func() {}, nil
		}
	}
	p, done, err := s.alone(ctx, unit, s.byName)
	if p == nil && err == nil {
		err = s.fault
	}
	return p, done, err
}

// prepare finds the units in the object itself, and looks for the others.
func (s *Units) prepare(ctx context.Context) error {
	own := &splitFile{file: s.File}
	var err error
	if own.pack, err = s.openPack(ctx, s.File); err != nil {
		if !formats.Rejects(err) {
			return err
		}
		s.fault = err
	}
	if own.pack != nil {
		own.file = nil // the object closes it
		s.packages = append(s.packages, own)
	}
	all, err := s.Data.Skeletons(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(u *dwarf.Skeleton) bool { return !u.HasID || own.pack != nil && own.pack.Has(u.ID) })
	return s.look(ctx, all)
}

// look finds the package of units, and out whether their files are there under
// their names.
func (s *Units) look(ctx context.Context, all []*dwarf.Skeleton) error {
	if len(all) == 0 {
		return nil
	}
	for _, name := range packageNames(s.In.Name) {
		if err := s.addPackage(ctx, formats.Ref{Name: name, Optional: true}); err != nil {
			return err
		}
	}
	smallest := slices.Clone(all)
	slices.SortFunc(smallest, func(a, b *dwarf.Skeleton) int {
		switch {
		case a.ID < b.ID:
			return -1
		case a.ID > b.ID:
			return 1
		}
		return 0
	})
	for _, u := range smallest[:min(packageIDs, len(smallest))] {
		if slices.ContainsFunc(s.packages, func(f *splitFile) bool { return f.pack.Has(u.ID) }) {
			break
		}
		if err := s.addPackage(ctx, formats.Ref{ID: u.Companion(), Optional: true}); err != nil {
			return err
		}
	}
	s.byName = len(all) <= probes
	for i := 0; i < probes && !s.byName; i++ {
		p, done, err := s.alone(ctx, all[i*len(all)/probes], true)
		done()
		if err != nil && !formats.Rejects(err) {
			return err
		}
		s.byName = p != nil
	}
	return nil
}

// addPackage opens a package, if there is one, for as long as the object is open.
func (s *Units) addPackage(ctx context.Context, want formats.Ref) error {
	f := &splitFile{}
	err := f.open(ctx, s, want)
	switch {
	case err == nil && f.pack.Package():
		s.packages = append(s.packages, f)
		return nil
	case errors.Is(err, formats.ErrNoCompanion):
		err = nil
	case formats.Rejects(err):
		if s.fault == nil && want.Name != "" {
			s.fault = err
		}
		err = nil
	}
	return errors.Join(err, f.close())
}

// packageNames returns the usual names of a file's package: "libx.so.dwp" of
// libx.so, and of libx.so.debug too.
func packageNames(name string) []string {
	name = formats.Base(name)
	names := []string{name + ".dwp"}
	if end := path.Ext(name); end == ".debug" || end == ".dbg" {
		names = append(names, strings.TrimSuffix(name, end)+".dwp")
	}
	return names
}

// alone finds the file of one unit. done gives it back. An error that rejects
// says why the found file does not do.
func (s *Units) alone(ctx context.Context, unit *dwarf.Skeleton, byName bool) (p *dwarf.Pack, done func(), err error) {
	var asks []formats.Ref
	if byName && unit.Name != "" {
		asks = append(asks, formats.Ref{Name: unit.Name, Optional: true})
		if !path.IsAbs(unit.Name) && unit.Dir != "" {
			asks = append(asks, formats.Ref{Name: unit.Dir + "/" + unit.Name, Optional: true})
		}
	}
	var fault error
	for _, want := range append(asks, formats.Ref{ID: unit.Companion()}) {
		key := want.ID + want.Name
		f := s.take(key)
		opened := f.opened.Do("split", func() error { return f.open(ctx, s, want) })
		switch {
		case opened == nil && f.pack.Has(unit.ID):
			return f.pack, func() { s.give(key) }, nil
		case opened == nil:
			fault = &formats.Error{Format: s.Format, Section: ".debug_info.dwo", Want: fmt.Sprintf("the split unit %016x; %s is of another build", unit.ID, f.in.Name), Err: formats.ErrCorrupt}
		case errors.Is(opened, formats.ErrNoCompanion):
		case formats.Rejects(opened):
			fault = opened
		default:
			err = opened
		}
		s.give(key)
		if err != nil {
			return nil, func() {}, err
		}
	}
	return nil, func() {}, fault
}

// take is the file of a key, for one more user.
func (s *Units) take(key string) *splitFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[key]
	if f == nil {
		if s.files == nil {
			s.files = map[string]*splitFile{}
		}
		f = &splitFile{}
		s.files[key] = f
	}
	if f.users++; f.users == 1 {
		s.idle = slices.DeleteFunc(s.idle, func(k string) bool { return k == key })
	}
	return f
}

// give takes the user back. A file that was found stays open for a while; what
// was not is remembered.
func (s *Units) give(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[key]
	if f.users--; f.users > 0 || f.in == nil {
		return
	}
	s.idle = append(s.idle, key)
	if len(s.idle) > idleFiles {
		oldest := s.idle[0]
		s.idle = s.idle[1:]
		s.errs = append(s.errs, s.files[oldest].close())
		delete(s.files, oldest)
	}
}

// Close gives back the open files; no part may be at work.
func (s *Units) Close() error {
	for _, f := range s.files {
		s.errs = append(s.errs, f.close())
	}
	for _, f := range s.packages {
		s.errs = append(s.errs, f.close())
	}
	return errors.Join(s.errs...)
}

// open asks for a file with split units and reads their headers.
func (f *splitFile) open(ctx context.Context, s *Units, want formats.Ref) error {
	if s.In.Companion == nil {
		return formats.ErrNoCompanion
	}
	in, err := s.In.Companion(ctx, want)
	if err != nil {
		return err
	}
	f.in = in
	if f.file, err = s.Open(in); err == nil {
		f.pack, err = s.openPack(ctx, f.file)
	}
	if err == nil && f.pack == nil {
		err = &formats.Error{Format: s.Format, Section: ".debug_info.dwo", Want: "split units", Err: formats.ErrCorrupt}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	return nil
}

// openPack reads the headers of the split units in a file, nil if it has none.
func (s *Units) openPack(ctx context.Context, f File) (*dwarf.Pack, error) {
	return openPack(ctx, s.Data, f, s.Format, s.In.Limits)
}

func openPack(ctx context.Context, host *dwarf.Data, f File, format string, lim *formats.Limits) (*dwarf.Pack, error) {
	if !f.Has(".debug_info.dwo") {
		return nil, nil
	}
	sections, err := dwarf.PackSectionsOf(f, format)
	if err != nil {
		return nil, err
	}
	return dwarf.OpenPack(ctx, host, sections, lim)
}

// Names are the ids of the split units in a file: its names as a companion of others.
func Names(ctx context.Context, in *formats.Input, f File, format string) ([]string, error) {
	p, err := openPack(ctx, nil, f, format, in.Limits)
	if p == nil || err != nil {
		return nil, err
	}
	ids := p.IDs()
	if len(ids) == 0 {
		return []string{"dwo:" + formats.Base(in.Name)}, nil
	}
	var names []string
	for _, id := range ids[:min(len(ids), formats.MaxCompanions)] {
		names = append(names, dwarf.SplitName(id))
	}
	return names, nil
}
