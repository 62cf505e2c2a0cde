package sinktest

import (
	"bytes"
	"context"

	"github.com/symlake/symlake/sinks"
)

// Regions is s with a catalog of many regions, which begin at bounds, ascending, and at the first key. A list is of
// one moment within a region only. between, unless nil, runs before a list enters each region but its first.
func Regions(s *sinks.Store, bounds [][]byte, between func()) *sinks.Store {
	c := *s
	c.Catalog = regions{s.Catalog, bounds, between}
	return &c
}

type regions struct {
	sinks.Catalog
	bounds  [][]byte
	between func()
}

func (c regions) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	for _, b := range c.bounds {
		if bytes.Compare(b, s.From) <= 0 || s.Stop != nil && bytes.Compare(b, s.Stop) >= 0 {
			continue
		}
		var part []sinks.Row
		err := c.Catalog.List(ctx, sinks.Span{From: s.From, Stop: b}, func(r sinks.Row) error {
			part = append(part, r)
			return nil
		})
		if err != nil {
			return err
		}
		for _, r := range part {
			if err := emit(r); err != nil {
				return err
			}
		}
		s.From = b
		if c.between != nil {
			c.between()
		}
	}
	return c.Catalog.List(ctx, s, emit)
}
