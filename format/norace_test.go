//go:build !race

package format

const raced = false
