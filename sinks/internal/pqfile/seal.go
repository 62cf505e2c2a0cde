package pqfile

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"slices"

	"github.com/symlake/symlake/sinks/internal/textset"
)

// The modules of an encrypted file, as Parquet's encryption specification numbers them.
const (
	footerModule           byte = 0
	dataPageModule         byte = 2
	dictionaryPageModule   byte = 3
	dataHeaderModule       byte = 4
	dictionaryHeaderModule byte = 5
)

const (
	uniqueBytes = 8  // of the part of a module's additional data that is the file's own
	nonceBytes  = 12 // of AES-GCM
	tagBytes    = 16

	// sealBytes is how much longer a module is than its text: length (4), nonce and tag.
	sealBytes = 4 + nonceBytes + tagBytes
)

// place is where a page stands. Parquet counts row groups, columns and pages in 16 bits.
type place struct{ group, column, page int }

// noPage stands in place of a page's number in the additional data of a dictionary.
const noPage = -1

// sealer encrypts the modules of a file by AES_GCM_V1 under one key.
type sealer struct {
	key    *FileKey
	aead   cipher.AEAD
	unique [uniqueBytes]byte
	aad    []byte
	room   []byte
}

func newSealer(key *FileKey) (*sealer, error) {
	a, err := gcm(key.Key)
	if err != nil {
		return nil, err
	}
	s := &sealer{key: key, aead: a}
	rand.Read(s.unique[:])
	return s, nil
}

// seal returns a page or its header as a module, valid until the next call:
//
//	length (4, little endian) ‖ nonce (12) ‖ ciphertext ‖ tag (16)
//
// The additional data is the file's prefix ‖ the file's unique bytes ‖ module (1) ‖ row group (2) ‖ column (2) ‖ page (2), little endian,
// without the page for a dictionary.
func (s *sealer) seal(module byte, at place, text []byte) []byte {
	s.aad = append(s.fileData(), module)
	s.aad = binary.LittleEndian.AppendUint16(s.aad, uint16(at.group))
	s.aad = binary.LittleEndian.AppendUint16(s.aad, uint16(at.column))
	if at.page != noPage {
		s.aad = binary.LittleEndian.AppendUint16(s.aad, uint16(at.page))
	}
	return s.module(text)
}

// sealFooter returns the footer as a module, valid until the next call. Its additional data ends with the module's number.
func (s *sealer) sealFooter(text []byte) []byte {
	s.aad = append(s.fileData(), footerModule)
	return s.module(text)
}

// fileData begins the additional data of each module, in the room of s.aad.
func (s *sealer) fileData() []byte {
	return append(append(s.aad[:0], s.key.Prefix...), s.unique[:]...)
}

// module seals text with the additional data in s.aad.
func (s *sealer) module(text []byte) []byte {
	b := slices.Grow(s.room[:0], sealBytes+len(text))
	b = binary.LittleEndian.AppendUint32(b, uint32(sealBytes-4+len(text)))
	b = b[:4+nonceBytes]
	nonce := b[4:]
	rand.Read(nonce)
	b = s.aead.Seal(b, nonce, text, s.aad)

	s.room = textset.Kept(b)
	return b
}

// cryptoMetadata stands in clear before a sealed footer. It is parquet-go's FileCryptoMetaData with every field written:
// Arrow dereferences SupplyPrefix, and parquet-go leaves a false one out.
type cryptoMetadata struct {
	Algorithm algorithm `thrift:"1,required"`
	Key       []byte    `thrift:"2,required"`
}

// algorithm is a union: the number of its one field says which algorithm it is.
type algorithm struct {
	GCM aesGCM `thrift:"1,required"`
}

type aesGCM struct {
	Prefix       []byte `thrift:"1,optional"`
	Unique       []byte `thrift:"2,required"`
	SupplyPrefix bool   `thrift:"3,required"`
}

func (s *sealer) metadata() *cryptoMetadata {
	return &cryptoMetadata{Algorithm: algorithm{aesGCM{Prefix: []byte(s.key.Prefix), Unique: s.unique[:]}}, Key: []byte(s.key.Material)}
}
