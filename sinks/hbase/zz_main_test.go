package hbase

import (
	"testing"

	"github.com/symlake/symlake/sinks/hbase/hbasetest"
)

func TestMain(m *testing.M) { hbasetest.Main(m) }
