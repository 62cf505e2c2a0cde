package hbasetest

import (
	_ "embed"
	"os"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// LibVariable names the environment variable with the folder that fetch.sh filled.
const LibVariable = "SYMLAKE_HBASE_LIB"

//go:embed pom.xml
var pom []byte

// Lib returns the folder of HBase's jars: the folder that LibVariable names, else the folder that make
// test fills. Without it the test is skipped, and fails under formattest.Require.
func Lib(t testing.TB) string {
	t.Helper()
	lib, ok := library()
	if !ok {
		formattest.Missing(t, "HBase", "make test fetches it where mvn is; or sinks/hbase/hbasetest/fetch.sh DIR, then "+LibVariable+"=DIR")
	}
	return lib
}

// library returns the folder of the jars, and whether they are all there.
func library() (string, bool) {
	lib := os.Getenv(LibVariable)
	if lib == "" {
		if cache, err := os.UserCacheDir(); err == nil {
			lib = filepath.Join(cache, "symlake", "hbase-lib")
		}
	}
	have, err := os.ReadFile(filepath.Join(lib, ".pom.xml")) // fetch.sh puts the list it followed there last
	return lib, err == nil && string(have) == string(pom)
}

// Java is the path of the Java that runs HBase.
func Java(t testing.TB) string {
	t.Helper()
	return formattest.Tool(t, "java", "install a JDK 17")
}
