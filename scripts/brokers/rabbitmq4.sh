#!/bin/bash
# RabbitMQ 4 of Debian 13, with Erlang 27 and all libraries of its own in a folder: nothing of it is installed on the
# machine. AMQP 1.0 without a plugin; addresses are /queues/NAME and /exchanges/NAME/KEY. Needs root, for chroot.
# MANAGEMENT=PORT also starts the management plugin there.
# shellcheck disable=SC2016 # $ in single quotes is for apt, and for the shell inside
NAME=rabbitmq4
USERINFO=guest:guest
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
ROOT=$STATE/root

# packages are what the broker depends on, and what Debian takes for granted and its scripts call.
packages=(rabbitmq-server dash coreutils sed grep mawk libc-bin hostname findutils)

# install unpacks the packages without running any script of theirs.
install() {
	[ -d "$ROOT" ] && return
	local dir=$STATE/apt deb
	rm -rf "$dir" "$ROOT.tmp"
	mkdir -p "$dir/lists/partial" "$dir/archives/partial" "$ROOT.tmp"/{dev,proc,sys,tmp,run,root} "$ROOT.tmp"/usr/{bin,sbin,lib,lib64}
	: >"$dir/status"
	# From wherever this machine has its packages from.
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(apt-get indextargets --format '$(REPO_URI)' | head -n 1) trixie main" >"$dir/sources.list"
	cat >"$dir/apt.conf" <<-END
		Dir::Etc::sourcelist "$dir/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::State "$dir";
		Dir::State::lists "$dir/lists";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir";
		Dir::Cache::archives "$dir/archives";
		APT::Install-Recommends "false";
		Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
		APT::Update::Post-Invoke-Success { "true"; };
	END
	quiet env APT_CONFIG="$dir/apt.conf" apt-get update -qq
	quiet env APT_CONFIG="$dir/apt.conf" apt-get install -y -qq --download-only "${packages[@]}"
	for deb in bin sbin lib lib64; do ln -s "usr/$deb" "$ROOT.tmp/$deb"; done
	for deb in "$dir"/archives/*.deb; do quiet dpkg-deb -x "$deb" "$ROOT.tmp"; done
	# What the scripts of the packages would have made.
	ln -s mawk "$ROOT.tmp/usr/bin/awk"
	echo 'root:x:0:0:root:/root:/bin/sh' >"$ROOT.tmp/etc/passwd"
	echo '127.0.0.1 localhost' >"$ROOT.tmp/etc/hosts"
	rm -rf "$dir"
	mv "$ROOT.tmp" "$ROOT"
}

configure() {
	echo "[${MANAGEMENT:+rabbitmq_management}]." >enabled_plugins
	cat >rabbitmq.conf <<-END
		listeners.tcp.1 = 127.0.0.1:$PORT
		disk_free_limit.absolute = 100MB
		${MANAGEMENT:+management.tcp.ip = 127.0.0.1
		management.tcp.port = $MANAGEMENT}
	END
	free_port >epmd_port
	free_port >dist_port
}

# launch gives the broker the machine's devices and its own data, in a mount namespace that ends with it.
launch() {
	export ROOT RUN PORT HOME=$RUN # HOME for the Erlang cookie
	exec unshare --mount --propagation private bash -euc '
		for dir in dev proc sys; do mount --rbind "/$dir" "$ROOT/$dir"; done
		mount -t tmpfs tmpfs "$ROOT/tmp"
		mount -t tmpfs tmpfs "$ROOT/run"
		mkdir "$ROOT/run/broker"
		mount --bind "$RUN" "$ROOT/run/broker"
		epmd=$(<epmd_port) dist=$(<dist_port)
		exec chroot "$ROOT" /usr/bin/env -i PATH=/usr/bin:/usr/sbin LANG=C.UTF-8 HOME=/run/broker \
			ERL_EPMD_PORT="$epmd" ERL_EPMD_ADDRESS=127.0.0.1 RABBITMQ_DIST_PORT="$dist" \
			RABBITMQ_NODENAME="perf$PORT@localhost" \
			RABBITMQ_MNESIA_BASE=/run/broker/mnesia RABBITMQ_LOG_BASE=/run/broker/log \
			RABBITMQ_CONFIG_FILE=/run/broker/rabbitmq RABBITMQ_ENABLED_PLUGINS_FILE=/run/broker/enabled_plugins \
			RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}" \
			/usr/lib/rabbitmq/bin/rabbitmq-server'
}

# The Erlang port mapper is a daemon of its own; this one serves only this instance.
stopped() { chroot "$ROOT" /usr/bin/epmd -port "$(<"$RUN/epmd_port")" -kill >/dev/null 2>&1 || true; }

main "$@"
