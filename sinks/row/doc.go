// Package row is the contract of the stored form of symbols. It makes keys, seals and opens rows and
// records, holds the keys of a store, and describes a load. This page specifies the whole form, also
// the parts that other packages code:
//
//	sinks/row/ranges      blocks of ranges, of code and of scripts
//	sinks/row/classes     blocks of classes
//	sinks/row/texts       rows of texts
//	sinks/row/unwinds     rows of call frame information
//	sinks/row/dictionary  the row of strings that the blocks of a load share
//	sinks/row/loads       all rows of one load, sealed, and its digest
//	sinks/catalog         the records
//
// It leaves to stores where rows live (they see opaque bytes), to ingest when to publish, to lookup
// what to fetch and to cache, and to sinks/kek the key-encryption key.
//
// Invariants:
//   - the rows of a load partition the positions from 0 to its last row's last: each
//     speaks for (After, Last], After being Last of the row before it;
//   - a row opens under its own key only: artifact, load, kind, last position;
//   - a block depends on its ranges and on nothing else: no clock, no random
//     number, no numbering of strings, no order of a map;
//   - a wrong key is ErrSealed, other bytes than were written are ErrUnauthentic;
//   - no count that was read sizes an allocation before the bytes that carry it are there.
//
// Integers in keys, heads and additional data are big endian; uvarint is unsigned
// LEB128; zigzag maps 0, -1, 1, -2 to 0, 1, 2, 3; ‖ joins bytes.
//
// # Keys
//
//	artifact (16) ‖ load (8) ‖ kind (1) ‖ last position (8)      rows, 33 bytes
//
// kind: 0 the dictionary (at most one, at position 0), 1 ranges, 2 classes, 3 texts of sources, 4 call frame information.
// last is inclusive. The last row of ranges reaches to the later of the last range's end
// and the image's end, so that "hole" and "outside" are both exact: a position beyond it
// is outside, every other one has the row that speaks for it. A load without ranges has
// one row that speaks for the whole image; of an empty image, none. A load has ranges or, if its
// artifact is a mapping (r8, dart-names), classes; the last row of classes reaches to 2^64 - 1.
//
//	"a" artifact (16)                                  record of an artifact
//	"k" version (4)                                    store key and name key, wrapped
//	"n" tag(name) (16) artifact (16)                   a name of an artifact
//	"n" tag(name) (16) zero (16) tag(URL) (16)         a name of an object not loaded
//	"w" tag(companion) (16) artifact (16) tag(URL) (16) a waiter for a companion
//	"o" URL                                            ledger of an object: the one text in clear
//	"t" time (8)                                       audit, nanoseconds since 1970
//	"h"                                                head of the audit
//	"l" worker (16)                                    a process that ingests, and until when it is believed
//	"d" 0 tag(name) (16)                               a name that was asked for and not there
//	"d" 1 artifact (16)                                when an artifact was last asked for
//	"s" tag(URL) (16)                                  when a source was last listed whole
//	"r" worker (16)                                    what a process that ingests has yet to tell
//	"c" tag(URL) (16) artifact (16) tag(member) (16)   an object that another owner's load keeps out
//	"p" 0                                              obligations are complete from here on
//	"p" 1 tag(URL) (16) tag(companion) (16) artifact (16) an object to be derived again: its companion came
//	"p" 2 artifact (16)                                an artifact whose objects' ledger is to follow its record
//	"p" 3                                              how far gc has written records anew
//	"p" 4 worker (16)                                  the lake is to follow what a worker changed; zero: any process
//	"p" 5 lake                                         the end of a lake's log
//	"p" 6 artifact (16)                                an artifact at which gc has work
//	"p" 7                                              when gc read all records last
//
// tag(x) is the first 16 bytes of HMAC-SHA-256 under the name key, over the record's first
// byte ("o" for a URL) and x; names are lower-cased first, the others are taken as they are.
// The name key never rotates, since the tags stand in keys.
//
// # Seals
//
// Three levels: one random data key a load; store keys, in versions, which wrap data keys
// and seal the catalog's values; the key-encryption key, which wraps store keys. Sealing is
// AES-256-GCM with random nonces. The keys used are derived with HKDF-SHA-256, without salt:
//
//	"symlake 1 rows"     of a data key: seals the rows of its load
//	"symlake 1 classes"  of a data key: gives classes their positions
//	"symlake 1 wraps"    of a store key: seals data keys
//	"symlake 1 catalog"  of a store key: seals records
//	"symlake 1 marks"    of a store key: authenticates marks
//	"symlake 1 lake"     of a store key: wraps the keys of lake files; of the name key: names them
//	"symlake 1 check"    of either: its first 4 bytes are the key check
//
//	row           version ‖ body (1: dictionary, 2: ranges, 3: ranges of a script, 4: classes,
//	              5: text, 6: directory of texts, 7: call frame information, 8: its rules) ‖ check (4) ‖ nonce (12) ‖ sealed ‖ tag (16)
//	record        2 ‖ uvarint store key version             ‖ check (4) ‖ nonce (12) ‖ sealed ‖ tag (16)
//	older record  1 ‖ store key version (4)                 ‖ check (4) ‖ nonce (12) ‖ sealed ‖ tag (16)
//	mark          64 + store key version, or from version 192 on 3 ‖ uvarint store key version ‖ hash (8)
//	wrapped key   version                                   ‖ check (4) ‖ nonce (12) ‖ sealed (32) ‖ tag (16)
//	"k" record    version 2 ‖ len (2) ‖ head ‖ what the key-encryption key made of store key (32) ‖ name key (32)
//
// The additional data is len (4) ‖ head ‖ len (4) ‖ key: the head is all before the nonce, the
// key is the row's or record's own. For a wrapped data key it is
//
//	artifact ‖ load ‖ 0 ‖ base (8) ‖ end (8) ‖ anchors (4), each len (4) ‖ name ‖ position (8),
//	by name ‖ SHA-256 of the fence
//
// so that no answer can be made of a load's rows and another's layout. For a "k" record the
// head is the byte 1: a key service shows additional data to its auditors. What stands in clear before the wrapped
// keys is for people, in JSON: id of the key-encryption key, when the version was made, and when nothing was left under
// older ones (absent: a rotation is not over). Version 1 of the record has none of it. The hash of a mark is the first 8 bytes of
// HMAC-SHA-256 under its key, over additional data with a head of all bytes before the hash. Each "k" record repeats the name key: opening a store is one call of
// the key-encryption key. A wrong key check is another key, a failed tag other bytes.
//
// # Records
//
// The value of a name of an artifact is a mark: its key says it all, and the text stands in the artifact's record. Records of
// kinds "c", "h", "l", "r", "s" and "t" are JSON inside the seal. Their fields are durable names, and fields that are added
// read as zero in older records.
//
// All other records are fields inside the seal, one behind the other, after the byte 1: the version of this form. Earlier
// versions sealed JSON in place of them, which begins with a brace, and names of artifacts too, under keys with 16 zeros at
// the end. Such records are read for ever. Package sinks/internal/compact codes fields:
//
//	number   uvarint
//	signed   uvarint of the zigzag form
//	bytes    uvarint length ‖ bytes
//	raw      bytes of a known length
//	time     signed: seconds since the base ‖ uvarint nanoseconds. The base is the time before it in the record, or 0
//	seconds  uvarint: 2 × nanoseconds; or 1 ‖ the float64 (8)
//	text     uvarint head: 4n + code ‖ rest
//	texts    uvarint how many ‖ each text
//	bits     uvarint: which fields are there. The first bit is the lowest one
//	worker   bytes: the id without the zeros at its end
//
// The codes of texts: 0 n bytes; 1 n bytes, written as 2n lower-case hex digits; 2 a text of shape n; 3 word n of a table in that
// package. Shapes: 0 a UUID (16); 1 the sum (16) and the number of parts of an ETag, SUM-NUMBER; 2 the name of a run: signed seconds
// since the base, and a number with 5 bits for each of 6 letters in base 32, from bit 31 down; 3 the number of letters, and 6 bits
// for each from the highest bit on: its place in a table of 64; 4 and above n - 2 numbers with dashes between them.
//
// A reader that meets another version, or a bit that it does not know, refuses the record: a newer symlake wrote it.
// The fields that depend on a bit are marked with its number, from 0; "7?" stands before the field of bit 7. An "a" record:
//
//	bits ‖ state: text ‖ 0? published: load ‖ 1? previous: load ‖ 2? how many loads are in progress, and for each:
//	load (8) ‖ owner: text ‖ lease: time, base 0 ‖ 3? names. 4: its names are those of the published load
//
// A load:
//
//	bits ‖ load (8) ‖ 25? artifact (16), if it is not the record's ‖ kind ‖ canonical id ‖ arch: texts ‖ base ‖ end: numbers ‖
//	URL: text ‖ 11? member: text ‖ 4? ETag: text ‖ 7? size: signed, if it is not the number with which the ETag begins ‖
//	22? standing ‖ 23? claim: standing ‖ 3? names ‖ tables of the image ‖ store key version: number ‖ 0? the data key, wrapped,
//	without its version (64) ‖ 26? bytes: a data key of another form ‖ format: text ‖ parser: signed ‖ rank: number ‖
//	1? fence: bytes ‖ counts ‖ digest (32) ‖ 9? layout of the table (32) ‖ 10? of the code (32) ‖ time of the load, base: the
//	load's milliseconds ‖ 5? account: worker. 24: it was copied
//
//	standing   owner: text ‖ rank: signed
//	names      how many, and for each a number: 4 × kind + way ‖ kind 0: the kind, text ‖ way 0: text; 1: the canonical id; 2: the
//	           UUID of the canonical id's first 16 bytes, whose first three numbers are little endian; 3: the number of
//	           letters in common with the base name ‖ text: the others. The base name is the last part of the member, or else of
//	           the URL. Kinds: 1 build-id, 2 debug-id, 3 file, 4 app, 5 code-id, 6 go-build-id, 7 mvid, 8 hash, 9 debuglink,
//	           10 path, 11 map-id, 12 dart-build
//	tables     16? how many anchors, and for each by name: text ‖ position: number; 17? how many parts, and for each: name: text ‖
//	           start less the end before it: signed ‖ length: signed ‖ stubs: 0 or 1; 12? how many segments, and for each: position
//	           less the end before it: signed ‖ size: number ‖ offset less position: signed ‖ stored less size: signed
//	counts     numbers: 2? rows, ranges, bytes; 18? members; 19? rows of text, texts left; 21? ranges dropped, the first one;
//	           14? units broken, lines broken, unwind broken; 8? bytes with inlined calls; 6? lines, bad lines; 13? bytes: the
//	           fence of call frame information, numbers: its ranges, its bytes; units; bytes of code; signed: bytes covered less
//	           that, bytes with a line less that; 20? texts: warnings; 15? texts: missing
//
// An "o" record. A listing reads its fields up to parsers:
//
//	bits ‖ state: text ‖ 0? ETag: text ‖ 11? reason: text ‖ 12? owner: worker ‖ 1? parsers: bytes, for each by name: text ‖
//	version: signed ‖ 10? size: signed, as in a load ‖ 9? modified: time. 2: it is the second number of the ETag, in nanoseconds,
//	and the base ‖ 13? attempts: signed ‖ 14? interrupted: signed ‖ 3? first: time ‖ 4? last: time ‖ 5? seconds ‖ 6? run: text ‖
//	7? account: worker ‖ 16? standing ‖ 17? app: text ‖ 8? how many artifacts, and for each: bits ‖ outcome: text ‖
//	0? artifact (16) ‖ 1? member: text ‖ 2? error: text. 15: it had ended before
//
// The others have no bits:
//
//	n, w, p   texts: name, artifact in hex, object, the state of a companion that came in vain
//	p 3       form: number, done: 0 or 1, bytes: the key to go on with
//	d 0       texts: name, file, kind ‖ asked: number ‖ first, last: times
//	d 1       last: time
//
// # Audit
//
// The events of the audit are a chain, in the order of their keys. Each says in "prev" the hash of the one before, in
// hex: SHA-256 over "symlake audit 1", the event's key, the length of its plain text (8) and that text.
// Events from before there was a chain have no "prev". The first event of the chain follows the hash of all of
// them: SHA-256 over "symlake audit 0" and, for each, key, length and text.
//
// The head is one record: the hash of the last event, that event's key and whole text, and how many there are. It passes
// through these states:
//
//	event N is stored           the head names N, and the record of N is there
//	event N + 1 is committed    one compare-and-set: the head names N + 1 and holds its text
//	event N + 1 is stored       the record of N + 1 is written
//
// A writer first writes the record that the head holds, should it be missing. So a death between the last two states
// loses nothing, two writers never follow the same event, and a reader takes the last event from the head. A
// key is later than the key of the event before. An event of an earlier time has its time beside it, in "at".
// A head that is gone while the chain is there is made anew from the chain, with an event "damage" that says so.
//
// # Fence
//
// The record of a load holds which rows there are: uvarint number of strings in the dictionary
// (0: there is no such row), then for each row of ranges uvarint Last - (After + 1).
//
// # Blocks
//
//	uvarint from ‖ uvarint ranges ‖ uvarint nodes ‖ columns
//
// from is After + 1, the first position that the block speaks for. A column is
//
//	uvarint length of its bytes, and unless that is 0: code (1) ‖ uvarint length ‖ coded bytes
//
// code: 0 as they are, 1 one byte repeated, 2 FSE, of 2^12 states at most, and 3 four-stream huff0 as in zstd (the
// table first, no lengths), 4 a zstd frame without checksum. Numbers in columns are uvarints.
// Each column is coded alone, by what suits it: measured on ceph-osd that is 13 % smaller than one
// zstd frame over all of them, since one frame has one Huffman table for all.
// A block closes at 2,560 ranges or 64 KiB of columns, and where its ranges would span
// 4 GiB. No row has more than 8 MiB of columns; a range that alone would is left a hole,
// counted in Loaded.Dropped.
//
// A block's answers are a tree of nodes (a function, and where its parent calls it), and for
// each range a node and a site (file, line, column). A call is a site of the caller's
// function, so each function has one list of sites. Functions, sites and nodes are numbered as
// they first occur. Repetition is predicted: a node goes on from its last site
// with the site that came next the last time, or begins with the site that a node of its
// function began with; a call site calls what it called last.
//
//	 0 length       per range: 2 × its length, + 1 if a hole precedes it in the block; 0 or 1: the
//	                length is too long for that, and stands in gap, after the hole's
//	 1 gap          per such hole: its length
//	 2 node         per range: 0 an older node, see back; 2k+1 the ancestor k steps above the node of the
//	                range before (k = 0: the same); 2k a chain of k new nodes, from the outside in
//	 3 back         per older node: newest node's number - its number
//	 4 parent       per chain: 0 outermost; 2k+1 as in node; 2k+2 newest node's number - k
//	 5 site         per range, of its node's function: 0 the predicted one; 1 a new one; k+2 the one met
//	                first k sites before the newest
//	 6 call         per new node with a parent, before its function: as site, of the parent's function
//	 7 function     per new node: 0 the predicted one; 1 a new one; k+2 newest function's number - k
//	 8 first file   per new site that is its function's first: 0 new in this block; k+1 the file used k
//	                files ago (each use of this code moves it to the front)
//	 9 next file    per further new site: 0 the file of the function's newest site; 1 and k+2 as 0 and k+1
//	10 first line   per function's first site: zigzag, against the first line that was last met so in that
//	                file, or 0
//	11 next line    per further site: zigzag, against the node's last site, or else the function's newest
//	12 column       per new site
//	13 14           per new function: low byte and rest of its number in the dictionary + 1; 0: it stands here
//	15 16           per new file: the same
//	17 18           length and text of the strings that stand here, as they first occur
//
// # Blocks of a script
//
// The positions of a source map are lines and columns (symbol.ScriptPosition), so its ranges, most
// within one line, are coded in a form of their own: body 3. Its head is a block's, with parts for ranges; a part is a range or a
// hole, and ends where the next begins, or with its line. Nothing is predicted but from the part
// before, since hardly anything in a map recurs. The block closes as others do, but its
// ranges may span more than 4 GiB. Columns 2 to 4 and 6 to 18 are as above: nodes are functions, calls are calls of inlined functions.
// A range with 256 adds a code to column 7, behind the codes of its new nodes: 0 no function of the script; 1 and k+2 as for
// nodes. The others:
//
//	 0 step         per part: columns from the part before, in one line; 0: it begins on another line, as the
//	                block's first does
//	 1 line step    per such part: lines from the part before, the first from the block's first position
//	 5 what         per part: 1 hole, with nothing else; or the sum of 2 another file than the last range's, 4 another
//	                node, 8 a name, 16 ignored (Frame.Ignored), 32 linear (its column grows with the position), 64 the line of
//	                the last range in its file, 128 over lines (it ends where the next part begins, not with its line), 256
//	                another function of the script (Frame.Compiled) than the last range's
//	19 start        per part that begins on another line: its column there
//	20 file         per part with another file: 0 new in this block; k+1 the file used k files ago
//	21 line         per range that is not of that line by 5: zigzag, against the last range's in that file, or 0
//	22 column       per range of that line: zigzag, against that one's
//	23 restart      per other range: its column
//	24 name         per part with a name: 0 new in this block; k newest name's number + 1 - its own
//	25 26           per new name: its number in the dictionary + 1, as for functions
//
// # Classes
//
// The position of a class is the first 8 bytes of HMAC-SHA-256 over its name in the program: no name
// stands in a key, and neighbors in a load have nothing in common. Classes of one position, should there
// be such, share a block. Facts about the mapping are the class without a name. A block:
//
//	uvarint from ‖ uvarint classes ‖ columns
//
// It closes at 64 KiB of columns or 4,096 classes. A class that would take more than 8 MiB, or has more than 2^18 members, is left out,
// counted in Loaded.Dropped. Columns are coded as the columns of ranges; 4 to 20 are parted among
// the classes, so that one can be made without the others, and nothing is predicted from
// another class, but strings are shared.
//
//	 0 part         per class, for each of columns 4 to 20: how many bytes of it are the class's
//	 1 fresh        per class: how many strings it brings
//	 2  3           length and text of the classes' names in the program
//	 4  5           strings, low byte and rest of what they are: 0 the next fresh one; 1 an older one, as many
//	                fresh ones before the next as another pair says, not counting one; 2 the empty one; 3+k number k of the dictionary.
//	                Per class: its original name; per new method: its class if that is another, its type (what it
//	                returns), its parameters if there are any; what a source file or rule needs
//	 6 file         per class, then per other class that its methods name, as they first occur: 0 none; 1 the simple name, up
//	                to its first $ but for one at its beginning, with .java; 2 with .kt; 3 without the Kt at its end, with .kt; 4 a string
//	 7 method       per class: 1 synthesized + 2 facts, and the number of members; per new method: 1 a field + 2 of
//	                another class + 4 with parameters
//	 8 op           per member: 0 a new method; k+1 the one met k methods before the newest
//	 9 shape        per member: 4 × (numbers of its lines in the program + 3 × those in the source + 9 if it has rules)
//	                + how it is called: 0 as the member before; 1 a new name; 2 as in the source; 3 as the one before with the
//	                last byte, a letter or digit, raised by one
//	10 first        per member with lines: 0 the lines of the member before, if that is called the same; else 1 + zigzag,
//	                against the one behind the last of these (1 if there are none)
//	11 length       per such member with two numbers, unless 0 says all: zigzag, last - first
//	12 source       per member with lines in the source: zigzag, against the last line in the source of its method's last
//	                member or, if it is new, of the last member of the class's own methods, or 0
//	13 source length  per such member with two numbers: zigzag, last - first, less that in the program
//	14 15           length and text of new names of members
//	16 rule         per member with rules: their number; per rule its kind doubled, + 1 if undeclared; unless it is a
//	                residual signature: the number of conditions, of actions (strings, and then its text as one), of positions,
//	                and for each the difference in the outline and the zigzag of its line's. Of facts: the number of packages
//	17 18           length and text of residual signatures; of facts: of the version and the packages
//	19 20           per new method: its name in the source, as in 4 and 5
//	21 22           length and text of the fresh strings
//
// The plain form of a class, which is hashed: flags as in column 7; name, original name, source file; of facts the version
// and the list of packages; the number of members; for each 0 and what it is if the method is new (1 for a field, class, name in
// the source, type, parameters), else 1 + the number of the method in the order of their first members; 0 if it is called as the
// one before, else 1 + length and text of its name; numbers of lines in the program + 4 × those in the source + 16 if it has rules;
// its lines, first and zigzag last - first; its rules (their number; for each kind doubled, + 1 if undeclared, lists of
// conditions and actions, list of positions, text); the list of other classes and their source files. A string or list has its
// length before it; all numbers are uvarints.
//
// # Dictionary
//
// The strings of the load stand once, in a row of their own, sorted by their bytes, 1,024 a page:
//
//	uvarint strings ‖ uvarint length of each page ‖ pages, each three columns
//
// The columns of a page: per string how many bytes it begins with like the one before, per
// string how many follow, and these. It holds up to 16 MiB of text, the strings that most runs use first; the rest
// stands in the blocks. Names used once stand in it as well: beside their like they take half
// of what they take in a block (on a React Native release that is a sixth of all bytes).
// It is a table of strings and no zstd dictionary: a block takes two bytes for a name of 140, and
// opening one decodes no text. A cold look-up reads the row but decodes only the pages its own
// names are in. Where the strings that several runs use would save less than 16 KiB, the load has none.
//
// # Texts
//
// A map may carry the texts of its sources, and a load keep them (discover.Source.Texts). The files are
// numbered as they come, from 0. A row of text has the position file (4) ‖ last line (4), lines from 1, and
// closes at 64 KiB; a line is cut to 64 KiB. Behind them stands the directory, at position 2^64 - 1. The
// record says how many rows of text there are; none: there is no directory.
//
//	text       uvarint lines ‖ columns: their lengths, and their bytes without line ends (LF, CR LF, CR)
//	directory  uvarint files ‖ columns: lengths and bytes of their names; per file 2 × its rows, + 1 if the name came
//	           with several texts: none is served; per row its lines
//
// # Call frame information
//
// Code has call frame information beside its ranges: at which positions which rules lead from a function's registers to its
// caller's (formats/symbol.Unwind). Rules are coded as formats/unwind does. A library has some hundred unlike ones, so all
// stand in one row, the table, at position 2^64 - 1, in the order in which the blocks first use them. The record of a load
// holds which rows there are in a fence of its own; its first number is how many rules the table has. Without
// that fence there is neither. The data key is not bound to it: the table repeats what it says. A position beyond the last
// block's last has no rules.
//
//	block   uvarint from ‖ uvarint base - from ‖ uvarint parts ‖ columns
//	table   uvarint blocks ‖ uvarint last of the last block ‖ uvarint rules ‖ columns: their lengths, and their bytes
//
// base is the start of the first range. From there on parts follow each other up to the row's last position. A part is a
// range or a hole. A block closes at 8,192 parts, and where a part would begin 4 GiB behind base. Rules are
// numbered as they first occur in the block, from 1; a hole has 0. Functions begin and end alike, so most is guessed:
//
//	0 rules        per part: 0 the expected ones; 1 to 12 the rules in that place of the followers of the last part's
//	               rules, without the expected ones; 13 new ones in this block; k+14 the ones met first k before the newest
//	1  2           per new rules: low byte and rest of their number in the table
//	3 hole         per hole: its length; 0: it reaches to the next multiple of 16
//	4 far          of lengths from 192 on: see below
//	5 to 10        per range: its length; 0: the expected one. The column is 5 if nothing is expected, else 5 + the lower of
//	               5 and 1 + ⌊2b / 3⌋, where 2^b is the highest power of two in the expected length
//
// Expected are the rules that followed the same two parts the last time; if that is unknown, the first of the
// followers. A block begins as if behind two holes. The followers of rules are the up to 12 rules that came next
// after them, the last one first; another one takes the last place. The expected length is the length of the last range with
// the same rules and the same next ones (0 behind the last part). Both memories have 4,096 places. The place of a
// pair (a, b) is the upper 12 bits of (a × 2^16 + b) × 0x9E3779B1 modulo 2^32, and a pair drives out another.
//
// A length is a byte up to 191. From 192 on, with v the length - 191 and 2^n the highest power of two in it, the byte is 192 + n, and
// the n lower bits of v stand in column 4, little endian, in ⌈n / 8⌉ bytes.
//
// # Digest
//
// SHA-256 over the lengths and bytes of "symlake content 1", kind and canonical id; base, end
// and anchors as above; the number of dictionary strings and the decoded columns of each page;
// for each block Last (8) and each decoded column with its length (8). So it depends on content
// alone, not on keys, loads, times, or the version of a compressor.
//
// Of classes, which a key orders: "symlake content 1" to anchors as above, the number of classes (8), and the sum of the
// SHA-256 of their plain forms, modulo 2^256 (32).
//
// Of texts, behind that: for each row, the directory last, the count it begins with (8), its position (8) and each decoded
// column with its length (8).
//
// Of call frame information, behind that, if there is any: "symlake unwind 1"; for each block Last (8) and each decoded
// column with its length (8); the number of rules (8); of the table its position (8) and each decoded column likewise.
//
// # Worked example
//
// The ELF image c0ffee, 0x60 long: [0x40, 0x44) is main, a.c:11:1; [0x44, 0x4a) is step, a.c:5:3,
// inlined into main at a.c:12:7; [0x4a, 0x50) is main, a.c:13:1. The data key is
//
//	000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
//
// The one row, which has no dictionary, has the key
//
//	a4ee0ed87244e8ac2e62cdee8c2b8295  ; artifact
//	01934a5b6c7dabcd                  ; load
//	01                                ; ranges
//	000000000000005f                  ; last: 0x60 - 1
//
// the body
//
//	00 03 02                          ; from 0; 3 ranges; 2 nodes
//	03 00 03 09 0c 0c                 ; length: 4, 6, 6 bytes, doubled; the first has 1 added: a hole precedes it
//	01 01 01 40                       ; gap: that hole, 0x40 positions
//	03 00 03 02 02 03                 ; node: new chain of 1; new chain of 1; 1 up
//	00                                ; back
//	02 00 02 00 01                    ; parent: none; the last range's node
//	03 01 01 01                       ; site: new; new; new
//	01 01 01 01                       ; call: new
//	02 01 01 01                       ; function: new; new
//	02 00 02 00 01                    ; first file: new; the one used last
//	02 01 01 00                       ; next file: as before, twice
//	02 00 02 16 0b                    ; first line: 11 more than 0; 6 less than 11
//	02 01 01 02                       ; next line: 1 more than 11; 1 more than 12
//	04 00 04 01 07 03 01              ; column: 1, 7, 3, 1
//	02 01 01 00                       ; function, low: not in the dictionary, twice
//	02 01 01 00                       ; function, high
//	01 01 01 00                       ; file, low: not in the dictionary
//	01 01 01 00                       ; file, high
//	03 00 03 04 03 04                 ; text length: 4, 3, 4
//	0b 00 0b 6d 61 69 6e 61 2e 63 73
//	74 65 70                          ; text: main, a.c, step
//
// and the value
//
//	0102  ; version, body
//	7b2992ea  ; key check
//	2d864ca8ad6b02d9089ba0dd  ; nonce
//	d1cc1f79c8f2ea90dd83e4efe85f3e616dd4954addee21d8dfb36f245c7f1097
//	f9a85329d5f8332a13511a3bb04202cd76c0bf017960254943d54bcab61dd2ae
//	6a647618b2d79967bfb3b918a898bc6dd6d6da2d0c8e26cfd11be4664353b257
//	d2ef
//	0857b9fb6e05fbee53a2b0d550f8db25  ; tag
//
// The mapping c0ffee has one class, under the same data key and load:
//
//	x.Main -> a.b:
//	# {"id":"sourceFile","fileName":"Main.java"}
//	    1:3:void run(int):10:12 -> c
//	    4:4:int x.Util.add(int,int):7:7 -> c
//	    4:4:void run(int):13 -> c
//
// and says elsewhere that x.Util is in Util.kt. The position of a.b is d9fd1af2872e7a54, its plain form
//
//	00 03612e62                       ; no flags; a.b
//	06782e4d61696e                    ; x.Main
//	094d61696e2e6a617661              ; Main.java
//	03                                ; 3 members
//	00 00 00 0372756e 04766f6964
//	03696e74                          ; a new method, no field, of the class itself: run, void, int
//	0263 0a 01 04 0a 04               ; called c; two numbers twice: 1, 2 more; 10, 2 more
//	00 00 06782e5574696c 03616464
//	03696e74 07696e742c696e74         ; a new method: x.Util, add, int, "int,int"
//	00 0a 04 00 07 00                 ; called the same; 4, 0 more; 7, 0 more
//	01 00 06 04 00 0d                 ; method 0; called the same; two numbers and one: 4, 0 more; 13
//	01 06782e5574696c 075574696c2e6b74 ; one other class: x.Util, Util.kt
//
// The one row has the key
//
//	49fe5cdc9fafa289c4b4cf61f0a295d2  ; artifact
//	01934a5b6c7dabcd                  ; load
//	02                                ; classes
//	ffffffffffffffff                  ; last
//
// and the body
//
//	00 01                             ; from 0; 1 class
//	11 00 11 07 07 02 04 03 03 03 02
//	03 02 01 01 00 00 00 02 02        ; part
//	01 01 01 07                       ; fresh: 7 strings
//	01 01 01 03 03 00 03 61 2e 62     ; a.b
//	07 00 07 00 00 00 00 01 02 00
//	07 01 01 00                       ; strings: four fresh ones; the one before three; a fresh one
//	02 00 02 01 02                    ; file: Main.java; Util.kt
//	04 00 04 00 03 04 06              ; method: 3 members; run has parameters, add too and is another class's
//	03 00 03 00 00 02                 ; op: new; new; the one before the newest
//	03 00 03 21 20 14                 ; shape
//	03 00 03 01 01 00                 ; first: 1; the next one, 4; as before
//	02 00 02 04 00                    ; length: 2 more; none
//	03 00 03 14 09 02                 ; source: 10 more than 0; 5 less than 12; 1 more than 12
//	02 01 01 00                       ; source length: as in the program, twice
//	01 01 01 01 01 01 01 63           ; c
//	00 00 00                          ; no rules, no signatures
//	02 01 01 00 02 01 01 00           ; names in the source: two fresh strings
//	07 00 07 06 03 04 03 06 03 07     ; lengths of the fresh strings
//	20 00 20 78 2e 4d 61 69 6e 72 75
//	6e 76 6f 69 64 69 6e 74 78 2e 55
//	74 69 6c 61 64 64 69 6e 74 2c 69
//	6e 74                             ; x.Main, run, void, int, x.Util, add, "int,int"
//
// # History
//
//	1: the first
//	   records of loads once said "generation":1; a store that needs one keeps it itself (sinks/hbase)
//	   body 3 came later: readers before it take such a row for unauthentic, all others as ever
//	   body 4 too
//	   artifacts of kind dart-names came later: their rows are as a mapping's, programs before them find no classes there
//	   kind 3, bodies 5 and 6, and "text_rows" of a load came later: readers before them answer as ever without, and
//	   verify of theirs takes such rows for too many
//	   kind 4, bodies 7 and 8, and "unwind" of a load came later: as with kind 3
//	   64 of a script's parts came later: readers before it take a block that has one for unauthentic
//	   128 and 256 of them too
//	   records "l", "d" and "s", an object's "interrupted" and "owner", and the state "forgotten" came later: programs before
//	   them take no notice, so two of different age must not ingest at once
//	   records "r", and "by" of an object and of a load, came later: programs before them tell only what they did themselves
//	   records "c", "claim" and "layout" of a load, "owner" and "rank" of its source and the state "conflict" came later:
//	   older records read as of no owner and rank 0, and older programs replace a load whoever owns it
//	   "copied" of a load came later: verify of programs before it asks for no ledger entry at all
//	   record "h" and "prev" of events came later: programs before them add events without, which verify tells of
//	   "k" records of version 2 came later: readers before it open no store that has one
//	   records of form 2 and marks came later: programs before them take such records for unauthentic
package row
