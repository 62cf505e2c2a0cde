package workspace

import (
	"net/url"
	"strings"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/sinks/all"
)

// catalogFiles names the catalog in the folder of the lake.
const catalogFiles = "files"

// restCatalog returns the URL of the REST catalog of Iceberg tables; "": there is none.
func (p *Workspace) restCatalog() string {
	if c := p.Config.Lake.Catalog; c != catalogFiles && c != settings.LakeOff {
		return c
	}
	return ""
}

// checkCatalog finds faults in the settings of the catalog.
func (p *Workspace) checkCatalog() error {
	c, at := p.Config.Lake, p.restCatalog()
	ways := 0
	for _, way := range []string{c.CatalogToken, c.CatalogCredential, c.CatalogSign} {
		if way != "" {
			ways++
		}
	}
	u, err := url.Parse(at)
	id, secret, parted := strings.Cut(c.CatalogCredential, ":")
	switch {
	case at == "" && (ways > 0 || c.CatalogWarehouse+c.CatalogNamespace+c.CatalogOAuth+c.CatalogScope != ""):
		return exit.Usage("lake.catalog is %q, and other settings are of a REST catalog: name its URL", c.Catalog)
	case at == "":
		return nil
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Host == "", u.User != nil, u.RawQuery != "":
		return exit.Usage("lake.catalog %q: want files, off, or https://HOST/PATH", at)
	case ways > 1:
		return exit.Usage("lake.catalog: set one of lake.catalog_token, lake.catalog_credential and lake.catalog_sign")
	case c.CatalogCredential != "" && (!parted || id == "" || secret == ""):
		return exit.Usage("lake.catalog_credential: want ID:SECRET")
	case c.CatalogSign != "" && c.Region == "":
		return exit.Usage("lake.catalog_sign: set lake.region, too")
	}
	return nil
}

// lakeCatalog returns the catalog of the Iceberg tables; the zero value is the folder of the lake.
func (p *Workspace) lakeCatalog() (all.LakeCatalog, error) {
	c := p.Config.Lake
	to := all.LakeCatalog{URL: p.restCatalog(), Warehouse: c.CatalogWarehouse, Namespace: c.CatalogNamespace, Token: c.CatalogToken,
		Credential: c.CatalogCredential, OAuth: c.CatalogOAuth, Scope: c.CatalogScope, Sign: c.CatalogSign, Region: c.Region}
	if to.Sign == "" {
		return to, nil
	}
	var err error
	to.Credentials, err = all.Credentials(p.Ctx, c.AWSProfile, c.Region)
	return to, err
}
