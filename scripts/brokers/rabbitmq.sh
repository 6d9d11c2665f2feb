#!/bin/bash
# RabbitMQ of Debian with the AMQP 1.0 plugin; addresses are /queue/NAME and /topic/NAME.
NAME=rabbitmq
USERINFO=guest:guest
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

install() { apt_install rabbitmq-server; }

configure() {
	echo '[rabbitmq_amqp1_0].' >enabled_plugins
	cat >rabbitmq.conf <<-END
		listeners.tcp.1 = 127.0.0.1:$PORT
		disk_free_limit.absolute = 100MB
	END
	free_port >epmd_port
	free_port >dist_port
}

launch() {
	export HOME=$RUN # for the Erlang cookie
	ERL_EPMD_PORT=$(<epmd_port)
	RABBITMQ_DIST_PORT=$(<dist_port)
	export ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT RABBITMQ_DIST_PORT
	export RABBITMQ_NODENAME=perf$PORT@localhost
	export RABBITMQ_MNESIA_BASE=$RUN/mnesia RABBITMQ_LOG_BASE=$RUN/log
	export RABBITMQ_CONFIG_FILE=$RUN/rabbitmq RABBITMQ_ENABLED_PLUGINS_FILE=$RUN/enabled_plugins
	export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1}'
	exec /usr/lib/rabbitmq/bin/rabbitmq-server
}

# The Erlang port mapper is a daemon of its own; this one serves only this instance.
stopped() { epmd -port "$(<"$RUN/epmd_port")" -kill >/dev/null 2>&1 || true; }

main "$@"
