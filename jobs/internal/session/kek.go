package session

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/kek/kms"
)

// KeyPlace says where a store's key-encryption key is: in a keyset, which a key of AWS KMS may
// keep sealed, or in AWS KMS.
type KeyPlace struct {
	Keyset    string
	keysetKMS string
	KMS       kms.Options
}

// KeyPlace is what flags, variables and configuration say: a flag for one kind of key overrules the
// configuration's for another. The keyset is beside the rows of a file store, else in the
// working folder, unless named.
func (p *Session) KeyPlace() KeyPlace {
	c := p.Config.Keys
	k := KeyPlace{KMS: kms.Options{Key: p.Flags.KMS, Region: c.Region, Endpoint: c.Endpoint, Profile: c.Profile, Credentials: p.Credentials}}
	if p.Flags.KMSEndpoint != "" {
		k.KMS.Endpoint = p.Flags.KMSEndpoint
	}
	if k.KMS.Key == "" && p.Flags.Keyset == "" {
		k.KMS.Key = c.KMS
	}
	if k.KMS.Key != "" {
		return k
	}
	switch {
	case p.Flags.Keyset != "":
		k.Keyset = p.Flags.Keyset
	case c.Keyset != "":
		k.Keyset = c.Keyset
	case p.StoreDir() != "":
		k.Keyset = filepath.Join(p.StoreDir(), settings.DefaultKeyset)
	default:
		k.Keyset = settings.DefaultKeyset
	}
	if k.keysetKMS = p.Flags.KeysetKMS; k.keysetKMS == "" {
		k.keysetKMS = c.KeysetKMS
	}
	return k
}

// Open gets the key ready for use.
func (k KeyPlace) Open(ctx context.Context) (sinks.KEK, error) {
	if k.Keyset == "" {
		return kms.Open(ctx, k.KMS)
	}
	by, err := k.seals(ctx)
	if err != nil {
		return nil, err
	}
	return kek.OpenKeyset(ctx, k.Keyset, by)
}

// Create makes the keyset.
func (k KeyPlace) Create(ctx context.Context) error {
	by, err := k.seals(ctx)
	if err != nil {
		return err
	}
	return kek.CreateKeyset(ctx, k.Keyset, by)
}

// seals is the key of KMS that seals the keyset; nil: none does.
func (k KeyPlace) seals(ctx context.Context) (sinks.KEK, error) {
	if k.keysetKMS == "" {
		return nil, nil
	}
	o := k.KMS
	o.Key = k.keysetKMS
	return kms.Open(ctx, o)
}

// Try wraps and unwraps something by the key.
func (k KeyPlace) Try(ctx context.Context) error {
	key, err := k.Open(ctx)
	if err != nil {
		return err
	}
	sealed, err := key.Encrypt(ctx, []byte("symlake"), nil)
	if err == nil {
		_, err = key.Decrypt(ctx, sealed, nil)
	}
	return err
}

// Text is the place as init writes it into the configuration.
func (k KeyPlace) Text() string {
	text := fmt.Sprintf("{keyset: %s", k.Keyset)
	switch {
	case k.Keyset == "":
		text = fmt.Sprintf("{kms: %q", k.KMS.Key)
	case k.keysetKMS != "":
		text += fmt.Sprintf(", keyset_kms: %q", k.keysetKMS)
	}
	if k.KMS.Endpoint != "" {
		text += ", endpoint: " + k.KMS.Endpoint
	}
	return text + "}"
}
