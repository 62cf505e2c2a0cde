package jobs

import (
	"testing"

	"github.com/symlake/symlake/jobs/serve/page"
	"github.com/symlake/symlake/jobs/serve/page/browsertest"
)

// Every page shows itself in both browsers, light and dark, without another host, a violation of its policy or a
// finding of axe-core.
func TestPages(t *testing.T) {
	t.Parallel()
	s := startServe(t, ingested(t, "elf", "r8", "js"))
	for scheme, dark := range map[string]bool{"light": false, "dark": true} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			browsertest.Each(t, dark, func(t *testing.T, b *browsertest.Browser) {
				for _, name := range append([]string{""}, page.Names...) {
					b.Go(s.url + "/" + name)
					b.Await(`document.querySelector("main").dataset.ready === "yes"`)
					b.Axe("/" + name)
					if name == "" {
						name = "start"
					}
					b.Picture(name)
				}
				b.Clean()
			})
		})
	}
}
