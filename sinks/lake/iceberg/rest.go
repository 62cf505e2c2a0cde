package iceberg

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/symlake/symlake/sinks/internal/icemeta"
)

// rest is a REST catalog. It writes the metadata itself, and takes what changes.
type rest struct {
	o    Catalog
	auth *identity

	mu   sync.Mutex
	base string // below which paths begin; "": not asked yet
	dot  string // between levels of a namespace
}

func newREST(o Catalog) (*rest, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("catalog %q: want https://HOST/PATH", o.URL)
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	o.Namespace = cmp.Or(o.Namespace, "symlake")
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	client := &http.Client{Timeout: o.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	auth, err := newIdentity(&o, client)
	return &rest{o: o, auth: auth}, err
}

func (r *rest) name() string { return r.o.URL }

func (r *rest) moves() bool { return false }

// start asks the catalog below which path its tables are.
func (r *rest) start(ctx context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.base != "" {
		return r.base, nil
	}
	query := ""
	if r.o.Warehouse != "" {
		query = "?warehouse=" + url.QueryEscape(r.o.Warehouse)
	}
	var c struct{ Defaults, Overrides map[string]string }
	if err := r.auth.call(ctx, http.MethodGet, r.o.URL+"/v1/config"+query, nil, &c); err != nil {
		return "", err
	}
	root := strings.TrimSuffix(cmp.Or(c.Overrides["uri"], r.o.URL), "/")
	if u, err := url.Parse(root); err != nil || u.Host != hostOf(r.o.URL) {
		return "", fmt.Errorf("%w: its configuration leads to another host, %s: name that one", ErrCatalog, root)
	}
	r.dot = cmp.Or(c.Overrides["namespace-separator"], c.Defaults["namespace-separator"], "%1F")
	if dot, err := url.PathUnescape(r.dot); err != nil || dot == r.dot {
		r.dot = url.PathEscape(r.dot)
	}
	r.base = root + "/v1/"
	if prefix := cmp.Or(c.Overrides["prefix"], c.Defaults["prefix"]); prefix != "" {
		r.base += strings.Trim(prefix, "/") + "/"
	}
	return r.base, nil
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// namespace returns the levels of the namespace.
func (r *rest) namespace() []string { return strings.Split(r.o.Namespace, ".") }

// table returns the URL of a table.
func (r *rest) table(ctx context.Context, name string) (string, error) {
	base, err := r.start(ctx)
	if err != nil {
		return "", err
	}
	var levels []string
	for _, l := range r.namespace() {
		levels = append(levels, url.PathEscape(l))
	}
	return base + "namespaces/" + strings.Join(levels, r.dot) + "/tables/" + url.PathEscape(name), nil
}

// load implements catalog.
func (r *rest) load(ctx context.Context, name string) (*standing, error) {
	at, err := r.table(ctx, name)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	err = r.auth.call(ctx, http.MethodGet, at, nil, &answer)
	if s := new(refusal); errors.As(err, &s) && s.status == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := icemeta.Read(answer.Metadata)
	if err != nil {
		return nil, fmt.Errorf("%w: it sent a table that cannot be read: %w", ErrCatalog, err)
	}
	return &standing{metadata: m}, nil
}

// message is the body of a commit. Requirements and updates are objects of many forms.
type message struct {
	Requirements []map[string]any `json:"requirements"`
	Updates      []map[string]any `json:"updates"`
}

// create implements catalog. It sends the whole table in one commit, so that columns keep their ids.
func (r *rest) create(ctx context.Context, s *shape, m *metadata) error {
	body := message{Requirements: []map[string]any{{"type": "assert-create"}}, Updates: []map[string]any{
		{"action": "assign-uuid", "uuid": m.UUID},
		{"action": "upgrade-format-version", "format-version": m.Format},
		{"action": "add-schema", "schema": m.Schemas[0], "last-column-id": m.LastColumn},
		{"action": "set-current-schema", "schema-id": -1},
		{"action": "add-spec", "spec": m.Specs[0]},
		{"action": "set-default-spec", "spec-id": -1},
		{"action": "add-sort-order", "sort-order": s.order()},
		{"action": "set-default-sort-order", "sort-order-id": -1},
		{"action": "set-location", "location": m.Location},
		{"action": "set-properties", "updates": m.Properties},
	}}
	err := r.post(ctx, s.table.Name, body)
	if no := new(refusal); errors.As(err, &no) && no.status == http.StatusNotFound {
		if err := r.createNamespace(ctx); err != nil {
			return err
		}
		err = r.post(ctx, s.table.Name, body)
	}
	if errors.Is(err, errUnclear) {
		return errChanged // the next load tells
	}
	return err
}

func (r *rest) createNamespace(ctx context.Context) error {
	base, err := r.start(ctx)
	if err != nil {
		return err
	}
	for i := range r.namespace() {
		err := r.auth.call(ctx, http.MethodPost, base+"namespaces", map[string]any{"namespace": r.namespace()[:i+1], "properties": map[string]string{}}, nil)
		if no := new(refusal); errors.As(err, &no) && no.status == http.StatusConflict {
			continue // it is there
		}
		if err != nil {
			return fmt.Errorf("create namespace %s: %w", r.o.Namespace, err)
		}
	}
	return nil
}

// commit implements catalog.
func (r *rest) commit(ctx context.Context, name string, base *standing, c *change) error {
	var head any
	if s := base.Head(); s != nil {
		head = s.ID
	}
	body := message{Requirements: []map[string]any{{"type": "assert-table-uuid", "uuid": base.UUID}, {"type": "assert-ref-snapshot-id", "ref": icemeta.MainBranch, "snapshot-id": head}}}
	if c.location != "" {
		body.Updates = append(body.Updates, map[string]any{"action": "set-location", "location": c.location})
	}
	if c.schema != nil {
		body.Requirements = append(body.Requirements, map[string]any{"type": "assert-current-schema-id", "current-schema-id": base.CurrentSchema})
		body.Updates = append(body.Updates, map[string]any{"action": "add-schema", "schema": c.schema, "last-column-id": max(c.last, base.LastColumn)},
			map[string]any{"action": "set-current-schema", "schema-id": -1},
			map[string]any{"action": "set-properties", "updates": map[string]string{mappingProperty: c.mapping}})
	}
	if c.snapshot != nil {
		body.Updates = append(body.Updates, map[string]any{"action": "add-snapshot", "snapshot": c.snapshot},
			map[string]any{"action": "set-snapshot-ref", "ref-name": icemeta.MainBranch, "type": "branch", "snapshot-id": c.snapshot.ID})
	}
	if len(c.expired) > 0 {
		body.Updates = append(body.Updates, map[string]any{"action": "remove-snapshots", "snapshot-ids": c.expired})
	}
	return r.post(ctx, name, body)
}

// post commits to a table.
func (r *rest) post(ctx context.Context, name string, body message) error {
	at, err := r.table(ctx, name)
	if err != nil {
		return err
	}
	err = r.auth.call(ctx, http.MethodPost, at, body, nil)
	no := new(refusal)
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &no), slices.Contains([]int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout}, no.status):
		return fmt.Errorf("%w: %w", errUnclear, err)
	case no.status == http.StatusConflict:
		return fmt.Errorf("%w: %w", errChanged, err)
	}
	return err
}
