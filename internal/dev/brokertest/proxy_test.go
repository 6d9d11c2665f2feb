package brokertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	neturl "net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The TCP proxy with which connections are disturbed.
const (
	toxiproxyModule  = "github.com/Shopify/toxiproxy/v2/cmd/server"
	toxiproxyVersion = "v2.5.0"
)

// toxiproxy returns the program, which is built once for this user.
func toxiproxy(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cache, "amqpperf", "toxiproxy-"+toxiproxyVersion)
	program := filepath.Join(folder, "server")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	c := exec.Command("go", "install", toxiproxyModule+"@"+toxiproxyVersion)
	c.Dir = t.TempDir() // outside of our module
	c.Env = append(os.Environ(), "GOBIN="+folder, "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("cannot build toxiproxy: %v\n%s", err, out)
	}
	return program
}

// proxy is one between our programs and the broker.
type proxy struct {
	t   *testing.T
	api string
	url string // of the broker, through the proxy
}

// newProxy starts a proxy that ends with the test.
func newProxy(t *testing.T) *proxy {
	t.Helper()
	program, address := toxiproxy(t), freeAddress(t)
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-host", host, "-port", port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it does not end by itself
		_ = cmd.Wait()
	})
	u, err := neturl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, api: "http://" + address}
	p.await()
	answer := p.call(http.MethodPost, "/proxies", map[string]any{"name": "broker", "listen": "127.0.0.1:0", "upstream": u.Host, "enabled": true})
	var made struct {
		Listen string `json:"listen"`
	}
	if err := json.Unmarshal(answer, &made); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	u.Host = made.Listen
	p.url = u.String()
	return p
}

// freeAddress is one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

// await waits until the proxy answers.
func (p *proxy) await() {
	p.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(patience); ; {
		if r, err := http.Get(p.api + "/version"); err == nil {
			_ = r.Body.Close() // what it says does not matter
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			p.t.Fatal("toxiproxy does not answer")
		}
	}
}

func (p *proxy) call(method, path string, body any) []byte {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.api+path, bytes.NewReader(text))
	if err != nil {
		p.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	answer, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // it was read only
	if err != nil || response.StatusCode >= 300 {
		p.t.Fatalf("toxiproxy: %s %s: %s %v\n%s", method, path, response.Status, err, answer)
	}
	return answer
}

// enable lets connections be made, or ends them all and refuses new ones.
func (p *proxy) enable(yes bool) {
	p.t.Helper()
	p.call(http.MethodPost, "/proxies/broker", map[string]any{"enabled": yes})
}

// silence lets nothing through any more in either direction, and ends no connection.
func (p *proxy) silence() {
	p.t.Helper()
	for _, stream := range []string{"upstream", "downstream"} {
		p.call(http.MethodPost, "/proxies/broker/toxics", map[string]any{
			"name": stream, "type": "timeout", "stream": stream, "attributes": map[string]int{"timeout": 0}})
	}
}

// speak ends silence; connections that were silent are closed.
func (p *proxy) speak() {
	p.t.Helper()
	for _, stream := range []string{"upstream", "downstream"} {
		p.call(http.MethodDelete, fmt.Sprintf("/proxies/broker/toxics/%s", stream), nil)
	}
}

// reset ends all connections by TCP resets, once.
func (p *proxy) reset() {
	p.t.Helper()
	for _, stream := range []string{"upstream", "downstream"} {
		p.call(http.MethodPost, "/proxies/broker/toxics", map[string]any{
			"name": stream, "type": "reset_peer", "stream": stream, "attributes": map[string]int{"timeout": 0}})
	}
}
