package brokertest

// proof is what shows that options have their effect.
type proof struct {
	options []string // names of flags; of one program only, behind its name: "perf-send rate"
	tests   []string // of this package: what a real broker gets and gives
	probes  []string // rows of the table of features
	// alone tells why no real broker is asked, and tests is then where that is proved without: FOLDER TEST, or a script of
	// internal/dev/e2e.
	alone string
}

const (
	ofSchedule = "when messages are intended does not depend on a broker"
	ofLog      = "it is about the log"
	ofScreen   = "it is about what is printed"
	ofHost     = "it is about this host"
	noAnswer   = "brokers answer"
)

// proofs has every option of perf-send and perf-recv, in the order of their help.
func proofs() []proof {
	list := append(loadProofs(), messageProofs()...)
	list = append(list, receivingProofs()...)
	return append(list, commonProofs()...)
}

func loadProofs() []proof {
	return []proof{
		{options: []string{"perf-send rate", "perf-send duration"}, tests: []string{"TestPaced"}},
		{options: []string{"rate-per-producer", "schedule", "repeat", "arrivals", "bursts", "perf-send seed", "speed", "loop", "start-at"}, tests: []string{"TestSchedules"}},
		{options: []string{"share"}, tests: []string{"TestShares"}},
		{options: []string{"replay"}, tests: []string{"TestReplayed", "TestSchedules"}},
		{options: []string{"perf-send count", "producers"}, tests: []string{"TestAccounting"}},
		{options: []string{"size"}, tests: []string{"TestSizes"}, probes: []string{"larger than a frame (1 MiB)"}},
		{options: []string{"max-pending"}, tests: []string{"TestWindow"}},
		{options: []string{"num-destinations"}, tests: []string{"TestDestinations"}},
		{options: []string{"connections"}, tests: []string{"TestConnections"}},
		{options: []string{"perf-send tx"}, tests: []string{"TestRolledBack"}, probes: []string{"transactions of a sender"}},
		{options: []string{"perf-send tx-rollback"}, tests: []string{"TestRolledBack"}},
		{options: []string{"drain"}, tests: []string{"TestCreditWithheld"}},
		{options: []string{"reconnect", "resend"}, tests: []string{"TestConnectionCut", "TestBrokerKilled"}},
		{options: []string{"warmup"}, alone: "it marks a part of the run, and leaves it out of a SUMMARY",
			tests: []string{"internal/command/perfsend TestStatsJSON", "internal/command/perfrecv TestStatsJSON"}},
		{options: []string{"spin"}, alone: ofHost, tests: []string{"internal/command/perfsend TestSpin"}},
		{options: []string{"calibrate"}, alone: ofHost, tests: []string{"internal/command/perfsend TestCalibrate"}},
		{options: []string{"dry-run"}, alone: ofSchedule, tests: []string{"internal/command/perfsend TestDryRun"}},
	}
}

func messageProofs() []proof {
	return []proof{
		{options: []string{"durable"}, tests: []string{"TestBrokerKilled", "TestSections"}, probes: []string{"durable messages", "durable messages after a kill"}},
		{options: []string{"persistent", "body", "stamp", "content", "content-lines"}, tests: []string{"TestContent"}},
		{options: []string{"presettled"}, tests: []string{"TestPresettled"}, probes: []string{"pre-settled sender", "pre-settled receiver"}},
		{options: []string{"ttl"}, tests: []string{"TestSections"}, probes: []string{"time to live"}},
		{options: []string{"priority"}, tests: []string{"TestSections"}, probes: []string{"priority"}},
		{options: []string{"group"}, tests: []string{"TestSections"}, probes: []string{"message groups"}},
		{options: []string{"subject", "message-id", "content-type", "property", "annotation"}, tests: []string{"TestSections"}},
	}
}

