//go:build !unix

package watch

func ownCPU() (int64, bool) { return 0, false }
