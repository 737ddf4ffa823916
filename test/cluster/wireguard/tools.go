//go:build tools

package wireguard

import _ "golang.zx2c4.com/wireguard"
