package lake

import (
	"encoding/hex"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// putFacts adds the row of a load to the table artifacts.
func putFacts(o *output, x *sinks.LakeLoad, left uint64) error {
	a, q, revision := &x.Artifact, &x.Quality, x.Revision()
	return o.put(a.ID.String(), hex.EncodeToString(x.Load[:]), hex.EncodeToString(revision[:]), a.Canonical, a.Arch,
		a.Base, a.Unslid(a.End), x.Format, int32(x.Parser), int64(x.Ranges), int64(left),
		int64(q.Units), int64(q.UnitsBroken), int64(q.LinesBroken), int64(q.Text), int64(q.Covered), int64(q.WithLine), int64(q.WithInline),
		x.URL, x.Member, x.ETag, x.Size, x.At.UnixMicro(), q.Missing)
}

// putNames adds the names of a load to the table names.
func putNames(o *output, x *sinks.LakeLoad) error {
	id, load, revision := x.Artifact.ID.String(), hex.EncodeToString(x.Load[:]), x.Revision()
	for _, n := range x.Artifact.Names {
		app, build := "", ""
		if n.Kind == symbol.NameApp {
			app, build, _ = strings.Cut(n.Text, "@")
			build, _, _ = strings.Cut(build, "/")
		}
		if err := o.put(id, load, hex.EncodeToString(revision[:]), n.Text, string(n.Kind), app, build); err != nil {
			return err
		}
	}
	return nil
}
