package brokertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Whom the brokers' scripts let in by a certificate: Artemis the common name perf, RabbitMQ that of a user of its own.
const nobody = "nobody"

func certified() []string { return []string{"perf", "guest", nobody} }

// writeCertificates writes an authority (ca.pem), the broker's certificate (server.pem, server-key.pem), those of clients, and
// that of a client of another authority (stranger.pem), good for a day.
func writeCertificates(folder string) error {
	ca, err := newAuthority()
	if err != nil {
		return err
	}
	if err := writePEM(filepath.Join(folder, "ca.pem"), "CERTIFICATE", ca.cert.Raw); err != nil {
		return err
	}
	for _, name := range append([]string{"server"}, certified()...) {
		if err := ca.issue(folder, name, name); err != nil {
			return err
		}
	}
	other, err := newAuthority()
	if err != nil {
		return err
	}
	if err := writePEM(filepath.Join(folder, "other-ca.pem"), "CERTIFICATE", other.cert.Raw); err != nil {
		return err
	}
	return other.issue(folder, "stranger", "perf")
}

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func certificate(serial int64, name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	c := certificate(1, "authority")
	c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	c, err = x509.ParseCertificate(der)
	return &authority{c, key}, err
}

// issue writes FILE.pem and FILE-key.pem.
func (a *authority) issue(folder, file, name string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	c := certificate(2, name)
	c.KeyUsage = x509.KeyUsageDigitalSignature
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(filepath.Join(folder, file+"-key.pem"), "PRIVATE KEY", private); err != nil {
		return err
	}
	return writePEM(filepath.Join(folder, file+".pem"), "CERTIFICATE", der)
}

func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
