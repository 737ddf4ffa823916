//go:build tools

// Package tools names what is built from this module, so that it is pinned.
package tools

import (
	_ "go.etcd.io/etcd/etcdutl/v3"
	_ "sigs.k8s.io/apiserver-network-proxy/cmd/server"
)
