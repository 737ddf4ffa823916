import { createHash, X509Certificate } from 'node:crypto';
import type { Credentials, UserInfo } from '../user.ts';
import { CREDENTIAL_ID } from './service-account-identity.ts';
import { withAuthenticatedGroup } from './authenticated-group.ts';

type Certificate = NonNullable<Credentials['certificate']>;

/** The common name is the user, the organizations are its groups. The chain was verified with the connection; its end is watched here. */
export class ClientCertificateAuthenticator {
  readonly #now: () => number;
  /** Per connection: the same certificate object comes with each of its requests. */
  readonly #known = new WeakMap<Certificate, { user: UserInfo; notAfter: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Undefined when the certificate names nobody. @throws Error when it has expired since the connection was made */
  authenticate(certificate: Certificate): UserInfo | undefined {
    if (certificate.commonName === '') return undefined;
    let known = this.#known.get(certificate);
    if (!known) {
      known = { user: userOf(certificate), notAfter: Date.parse(new X509Certificate(certificate.raw).validTo) };
      this.#known.set(certificate, known);
    }
    if (this.#now() > known.notAfter) throw new Error('x509: certificate has expired or is not yet valid');
    return known.user;
  }
}

function userOf({ commonName, organizations, uid, raw }: Certificate): UserInfo {
  const fingerprint = createHash('sha256').update(raw).digest('hex');
  const user: UserInfo = {
    name: commonName,
    groups: withAuthenticatedGroup(commonName, organizations),
    extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] },
  };
  if (uid) user.uid = uid;
  return Object.freeze(user);
}
