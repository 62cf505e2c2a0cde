package lake_test

import (
	"fmt"
	"strings"

	"github.com/symlake/symlake/sinks/lake"
)

// Tables lists the lake's tables with their columns, as engines see them.
func ExampleTables() {
	for _, table := range lake.Tables() {
		var names []string
		for _, column := range table.Columns[:4] {
			names = append(names, column.Name)
		}
		fmt.Printf("%s: %s, and %d more\n", table.Name, strings.Join(names, " "), len(table.Columns)-len(names))
	}
	// Output:
	// ranges: artifact load range_start range_end, and 10 more
	// classes: artifact load class original_class, and 12 more
	// artifacts: artifact load revision canonical, and 20 more
	// names: artifact load revision name, and 3 more
	// state: says number path of, and 18 more
}
