//go:build !linux

package main

import "log"

func main() { log.Fatal("wire: network namespaces are Linux's") }
