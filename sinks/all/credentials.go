package all

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
)

// Credentials returns the credentials that AWS's own library finds, for a key of AWS KMS. It also renews sessions of
// IAM Identity Center.
func Credentials(ctx context.Context, profile, region string) (aws.CredentialsProvider, error) {
	var load []func(*config.LoadOptions) error
	if profile != "" {
		load = append(load, config.WithSharedConfigProfile(profile))
	}
	if region != "" {
		load = append(load, config.WithRegion(region))
	}
	c, err := config.LoadDefaultConfig(ctx, load...)
	return c.Credentials, err
}
