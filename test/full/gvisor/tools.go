//go:build tools

// Package gvisor pins the version of gVisor that the tests build.
package gvisor

import _ "gvisor.dev/gvisor/runsc"
