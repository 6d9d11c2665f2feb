//go:build !linux

package format

func renameNoReplace(from, to string) error { return linkNoReplace(from, to) }
