package krb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

const (
	kdcTimeout = 5 * time.Second // one KDC
	maxReply   = 1 << 20         // bytes; PACs of Active Directory reach 64 KiB
	maxHops    = 6               // realms between client and service
)

// login gets a ticket-granting ticket with a key of the keytab.
func (s *settings) login(ctx context.Context, client Principal, kt *keytab.Keytab, file string) (*Ticket, error) {
	c := *s.gokrb5
	c.LibDefaults.DefaultTktEnctypeIDs = keyTypes(kt, client, s.gokrb5.LibDefaults.DefaultTktEnctypeIDs)
	if len(c.LibDefaults.DefaultTktEnctypeIDs) == 0 {
		return nil, final("%s holds no key of %s of a type that krb5.conf permits: symlake needs AES", file, client)
	}
	cname := client.name(nametype.KRB_NT_PRINCIPAL)
	req, err := messages.NewASReqForTGT(client.Realm, &c, cname)
	if err != nil {
		return nil, err
	}
	b, err := s.ask(ctx, client.Realm, req.Marshal)
	var no messages.KRBError
	if errors.As(err, &no) && no.ErrorCode == errorcode.KDC_ERR_PREAUTH_REQUIRED {
		if err := preauthenticate(&req, no, client, kt, c.LibDefaults.DefaultTktEnctypeIDs); err != nil {
			return nil, err
		}
		b, err = s.ask(ctx, client.Realm, req.Marshal)
	}
	if errors.As(err, &no) {
		if no.ErrorCode == errorcode.KDC_ERR_PREAUTH_FAILED {
			return nil, final("the key of %s in %s (version %d) is not the KDC's: make the keytab anew", client, file, version(kt, client))
		}
		return nil, refused(no, client.Realm, client, Principal{})
	}
	if err != nil {
		return nil, err
	}
	t := &Ticket{Client: client, Service: Principal{"krbtgt/" + client.Realm, client.Realm}}
	err = guard(func() error {
		var rep messages.ASRep
		if err := rep.Unmarshal(b); err != nil {
			return err
		}
		// Keytabs made by hand carry versions of their own: any key of the type is tried.
		if _, _, err := kt.GetEncryptionKey(cname, client.Realm, rep.EncPart.KVNO, rep.EncPart.EType); err != nil {
			rep.EncPart.KVNO = 0
		}
		creds := credentials.NewFromPrincipalName(cname, client.Realm).WithKeytab(kt)
		if _, err := rep.Verify(&c, creds, req); err != nil {
			return err
		}
		t.Message = rep.Ticket
		t.times(rep.DecryptedEncPart)
		return nil
	})
	if err != nil && strings.Contains(err.Error(), "clock skew") {
		return nil, final("%s", skew(0, "the KDC of "+client.Realm))
	}
	if err != nil && strings.Contains(err.Error(), "decrypt") {
		return nil, final("the key of %s in %s (version %d) is not the KDC's: make the keytab anew", client, file, version(kt, client))
	}
	if err != nil {
		return nil, final("the answer of the KDC of %s is malformed: %v", client.Realm, err)
	}
	return t, nil
}

// times takes the key and times of a reply.
func (t *Ticket) times(p messages.EncKDCRepPart) {
	t.Key, t.Start, t.End, t.renew = p.Key, p.StartTime, p.EndTime, p.RenewTill
	if t.Start.IsZero() {
		t.Start = p.AuthTime
	}
}

