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
	lib := os.Getenv(LibVariable)
	if lib == "" {
		if cache, err := os.UserCacheDir(); err == nil {
			lib = filepath.Join(cache, "symlake", "hbase-lib")
		}
	}
	// fetch.sh puts the list it followed there last.
	if have, err := os.ReadFile(filepath.Join(lib, ".pom.xml")); err != nil || string(have) != string(pom) {
		formattest.Missing(t, "HBase", "make test fetches it where mvn is; or sinks/hbase/hbasetest/fetch.sh DIR, then "+LibVariable+"=DIR")
	}
	return lib
}

// Java is the path of the Java that runs HBase.
func Java(t testing.TB) string {
	t.Helper()
	return formattest.Tool(t, "java", "install a JDK 17")
}