func receivingProofs() []proof {
	return []proof{
		{options: []string{"perf-recv count"}, tests: []string{"TestRunOnly"}},
		{options: []string{"perf-recv duration", "idle", "wait"}, tests: []string{"TestLimits"}},
		{options: []string{"credit"}, tests: []string{"TestCredit"}},
		{options: []string{"ack-every"}, tests: []string{"TestAckEvery"}},
		{options: []string{"consumers"}, tests: []string{"TestTopic", "TestAccounting", "TestConnections"}},
		{options: []string{"foreign"}, tests: []string{"TestForeign"}},
		{options: []string{"ready-file"}, tests: []string{"TestReadyFile"}},
		{options: []string{"outcome"}, tests: []string{"TestOutcomes"}, probes: []string{"released messages come again", "modified messages come again"}},
		{options: []string{"undeliverable-here"}, probes: []string{"modified, and undeliverable here"}},
		{options: []string{"work"}, tests: []string{"TestWork", "TestCredit"}},
		{options: []string{"perf-recv rate"}, tests: []string{"TestRecvRate"}},
		{options: []string{"perf-recv seed"}, alone: "how long a consumer works does not depend on a broker", tests: []string{"internal/load/consume TestWorkDistributions"}},
		{options: []string{"start-delay"}, tests: []string{"TestStartDelay"}, probes: []string{"time to live"}},
		{options: []string{"browse"}, probes: []string{"browsing"}},
		{options: []string{"selector"}, probes: []string{"selector"}},
		{options: []string{"durable-subscription"}, tests: []string{"TestSubscriptions"}, probes: []string{"durable subscription", "a durable subscription after a kill"}},
		{options: []string{"keep-subscription", "unsubscribe"}, tests: []string{"TestSubscriptions"}},
		{options: []string{"shared"}, probes: []string{"shared subscription"}},
		{options: []string{"perf-recv tx"}, tests: []string{"TestReceiverRolledBack"}, probes: []string{"transactions of a receiver"}},
		{options: []string{"perf-recv tx-rollback"}, tests: []string{"TestReceiverRolledBack"}},
	}
}

func commonProofs() []proof {
	return []proof{
		{options: []string{"run"}, tests: []string{"TestRunOnly"}},
		{options: []string{"output", "quiet"}, tests: []string{"TestAccounting"}},
		{options: []string{"force"}, alone: ofLog, tests: []string{"exists.txtar"}},
		{options: []string{"sync"}, alone: ofLog, tests: []string{"internal/load/recorder TestSyncPolicy", "internal/dev/crash TestSync"}},
		{options: []string{"name", "label"}, alone: ofLog, tests: []string{"internal/command/perfsend TestPaced"}},
		{options: []string{"progress"}, alone: ofScreen, tests: []string{"live.txtar"}},
		{options: []string{"stats"}, alone: ofScreen, tests: []string{"internal/command/perfsend TestStatsJSON", "internal/command/perfrecv TestStatsJSON"}},
		{options: []string{"clock-peer", "clock-token", "clock-listen"}, alone: "clocks are compared without a broker",
			tests: []string{"internal/command/perfsend TestClockPeer", "internal/command/perfrecv TestTwoHosts"}},
		{options: []string{"watch-pid", "watch-name", "watch-only"}, tests: []string{"TestWatched"}},
		{options: []string{"watch-cgroup"}, alone: "no script puts a broker into a cgroup of its own",
			tests: []string{"internal/load/watch TestCgroupTargetVersion2", "internal/load/watch TestCgroupTargetVersion1"}},
		{options: []string{"user", "password-file", "sasl"}, tests: []string{"TestUser"}},
		{options: []string{"hostname"}, tests: []string{"TestHostname"}},
		{options: []string{"container-id", "max-frame-size", "idle-timeout"}, tests: []string{"TestConnections"}},
		{options: []string{"timeout"}, alone: noAnswer, tests: []string{"internal/amqp/link TestDialTimeout"}},
		{options: []string{"url", "tls-ca", "tls-cert", "tls-key"}, tests: []string{"TestTLS"}, probes: []string{"TLS", "a client's certificate (SASL EXTERNAL)"}},
		{options: []string{"tls-server-name"}, tests: []string{"TestTLSRefused"}},
		{options: []string{"tls-insecure"}, tests: []string{"TestTLSInsecure"}},
		{options: []string{"address-style"}, tests: []string{"TestAddressStyle"}},
		{options: []string{"client"}, tests: []string{"TestAccounting"}},
		{options: []string{"sessions"}, tests: []string{"TestSessions"}},
		{options: []string{"sndbuf", "rcvbuf"}, tests: []string{"TestSocketBuffers"}},
		{options: []string{"session-window"}, tests: []string{"TestSessionWindow"}},
		{options: []string{"version", "help"}, alone: ofScreen, tests: []string{"version_and_completion.txtar"}},
	}
}