// preauthenticate adds a sealed time, under a key that KDC and keytab share.
func preauthenticate(req *messages.ASReq, no messages.KRBError, client Principal, kt *keytab.Keytab, ours []int32) error {
	pick := ours[0]
	err := guard(func() error {
		var list types.PADataSequence
		if err := list.Unmarshal(no.EData); err != nil {
			return err
		}
		for _, pa := range list {
			if pa.PADataType != patype.PA_ETYPE_INFO2 {
				continue
			}
			info, err := pa.GetETypeInfo2()
			if err != nil {
				return err
			}
			for _, i := range info {
				if slices.Contains(ours, i.EType) {
					pick = i.EType
					return nil
				}
			}
		}
		return nil
	})
	if err != nil {
		return final("the answer of the KDC of %s is malformed: %v", client.Realm, err)
	}
	key, kvno, err := kt.GetEncryptionKey(client.name(nametype.KRB_NT_PRINCIPAL), client.Realm, 0, pick)
	if err != nil {
		return err
	}
	now, err := types.GetPAEncTSEncAsnMarshalled()
	if err != nil {
		return err
	}
	sealed, err := crypto.GetEncryptedData(now, key, keyusage.AS_REQ_PA_ENC_TIMESTAMP, kvno)
	if err != nil {
		return err
	}
	b, err := sealed.Marshal()
	if err != nil {
		return err
	}
	req.PAData = append(req.PAData, types.PAData{PADataType: patype.PA_ENC_TIMESTAMP, PADataValue: b})
	return nil
}

// ticket gets a ticket for a service, over the realms between if need be.
func (s *settings) ticket(ctx context.Context, tgt *Ticket, service Principal) (*Ticket, error) {
	for hop := 0; hop < maxHops; hop++ {
		_, at, _ := strings.Cut(tgt.Service.Name, "/")
		if at == service.Realm {
			return s.exchange(ctx, tgt, at, service, false)
		}
		next, err := s.exchange(ctx, tgt, at, Principal{"krbtgt/" + service.Realm, at}, false)
		if e := (*Error)(nil); errors.As(err, &e) && e.code == errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN {
			return nil, final("the realms %s and %s of %s and %s trust each other in no way that the KDC of %s knows", tgt.Client.Realm, service.Realm, tgt.Client, service, at)
		}
		if err != nil {
			return nil, err
		}
		tgt = next
	}
	return nil, final("more than %d realms lie between %s and %s", maxHops, tgt.Client, service)
}

// exchange asks the ticket-granting service of a realm.
func (s *settings) exchange(ctx context.Context, tgt *Ticket, realm string, service Principal, renew bool) (*Ticket, error) {
	kind := nametype.KRB_NT_SRV_HST
	if strings.HasPrefix(service.Name, "krbtgt/") {
		kind = nametype.KRB_NT_SRV_INST
	}
	cname := tgt.Client.name(nametype.KRB_NT_PRINCIPAL)
	req, err := messages.NewTGSReq(cname, realm, s.gokrb5, tgt.Message, tgt.Key, service.name(kind), renew)
	if err == nil {
		err = authenticate(&req, tgt)
	}
	if err != nil {
		return nil, err
	}
	b, err := s.ask(ctx, realm, req.Marshal)
	var no messages.KRBError
	if errors.As(err, &no) {
		return nil, refused(no, realm, tgt.Client, service)
	}
	if err != nil {
		return nil, err
	}
	t := &Ticket{Client: tgt.Client}
	err = guard(func() error {
		var rep messages.TGSRep
		if err := rep.Unmarshal(b); err != nil {
			return err
		}
		if err := rep.DecryptEncPart(tgt.Key); err != nil {
			return err
		}
		if _, err := rep.Verify(s.gokrb5, req); err != nil {
			return err
		}
		t.Message = rep.Ticket
		t.Service = Principal{rep.Ticket.SName.PrincipalNameString(), rep.Ticket.Realm}
		// gokrb5 leaves the service's name unchecked.
		if part := rep.DecryptedEncPart; !part.SName.Equal(rep.Ticket.SName) {
			return fmt.Errorf("a ticket for %s in a reply for %s", t.Service.Name, part.SName.PrincipalNameString())
		}
		t.times(rep.DecryptedEncPart)
		return nil
	})
	switch {
	case err != nil && strings.Contains(err.Error(), "clock skew"):
		return nil, final("%s", skew(0, "the KDC of "+realm))
	case err != nil:
		return nil, final("the answer of the KDC of %s for %s is malformed: %v", realm, service, err)
	case t.Service.Name != service.Name && (kind != nametype.KRB_NT_SRV_INST || !strings.HasPrefix(t.Service.Name, "krbtgt/")):
		return nil, final("the KDC of %s answers with a ticket for %s, not for %s", realm, t.Service, service)
	}
	return t, nil
}

