/** What Go's HTTP client says when Node's client fails, because the text reaches users and they search for it. */
export function goHttpError(
  error: NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string },
  serverName: string,
): string {
  switch (error.code ?? '') {
    case 'ECONNREFUSED':
      return `dial tcp ${hostPort(error)}: connect: connection refused`;
    case 'EHOSTUNREACH':
      return `dial tcp ${hostPort(error)}: connect: no route to host`;
    case 'ENETUNREACH':
      return `dial tcp ${hostPort(error)}: connect: network is unreachable`;
    case 'ETIMEDOUT':
      return `dial tcp ${hostPort(error)}: connect: connection timed out`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${error.hostname ?? serverName}: no such host`;
    case 'ECONNRESET':
    case 'EPIPE':
      return 'EOF';
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `tls: failed to verify certificate: x509: ${altNames(error.message, serverName)}`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
    case 'EPROTO':
      return error.message.includes('wrong version number') || error.message.includes('packet length too long')
        ? 'http: server gave HTTP response to HTTPS client'
        : `remote error: ${error.message}`;
    default:
      return error.message;
  }
}

function hostPort({ address, port }: { address?: string; port?: number }): string {
  if (address === undefined) return '';
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Node: `... Host: a. is not in the cert's altnames: DNS:b, IP Address:127.0.0.1`. Go lists the names of the kind that was asked for. */
function altNames(message: string, serverName: string): string {
  const kind = /^[\d.]+$|:/.test(serverName) ? 'IP Address:' : 'DNS:';
  const listed = (message.split('altnames: ').at(-1) ?? '').split(', ').filter((name) => name.startsWith(kind));
  const names = listed.map((name) => name.slice(kind.length));
  if (names.length === 0) return `certificate is not valid for any names, but wanted to match ${serverName}`;
  return `certificate is valid for ${names.join(', ')}, not ${serverName}`;
}
