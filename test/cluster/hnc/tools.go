//go:build tools

package hnc

import (
	_ "sigs.k8s.io/hierarchical-namespaces/cmd/kubectl"
	_ "sigs.k8s.io/hierarchical-namespaces/cmd/manager"
)
