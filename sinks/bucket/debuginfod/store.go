package debuginfod

import (
	"context"
	"io"
	"net/url"
	"strings"

	"github.com/symlake/symlake/sinks/bucket"
)

// The schemes of symbol servers: StoreScheme asks over https.
const (
	StoreScheme      = "symstore"
	storeSchemeHTTPS = StoreScheme + "+https"
	storeSchemeHTTP  = StoreScheme + "+http"
)

// Store is a symbol server of Windows over HTTP, or one with Breakpad's files. A file is NAME/ID/NAME there. Safe for concurrent use.
type Store struct{ b *Bucket }

var (
	_ bucket.Bucket   = (*Store)(nil)
	_ bucket.Fetcher  = (*Store)(nil)
	_ bucket.ByModule = (*Store)(nil)
)

// IsStore reports whether a URL is a symbol server's, or names a file there.
func IsStore(place string) bool {
	scheme, _, ok := strings.Cut(place, ":")
	return ok && (scheme == StoreScheme || scheme == storeSchemeHTTP || scheme == storeSchemeHTTPS)
}

// OpenStore returns the bucket of symstore://HOST[:PORT][/PATH], which asks over https, or of symstore+http://…. If the
// path ends with NAME/ID/FILE, key is that file's. OpenStore sends no request. The error is bucket.ErrUsage.
func OpenStore(place string, o Options) (s *Store, key string, err error) {
	u, err := url.Parse(place)
	switch {
	case err != nil:
		return nil, "", bucket.Usage("%s: %w", place, err)
	case !IsStore(place) || u.Host == "":
		return nil, "", bucket.Usage("%s: want symstore://HOST[/PATH] or symstore+http://HOST[/PATH]", place)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, "", bucket.Usage("%s://%s: want HOST[:PORT][/PATH] alone: a symbol server takes no password and no query", u.Scheme, u.Host)
	}
	path := strings.Trim(u.Path, "/")
	if parts := strings.Split(path, "/"); len(parts) >= 3 {
		last := strings.Join(parts[len(parts)-3:], "/")
		if isStoreKey(last) {
			key, path = last, strings.Join(parts[:len(parts)-3], "/")
		}
	}
	if path != "" {
		path += "/"
	}
	return &Store{newBucket(u, StoreScheme, path, o, isStoreKey, storeFile)}, key, nil
}

// storeFile returns the name of a file by its key.
func storeFile(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// isStoreKey reports whether a key is NAME/ID/FILE.
func isStoreKey(key string) bool {
	parts := strings.Split(key, "/")
	return len(parts) == 3 && baseName(parts[0]) == parts[0] && parts[0] != "" && isModuleID(parts[1]) && baseName(parts[2]) == parts[2] && parts[2] != ""
}

const (
	guidDigits = 32 // of a GUID; the digits of an age follow
	ageDigits  = 6
	// stampDigits are the digits of a time stamp; the digits of a size follow.
	stampDigits = 8
	sizeDigits  = 7
)

// isModuleID reports whether text is a GUID and an age, or a time stamp and a size, in hex without dashes. Build-ids of ELF
// files and UUIDs of Apple's have other lengths.
func isModuleID(text string) bool {
	n := len(text)
	fits := n > stampDigits && n <= stampDigits+sizeDigits || n > guidDigits && n <= guidDigits+ageDigits
	return fits && strings.Trim(strings.ToLower(text), "0123456789abcdef") == ""
}

// ModuleKeys implements bucket.ByModule. A GUID and an age name a PDB and Breakpad's file, a time stamp and a size an image. A
// file may be packed into a cabinet: its name ends with an underscore.
func (s *Store) ModuleKeys(file, id string) (keys []string) {
	id = strings.ReplaceAll(id, "-", "")
	file = baseName(file)
	stem, dot := file, strings.LastIndexByte(file, '.')
	if dot > 0 {
		stem = file[:dot]
	}
	if stem == "" || !isModuleID(id) {
		return nil
	}
	if len(id) < guidDigits {
		id = strings.ToUpper(id[:stampDigits]) + strings.ToLower(id[stampDigits:])
		return packed(nil, file, id)
	}
	id = strings.ToUpper(id)
	pdb := stem + ".pdb"
	return append(packed(keys, pdb, id), pdb+"/"+id+"/"+stem+".sym")
}

// packed adds the keys of a file and of its cabinet.
func packed(keys []string, file, id string) []string {
	return append(keys, file+"/"+id+"/"+file, file+"/"+id+"/"+file[:len(file)-1]+"_")
}

// URL implements bucket.Bucket.
func (s *Store) URL(key string) string { return s.b.URL(key) }

// List implements bucket.Bucket. A server cannot list.
func (s *Store) List(ctx context.Context, prefix, after string, emit func(bucket.Entry) error) error {
	return s.b.List(ctx, prefix, after, emit)
}

// Stat implements bucket.Bucket. A key that is no module's file is ErrNotFound, without a request.
func (s *Store) Stat(ctx context.Context, key string) (bucket.Entry, map[string]string, error) {
	return s.b.Stat(ctx, key)
}

// Open implements bucket.Bucket.
func (s *Store) Open(ctx context.Context, e bucket.Entry) (bucket.Reader, error) {
	return s.b.Open(ctx, e)
}

// Fetch implements bucket.Fetcher.
func (s *Store) Fetch(ctx context.Context, e bucket.Entry, dst io.WriterAt) error {
	return s.b.Fetch(ctx, e, dst)
}

// Create implements bucket.Bucket.
func (s *Store) Create(ctx context.Context, key, kind string, r io.Reader) error {
	return s.b.Create(ctx, key, kind, r)
}

// Delete implements bucket.Bucket.
func (s *Store) Delete(ctx context.Context, keys []string) error { return s.b.Delete(ctx, keys) }
