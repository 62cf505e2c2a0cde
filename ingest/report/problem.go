package report

// Problem is something that is not as it was written.
type Problem struct {
	Where string `json:"where"` // "artifact …", "load …", "object …"
	Error string `json:"error"`
}
