#!/bin/bash
# The example broker of Qpid Proton C: in memory, anonymous, queues only.
NAME=proton
USERINFO=
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

install() {
	apt_install gcc libc6-dev libqpid-proton11-dev libqpid-proton11-dev-examples
	[ -x "$STATE/broker" ] && return
	local libraries=(/usr/lib/*/libqpid-proton-core.so.10 /usr/lib/*/libqpid-proton-proactor.so.1)
	quiet gcc -O2 -w -o "$STATE/broker" /usr/share/proton/examples/c/broker.c "${libraries[@]}" -lpthread
}

configure() { :; }

launch() { exec "$STATE/broker" 127.0.0.1 "$PORT"; }

main "$@"
