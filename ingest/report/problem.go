package report

// Problem names a place in a store with other content than a job wrote there.
type Problem struct {
	Where string `json:"where"` // "artifact …", "load …", "object …"
	Error string `json:"error"`
}
