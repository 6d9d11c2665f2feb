// Package netns makes several hosts of one, for tests: a [Host] is a network
// namespace, and Connect joins two of them by a link whose delay and jitter are
// known, each direction by itself. Programs that are started on a host have its
// addresses and no others; TCP and UDP between two hosts are those of the kernel.
//
// The link is a pair of TUN devices and a process between them that keeps each
// packet for as long as it was told, in order. It does what tc netem does on a veth
// pair, and works on kernels without either.
//
// Nothing has to be removed: a namespace, and what is in it, ends with the last
// process and descriptor that uses it, also when a test is killed. It needs root,
// or the capabilities NET_ADMIN and SYS_ADMIN, and /dev/net/tun.
package netns
