// Command go-encode packs and reads records with Go's own libraries: reflection, inlining across packages.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"strings"
	"time"

	"profile/busy"
)

type record struct {
	ID    int                `json:"id"`
	Name  string             `json:"name"`
	Tags  []string           `json:"tags"`
	Cells map[string]float64 `json:"cells"`
}

func records(n int) []record {
	all := make([]record, n)
	for i := range all {
		all[i] = record{ID: i, Name: strings.Repeat("x", i%17), Tags: strings.Split("a,b,c,d", ","), Cells: map[string]float64{"one": float64(i) / 3, "two": 2}}
	}
	return all
}

func pack(all []record) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	e := json.NewEncoder(z)
	for i := range all {
		if err := e.Encode(&all[i]); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func sizes(packed []byte) (n int, err error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return 0, err
	}
	for d := json.NewDecoder(z); ; n++ {
		var r record
		if err := d.Decode(&r); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

func main() {
	b := busy.Begin()
	defer b.End()
	sum := 0
	for time.Now().Before(b.Until) {
		packed, err := pack(records(200))
		if err != nil {
			log.Fatal(err)
		}
		n, err := sizes(packed)
		if err != nil {
			log.Fatal(err)
		}
		sum += n + len(packed)
	}
	fmt.Println(sum)
}
