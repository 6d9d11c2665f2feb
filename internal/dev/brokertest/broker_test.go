package brokertest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	goamqp "github.com/Azure/go-amqp"
)

// brokerScript runs scripts/brokers/NAME.sh for an instance of PERF_TEST_BROKER, "" being that of all tests.
func brokerScript(instance string, env []string, args ...string) (string, error) {
	script, err := filepath.Abs(filepath.Join("..", "..", "..", "scripts", "brokers", os.Getenv("PERF_TEST_BROKER")+".sh"))
	if err != nil {
		return "", err
	}
	c := exec.Command(script, args...)
	c.Env = append(os.Environ(), "INSTANCE="+cmp.Or(os.Getenv("PERF_TEST_INSTANCE"), "test")+instance)
	c.Env = append(c.Env, env...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", script, strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// able reports whether the broker, as its script configures it, is one of those that can do something.
func able(what string) bool {
	return slices.Contains(map[string][]string{
		"tls":                   {"activemq", "artemis", "brokerj", "rabbitmq"},
		"certificates":          {"artemis", "rabbitmq"},
		"durable queues":        {"activemq", "artemis", "brokerj", "rabbitmq"},
		"durable subscriptions": {"activemq", "artemis", "brokerj"},
		"transactions":          {"activemq", "artemis", "brokerj"},
		"rejected is gone":      {"activemq", "artemis", "rabbitmq"},
		"modified":              {"activemq", "artemis", "brokerj", "proton"},
		"delete a queue":        {"artemis", "rabbitmq"}, // by a command
		"full addresses":        {"artemis"},
		"manage queues":         {"brokerj"},  // by messages
		"memory alarm":          {"rabbitmq"}, // by a command
		"exchanges":             {"rabbitmq"},
	}[what], os.Getenv("PERF_TEST_BROKER"))
}

// simple reports whether it is the example of Proton C, which has no topics and gives nothing to a second receiver.
func simple() bool { return os.Getenv("PERF_TEST_BROKER") == "proton" }

// tlsEnv tells the script where the certificates are, if the broker can use them.
func tlsEnv() []string {
	if !able("tls") {
		return nil
	}
	return []string{"TLS=" + bin}
}

// startBroker starts the broker of all tests, of which nothing may be left from before.
func startBroker() error {
	_, err := brokerScript("", nil, "stop")
	if err == nil {
		url, err = brokerScript("", tlsEnv(), "start")
	}
	return err
}

// stopBroker adds to an error that of the script.
func stopBroker(err error) error {
	_, stopErr := brokerScript("", nil, "stop")
	return errors.Join(err, stopErr)
}

// broker is what a test does to the broker itself.
func (b *bench) broker(args ...string) string {
	b.Helper()
	out, err := brokerScript("", nil, args...)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// deleteQueue deletes a queue that is in use: by a command, or by a message to Broker-J's management (AMQP Management 1.0, working
// draft 9), which answers to nobody here.
func (b *bench) deleteQueue(address string) {
	b.Helper()
	name := strings.TrimPrefix(address, "queue://")
	if able("delete a queue") {
		b.broker("delete-queue", name)
		return
	}
	s, err := b.session().NewSender(b.Context(), "$management", nil)
	if err != nil {
		b.Fatal(err)
	}
	m := &goamqp.Message{
		Properties:            &goamqp.MessageProperties{MessageID: "1"},
		ApplicationProperties: map[string]any{"operation": "DELETE", "type": "org.apache.qpid.Queue", "index": "object-path", "key": name},
		Value:                 map[string]any{},
	}
	if err := s.Send(b.Context(), m, nil); err != nil {
		b.Fatal(err)
	}
}

// ours skips a test that treats the broker badly, unless the tests have started it themselves.
func ours(t *testing.T) {
	t.Helper()
	if !isOurs() {
		t.Skip("the tests did not start this broker: set PERF_TEST_BROKER (make broker-test)")
	}
}

func isOurs() bool {
	return os.Getenv("PERF_TEST_BROKER") != "" && os.Getenv("PERF_TEST_AMQP_URL") == ""
}
