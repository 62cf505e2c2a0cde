package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageUser is the user and group of the image; jobs/image/Dockerfile has the same.
const imageUser = 65532

// bomType is the media type of a list of contents.
const bomType = "application/vnd.cyclonedx+json"

// writeImage writes an OCI layout, as a tar file: an index of one image for each processor, and beside each image a
// manifest that refers to it with its list of contents.
func writeImage(out, version, seconds, certificates, terms string, programs []string) error {
	stamp, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("time of the commit %q: want seconds", seconds)
	}
	when := time.Unix(stamp, 0).UTC()
	slices.Sort(programs)
	index := v1.ImageIndex(mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	var referrers []mutate.IndexAddendum
	for _, p := range programs {
		arch, program, ok := strings.Cut(p, "=")
		if !ok {
			return fmt.Errorf("%q: want ARCH=PROGRAM", p)
		}
		list, err := bom(program, version, seconds)
		if err != nil {
			return err
		}
		image, err := imageOf(arch, version, when, []content{
			{"etc/ssl/certs/ca-certificates.crt", certificates, nil, 0o644, 0},
			{"usr/share/doc/symlake/THIRD-PARTY-LICENSES", terms, nil, 0o644, 0},
			{"usr/share/doc/symlake/symlake.cdx.json", "", list, 0o644, 0},
			{"symlake", program, nil, 0o755, 0},
		})
		if err != nil {
			return fmt.Errorf("image for %s: %w", arch, err)
		}
		subject, err := partial.Descriptor(image)
		if err != nil {
			return err
		}
		subject.Platform = nil
		platform := &v1.Platform{OS: "linux", Architecture: arch}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
		referrer, err := referrerOf(*subject, list, when)
		if err != nil {
			return err
		}
		referrers = append(referrers, mutate.IndexAddendum{Add: referrer, Descriptor: v1.Descriptor{ArtifactType: bomType}})
	}
	dir, err := os.MkdirTemp("", "symlake-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := l.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version})); err != nil {
		return err
	}
	for _, r := range referrers {
		if err := l.AppendImage(r.Add.(v1.Image)); err != nil {
			return err
		}
	}
	return pack(dir, out, when)
}

// content is a file of the image, from a file or of bytes. A folder has neither.
type content struct {
	name, from string
	text       []byte
	mode       int64
	owner      int
}

// imageOf makes the image of a processor, with one layer.
func imageOf(arch, version string, when time.Time, files []content) (v1.Image, error) {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	made := map[string]bool{}
	folder := func(name string, owner int) error {
		if name == "." || made[name] {
			return nil
		}
		made[name] = true
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, ModTime: when, Uid: owner, Gid: owner, Format: tar.FormatPAX})
	}
	for _, c := range files {
		var above []string
		for dir := filepath.Dir(c.name); dir != "."; dir = filepath.Dir(dir) {
			above = append(above, dir)
		}
		for _, dir := range slices.Backward(above) {
			if err := folder(dir, 0); err != nil {
				return nil, err
			}
		}
		if c.from != "" {
			text, err := os.ReadFile(c.from)
			if err != nil {
				return nil, err
			}
			c.text = text
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: c.name, Mode: c.mode, Size: int64(len(c.text)), ModTime: when, Format: tar.FormatPAX}); err != nil {
			return nil, err
		}
		if _, err := w.Write(c.text); err != nil {
			return nil, err
		}
	}
	// Stores, lakes and scratch files of this folder want no volume to try the image: its user may write there.
	if err := folder("data", imageUser); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: l, History: v1.History{Created: v1.Time{Time: when}, CreatedBy: "symlake " + version}})
	if err != nil {
		return nil, err
	}
	c, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	c = c.DeepCopy()
	user := fmt.Sprintf("%d:%d", imageUser, imageUser)
	c.OS, c.Architecture, c.Created = "linux", arch, v1.Time{Time: when}
	c.Config = v1.Config{Entrypoint: []string{"/symlake"}, WorkingDir: "/data", Env: []string{"TMPDIR=/data"}, User: user, Labels: map[string]string{
		"org.opencontainers.image.title": "symlake", "org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.source": "https://github.com/symlake/symlake"}}
	return mutate.ConfigFile(image, c)
}

// referrerOf makes the manifest that gives an image its list of contents.
func referrerOf(subject v1.Descriptor, list []byte, when time.Time) (v1.Image, error) {
	m := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), bomType)
	m, err := mutate.AppendLayers(m, static.NewLayer(list, bomType))
	if err != nil {
		return nil, err
	}
	m = mutate.Annotations(m, map[string]string{"org.opencontainers.image.created": when.Format(time.RFC3339)}).(v1.Image)
	return mutate.Subject(m, subject).(v1.Image), nil
}

// pack writes a folder as a tar file, by name.
func pack(dir, out string, when time.Time) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	w := tar.NewWriter(f)
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(text)), ModTime: when, Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}
