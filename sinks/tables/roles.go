package tables

import (
	"fmt"

	"github.com/symlake/symlake/sinks/internal/jsonline"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// roleColumns are the columns of a table that have a role.
type roleColumns struct {
	o    *Options
	by   map[Role]int // into leaf
	leaf []pqfile.Leaf
	form shape
	// beside has what all rows say, in columns that stand beside the file.
	beside names
}

// findRoles finds the columns that have a role among the leaves of a table, and the form of a row.
// values belong to columns beside the file.
func findRoles(o *Options, all []pqfile.Leaf, values map[string]string) (roleColumns, error) {
	c := roleColumns{o: o, by: map[Role]int{}}
	to := map[Role]*string{RoleArtifact: &c.beside.artifact, RoleApp: &c.beside.app, RoleBuild: &c.beside.build, RolePlatform: &c.beside.platform, RoleFrame0: &c.beside.frame0}
	for _, role := range roles {
		beside := false
		for _, name := range o.Columns.names(role) {
			if c.role(role, name, all) {
				break
			}
			if v, ok := values[name]; ok && to[role] != nil {
				*to[role], beside = v, true
				break
			}
		}
		if _, ok := c.by[role]; !ok && !beside && o.Columns[role] != "" {
			return c, fmt.Errorf("%w: there is no column %q that can be read as %s", ErrInput, o.Columns[role], role)
		}
	}
	if err := c.shapes(); err != nil {
		return c, err
	}
	// Columns that have lost their role are not read.
	all, c.leaf = c.leaf, nil
	for _, role := range roles {
		if at, ok := c.by[role]; ok {
			c.by[role] = len(c.leaf)
			c.leaf = append(c.leaf, all[at])
		}
	}
	return c, nil
}

// shapes decides what a row is. Pairs rule where there is text too, unless the column of text was named.
func (c *roleColumns) shapes() error {
	_, hasText := c.by[RoleStack]
	address, hasPairs := c.by[RoleAddress]
	artifact, hasNames := c.by[RoleArtifact]
	_, hasApp := c.by[RoleApp]
	hasApp = hasApp || c.beside.app != "" || c.beside.artifact != ""
	drop := []Role{RoleStack}
	switch {
	case hasText && (!hasPairs || c.o.Columns[RoleStack] != ""):
		c.form = stacks
		drop = []Role{RoleArtifact, RoleAddress, RoleFrame}
	case !hasPairs:
		return fmt.Errorf("%w: it has neither a column %q nor one %q of text; --column gives their names", ErrInput, RoleAddress, RoleStack)
	case !hasNames && !hasApp && c.o.App == "" && len(c.o.Stack.Artifacts) == 0:
		return fmt.Errorf("%w: there is no column %q, and nothing else names the artifact", ErrInput, RoleArtifact)
	case hasNames && c.leaf[artifact].List && !c.leaf[address].List:
		return fmt.Errorf("%w: %q is a list, and %q is not", ErrInput, c.leaf[artifact].Path, c.leaf[address].Path)
	case c.leaf[address].List:
		c.form = stacks
	}
	for _, r := range drop {
		delete(c.by, r)
	}
	return nil
}

// role gives a column a role, if there is one of that name and it will do.
func (c *roleColumns) role(r Role, name string, all []pqfile.Leaf) bool {
	for _, l := range all {
		pair := r == RoleArtifact || r == RoleAddress
		switch {
		case l.Path != name:
			continue
		case l.Kind == pqfile.LeafText && (!l.List || pair):
		case l.Kind == pqfile.LeafInt && (r == RoleAddress || r == RoleFrame || r == RoleBuild) && (!l.List || r == RoleAddress):
		default:
			continue
		}
		c.by[r] = len(c.leaf)
		c.leaf = append(c.leaf, l)
		return true
	}
	return false
}

// cells gives the values of a role in some rows; nil: there is no such column.
func (c *roleColumns) cells(r Role, cells []pqfile.Cells) *pqfile.Cells {
	if at, ok := c.by[r]; ok {
		return &cells[at]
	}
	return nil
}

// text is value i of a column; "" of none.
func text(c *pqfile.Cells, i int) string {
	if c == nil || i < len(c.Null) && c.Null[i] {
		return ""
	}
	if len(c.Texts) == 0 {
		return fmt.Sprint(c.Ints[i])
	}
	return c.Texts[i]
}

func null(c *pqfile.Cells, i int) bool { return i < len(c.Null) && c.Null[i] }

// namesAt is what a row says besides addresses.
type rowNames struct {
	artifact, app, build, platform, frame0 *pqfile.Cells
	beside                                 names
}

func (c *roleColumns) rowNames(cells []pqfile.Cells) rowNames {
	return rowNames{c.cells(RoleArtifact, cells), c.cells(RoleApp, cells), c.cells(RoleBuild, cells), c.cells(RolePlatform, cells), c.cells(RoleFrame0, cells), c.beside}
}

// at returns what row i says, but for an artifact of its own.
func (r *rowNames) at(i int) names {
	or := func(c *pqfile.Cells, beside string) string {
		if c == nil {
			return beside
		}
		return text(c, i)
	}
	return names{r.beside.artifact, or(r.app, r.beside.app), or(r.build, r.beside.build), or(r.platform, r.beside.platform), or(r.frame0, r.beside.frame0)}
}

// one returns what row i says, if a row is one frame.
func (r *rowNames) one(i int) names {
	n := r.at(i)
	if r.artifact != nil {
		n.artifact = text(r.artifact, i)
	}
	return n
}

// frame gives place and value of a frame.
func (p *placer) frame(x names, address, frame *pqfile.Cells, i int) (uint32, uint64, error) {
	t, err := p.target(x)
	if err != nil {
		return 0, 0, err
	}
	if null(address, i) {
		n, err := p.noAddress()
		return n, 0, err
	}
	number := uint64(0)
	if frame != nil && !null(frame, i) {
		if len(frame.Texts) > 0 {
			number, _ = jsonline.Whole(frame.Texts[i])
		} else {
			number = frame.Ints[i]
		}
	}
	if len(address.Texts) > 0 {
		return p.text(t, address.Texts[i], number)
	}
	place, value := p.number(t, address.Ints[i], number)
	return place, value, nil
}
