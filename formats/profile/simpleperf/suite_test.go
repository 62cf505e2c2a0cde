package simpleperf_test

import (
	"testing"

	"github.com/symlake/symlake/formats/profile/profiletest"
	"github.com/symlake/symlake/formats/profile/simpleperf"
)

// The form passes the suite that all forms pass.
func TestSuite(t *testing.T) {
	t.Parallel()
	profiletest.Run(t, simpleperf.Format, profiletest.Fixture{Name: "shop", Data: shop(), Samples: 3, Places: 4, Again: true})
}
