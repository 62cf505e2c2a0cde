package jobs

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/kek/kms"
)

// keyPlace says where a store's key-encryption key is: in a keyset, which a key of AWS KMS may
// keep sealed, or in AWS KMS.
type keyPlace struct {
	keyset    string
	keysetKMS string
	kms       kms.Options
}

// keyPlace is what flags, variables and configuration say: a flag for one kind of key overrules the
// configuration's for another. The keyset is beside the rows of a file store, else in the
// working folder, unless named.
func (p *process) keyPlace() keyPlace {
	c := p.config.Keys
	k := keyPlace{kms: kms.Options{Key: p.flags.KMS, Region: c.Region, Endpoint: c.Endpoint, Profile: c.Profile}}
	if p.flags.KMSEndpoint != "" {
		k.kms.Endpoint = p.flags.KMSEndpoint
	}
	if k.kms.Key == "" && p.flags.Keyset == "" {
		k.kms.Key = c.KMS
	}
	if k.kms.Key != "" {
		return k
	}
	switch {
	case p.flags.Keyset != "":
		k.keyset = p.flags.Keyset
	case c.Keyset != "":
		k.keyset = c.Keyset
	case p.storeDir() != "":
		k.keyset = filepath.Join(p.storeDir(), defaultKeyset)
	default:
		k.keyset = defaultKeyset
	}
	if k.keysetKMS = p.flags.KeysetKMS; k.keysetKMS == "" {
		k.keysetKMS = c.KeysetKMS
	}
	return k
}

// open gets the key ready for use.
func (k keyPlace) open(ctx context.Context) (sinks.KEK, error) {
	if k.keyset == "" {
		return kms.Open(ctx, k.kms)
	}
	by, err := k.seals(ctx)
	if err != nil {
		return nil, err
	}
	return kek.OpenKeyset(ctx, k.keyset, by)
}

// create makes the keyset.
func (k keyPlace) create(ctx context.Context) error {
	by, err := k.seals(ctx)
	if err != nil {
		return err
	}
	return kek.CreateKeyset(ctx, k.keyset, by)
}

// seals is the key of KMS that seals the keyset; nil: none does.
func (k keyPlace) seals(ctx context.Context) (sinks.KEK, error) {
	if k.keysetKMS == "" {
		return nil, nil
	}
	o := k.kms
	o.Key = k.keysetKMS
	return kms.Open(ctx, o)
}

// try wraps and unwraps something by the key.
func (k keyPlace) try(ctx context.Context) error {
	key, err := k.open(ctx)
	if err != nil {
		return err
	}
	sealed, err := key.Encrypt(ctx, []byte("symlake"), nil)
	if err == nil {
		_, err = key.Decrypt(ctx, sealed, nil)
	}
	return err
}

// text is the place as init writes it into the configuration.
func (k keyPlace) text() string {
	text := fmt.Sprintf("{keyset: %s", k.keyset)
	switch {
	case k.keyset == "":
		text = fmt.Sprintf("{kms: %q", k.kms.Key)
	case k.keysetKMS != "":
		text += fmt.Sprintf(", keyset_kms: %q", k.keysetKMS)
	}
	if k.kms.Endpoint != "" {
		text += ", endpoint: " + k.kms.Endpoint
	}
	return text + "}"
}
