#!/bin/bash
# RabbitMQ of Debian with the AMQP 1.0 plugin; addresses are /queue/NAME and /topic/NAME. With TLS, a client's certificate
# is that of the user who is its common name.
NAME=rabbitmq
USERINFO=guest:guest
CAN_TLS=yes
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

install() { apt_install rabbitmq-server; }

configure() {
	echo '[rabbitmq_amqp1_0, rabbitmq_auth_mechanism_ssl].' >enabled_plugins
	cat >rabbitmq.conf <<-END
		listeners.tcp.1 = 127.0.0.1:$PORT
		disk_free_limit.absolute = 100MB
		${HEARTBEAT:+heartbeat = $HEARTBEAT}
	END
	[ -z "${TLS:-}" ] || cat >>rabbitmq.conf <<-END
		listeners.ssl.1 = 127.0.0.1:$TLS_PORT
		ssl_options.cacertfile = $TLS/ca.pem
		ssl_options.certfile = $TLS/server.pem
		ssl_options.keyfile = $TLS/server-key.pem
		ssl_options.verify = verify_peer
		ssl_options.fail_if_no_peer_cert = false
		ssl_cert_login_from = common_name
		auth_mechanisms.1 = PLAIN
		auth_mechanisms.2 = AMQPLAIN
		auth_mechanisms.3 = EXTERNAL
	END
	free_port >epmd_port
	free_port >dist_port
}

# node exports what the broker and its command have in common.
node() {
	export HOME=$RUN # for the Erlang cookie
	ERL_EPMD_PORT=$(<"$RUN/epmd_port")
	export ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT RABBITMQ_NODENAME=perf$PORT@localhost
}

launch() {
	node
	RABBITMQ_DIST_PORT=$(<dist_port)
	export RABBITMQ_DIST_PORT
	export RABBITMQ_MNESIA_BASE=$RUN/mnesia RABBITMQ_LOG_BASE=$RUN/log
	export RABBITMQ_CONFIG_FILE=$RUN/rabbitmq RABBITMQ_ENABLED_PLUGINS_FILE=$RUN/enabled_plugins
	export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}'
	exec /usr/lib/rabbitmq/bin/rabbitmq-server
}

ctl() {
	PORT=$(<"$PORTFILE")
	node
	quiet /usr/lib/rabbitmq/bin/rabbitmqctl "$@"
}

delete_queue() { ctl delete_queue "$1"; }

# more: alarm-on and alarm-off say that memory is short, and that it is not; an exchange is addressed as /exchange/NAME/KEY.
more() {
	running || die "not running"
	local name="rabbit_misc:r(<<\"/\">>, exchange, <<\"${2:-}\">>)"
	case $1 in
	alarm-on) ctl set_vm_memory_high_watermark absolute 1MB ;;
	alarm-off) ctl set_vm_memory_high_watermark 0.4 ;;
	make-exchange) ctl eval "rabbit_exchange:declare($name, fanout, false, false, false, [], <<\"perf\">>)." ;;
	delete-exchange) ctl eval "rabbit_exchange:delete($name, false, <<\"perf\">>)." ;;
	*) die "no $1 here" ;;
	esac
}

# The Erlang port mapper is a daemon of its own; this one serves only this instance.
stopped() { epmd -port "$(<"$RUN/epmd_port")" -kill >/dev/null 2>&1 || true; }

main "$@"
