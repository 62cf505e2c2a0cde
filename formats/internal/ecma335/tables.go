package ecma335

// The tables that are read, by number.
const (
	Module           = 0x00
	TypeRef          = 0x01
	TypeDef          = 0x02
	MethodPtr        = 0x05
	MethodDef        = 0x06
	MemberRef        = 0x0a
	CustomAttribute  = 0x0c
	TypeSpec         = 0x1b
	NestedClass      = 0x29
	GenericParam     = 0x2a
	Document         = 0x30
	MethodDebug      = 0x31
	LocalScope       = 0x32
	StateMachine     = 0x36
	tables           = 0x38
	firstDebug       = Document
	tokenShift       = 24
	maxRows          = 1<<24 - 1 // a token has 24 bits of row
	heapStrings      = 1
	heapGUID         = 2
	heapBlob         = 4
	heapExtra        = 0x40
	streamTables     = "#~"
	streamLoose      = "#-"
	streamStrings    = "#Strings"
	streamGUID       = "#GUID"
	streamBlob       = "#Blob"
	streamPDB        = "#Pdb"
	maxStreams       = 64
	maxVersionLength = 256
)

// columns of each table: "2" and "4" are numbers of so many bytes, "s", "g" and "b" places in the heaps of strings, GUIDs
// and blobs, "A" to "N" one of the coded indexes, and "t" with two digits of hex the row of a table.
var columns = [tables]string{
	0x00: "2sggg", 0x01: "Lss", 0x02: "4ssAt04t06", 0x03: "t04", 0x04: "2sb", 0x05: "t06", 0x06: "422sbt08", 0x07: "t08",
	0x08: "22s", 0x09: "t02A", 0x0a: "Fsb", 0x0b: "2Bb", 0x0c: "CKb", 0x0d: "Db", 0x0e: "2Eb", 0x0f: "24t02", 0x10: "4t04",
	0x11: "b", 0x12: "t02t14", 0x13: "t14", 0x14: "2sA", 0x15: "t02t17", 0x16: "t17", 0x17: "2sb", 0x18: "2t06G", 0x19: "t02HH",
	0x1a: "s", 0x1b: "b", 0x1c: "2Ist1a", 0x1d: "4t04", 0x1e: "44", 0x1f: "4", 0x20: "422224bss", 0x21: "4", 0x22: "444",
	0x23: "22224bssb", 0x24: "4t23", 0x25: "444t23", 0x26: "4sb", 0x27: "44ssJ", 0x28: "44sJ", 0x29: "t02t02", 0x2a: "22Ms",
	0x2b: "Hb", 0x2c: "t2aA", 0x30: "bgbg", 0x31: "t30b", 0x32: "t06t35t33t3444", 0x33: "22s", 0x34: "sb", 0x35: "t35b",
	0x36: "t06t06", 0x37: "Ngb",
}

// coded is an index that may be of several tables: its low bits say which table.
type coded struct {
	bits   uint
	tables []byte
}

var attributed = []byte{6, 4, 1, 2, 8, 9, 10, 0, 14, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20, 0x23, 0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b}

var codes = map[byte]coded{
	'A': {2, []byte{2, 1, 0x1b}},                                       // TypeDefOrRef
	'B': {2, []byte{4, 8, 0x17}},                                       // HasConstant
	'C': {5, attributed},                                               // HasCustomAttribute
	'D': {1, []byte{4, 8}},                                             // HasFieldMarshal
	'E': {2, []byte{2, 6, 0x20}},                                       // HasDeclSecurity
	'F': {3, []byte{2, 1, 0x1a, 6, 0x1b}},                              // MemberRefParent
	'G': {1, []byte{0x14, 0x17}},                                       // HasSemantics
	'H': {1, []byte{6, 0x0a}},                                          // MethodDefOrRef
	'I': {1, []byte{4, 6}},                                             // MemberForwarded
	'J': {2, []byte{0x26, 0x23, 0x27}},                                 // Implementation
	'K': {3, []byte{noTable, noTable, 6, 0x0a}},                        // CustomAttributeType
	'L': {2, []byte{0, 0x1a, 0x23, 1}},                                 // ResolutionScope
	'M': {1, []byte{2, 6}},                                             // TypeOrMethodDef
	'N': {5, append(attributed[:22:22], 0x30, 0x32, 0x33, 0x34, 0x35)}, // HasCustomDebugInformation
}

const noTable = 0xff

// column is where a column lies in a row.
type column struct {
	at, size int
	kind     byte // of columns
}
