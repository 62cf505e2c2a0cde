package sasl

// NewDigestAs begins a handshake as user, to a service such as "hdfs/0". user and password go as they are.
func NewDigestAs(user, password, service string, least Layer) *Digest {
	d := NewDigest(nil, nil, least)
	d.user, d.password, d.uri = user, password, service
	return d
}

// For has the handshake name another service than HBase's, such as "/default" for HDFS. It returns d.
func (d *Digest) For(service string) *Digest {
	d.uri = service
	return d
}