// authenticate proves the holder of tgt. gokrb5 puts the ticket's realm where the client's belongs.
func authenticate(req *messages.TGSReq, tgt *Ticket) error {
	body, err := req.ReqBody.Marshal()
	if err != nil {
		return err
	}
	kind, err := crypto.GetEtype(tgt.Key.KeyType)
	if err != nil {
		return err
	}
	sum, err := kind.GetChecksumHash(tgt.Key.KeyValue, body, keyusage.TGS_REQ_PA_TGS_REQ_AP_REQ_AUTHENTICATOR_CHKSUM)
	if err != nil {
		return err
	}
	auth, err := types.NewAuthenticator(tgt.Client.Realm, tgt.Client.name(nametype.KRB_NT_PRINCIPAL))
	if err != nil {
		return err
	}
	auth.Cksum = types.Checksum{CksumType: kind.GetHashID(), Checksum: sum}
	ap, err := messages.NewAPReq(tgt.Message, tgt.Key, auth)
	if err != nil {
		return err
	}
	b, err := ap.Marshal()
	if err != nil {
		return err
	}
	req.PAData = types.PADataSequence{{PADataType: patype.PA_TGS_REQ, PADataValue: b}}
	return nil
}

// ask sends a message to a realm's KDCs in turn. The error of a KDC that says no is a messages.KRBError.
func (s *settings) ask(ctx context.Context, realm string, marshal func() ([]byte, error)) ([]byte, error) {
	message, err := marshal()
	if err != nil {
		return nil, err
	}
	list, err := s.kdcs(ctx, realm)
	if err != nil {
		return nil, err
	}
	var all []error
	for _, address := range list {
		b, err := askOne(ctx, address, message)
		if ctx.Err() != nil {
			return nil, passing("no KDC of realm %s answers in time", realm)
		}
		if err != nil {
			all = append(all, err)
			continue
		}
		var no messages.KRBError
		if guard(func() error { return no.Unmarshal(b) }) == nil {
			if no.ErrorCode == errorcode.KDC_ERR_SVC_UNAVAILABLE {
				all = append(all, no)
				continue
			}
			return nil, no
		}
		s.mu.Lock()
		s.good[realm] = address
		s.mu.Unlock()
		return b, nil
	}
	return nil, passing("no KDC of realm %s answers: %v", realm, errors.Join(all...))
}

func askOne(ctx context.Context, address string, message []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, kdcTimeout)
	defer cancel()
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := nc.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(nc, head[:]); err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > maxReply {
		return nil, fmt.Errorf("%s: an answer of %d bytes: no KDC speaks there", address, n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(nc, b); err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return b, nil
}

// kdcs lists a realm's KDCs. The KDC of the last answer comes first.
func (s *settings) kdcs(ctx context.Context, realm string) ([]string, error) {
	var list []string
	for _, r := range s.gokrb5.Realms {
		if r.Realm == realm {
			list = slices.Clone(r.KDC)
		}
	}
	if len(list) == 0 && s.gokrb5.LibDefaults.DNSLookupKDC {
		if _, found, err := net.DefaultResolver.LookupSRV(ctx, "kerberos", "tcp", realm); err == nil {
			for _, v := range found {
				list = append(list, net.JoinHostPort(strings.TrimSuffix(v.Target, "."), strconv.Itoa(int(v.Port))))
			}
		}
	}
	if len(list) == 0 {
		return nil, final("neither [realms] of %s nor DNS names a KDC of realm %s: check hbase.krb5_conf and the principal's realm", s.file, realm)
	}
	s.mu.Lock()
	good := s.good[realm]
	s.mu.Unlock()
	if i := slices.Index(list, good); i > 0 {
		list[0], list[i] = list[i], list[0]
	}
	return list, nil
}
