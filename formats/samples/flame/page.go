package flame

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	"github.com/symlake/symlake/formats/samples"
)

//go:embed assets/page.html
var pageBody string

//go:embed assets/page.css
var pageStyle string

//go:embed assets/page.js
var pageScript string

// writePage writes the page. Its policy lets a browser run its own script alone, and load nothing.
func writePage(out io.Writer, p *samples.Profile) error {
	d := newData(p)
	title := "Flame graph"
	if d.Title != "" {
		title = d.Title + " · flame graph"
	}
	w := bufio.NewWriterSize(out, 64<<10)
	fmt.Fprintf(w, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'">
<title>%s</title>
<link rel="icon" href="data:,">
<style>%s</style>
</head>
%s<script type="application/json" id="data">`, digest(pageScript), digest(pageStyle), escape(title), pageStyle, pageBody)
	e := json.NewEncoder(w) // it escapes <, > and &, so no text ends the element
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	fmt.Fprintf(w, "</script>\n<script>%s</script>\n</body>\n</html>\n", pageScript)
	return w.Flush()
}

// digest names a script or a style for the page's policy.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
