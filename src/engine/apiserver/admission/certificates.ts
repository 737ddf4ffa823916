import { deepEqual } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import type { Authorizer, UserInfo } from '../auth/user.ts';
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts';
import { isOn, refusal } from './refusal.ts';

const GROUP = 'certificates.k8s.io';
const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

/** Approving a request needs the verb `approve` on its signer. */
export function certificateApproval(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    handles: (request) => request.subresource === 'approval' && isRequestUpdate(request),
    validate(request) {
      // The stored signer counts: the one in the update could be made up.
      const signer: string = request.oldObject!.spec.signerName;
      if (mayUseSigner(authorizer, request.user, 'approve', signer)) return;
      throw refusal(request, `user not permitted to approve requests with signerName "${signer}"`);
    },
  };
}

/** Issuing a certificate, or failing a request, needs the verb `sign` on its signer. */
export function certificateSigning(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    handles: (request) => request.subresource === 'status' && isRequestUpdate(request),
    validate(request) {
      const [status, old]: Json[] = [request.object!.status ?? {}, request.oldObject!.status ?? {}];
      if ((status.certificate ?? '') === (old.certificate ?? '') && deepEqual(status.conditions ?? [], old.conditions ?? [])) return;
      const signer: string = request.oldObject!.spec.signerName;
      if (mayUseSigner(authorizer, request.user, 'sign', signer)) return;
      throw refusal(request, `user not permitted to sign requests with signerName "${signer}"`);
    },
  };
}

/** Nobody becomes a member of system:masters by asking for a certificate. */
export function certificateSubjectRestriction(
  /** The organizations in a PEM certificate request. @throws when it is not one. */
  organizationsOf: (requestPem: string) => string[] | Promise<string[]>,
): AdmissionPlugin {
  return {
    name: 'CertificateSubjectRestriction',
    handles: (request) =>
      request.operation === 'CREATE' && request.subresource === '' && isOn(request, GROUP, 'certificatesigningrequests'),
    async validate(request) {
      if (request.object!.spec?.signerName !== CLIENT_SIGNER) return;
      const organizations = await parsed(request, organizationsOf);
      if (organizations.includes('system:masters')) {
        throw refusal(request, `use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`);
      }
    },
  };
}

async function parsed(request: AdmissionRequest, organizationsOf: (pem: string) => string[] | Promise<string[]>): Promise<string[]> {
  try {
    return await organizationsOf(Buffer.from(request.object!.spec.request ?? '', 'base64').toString());
  } catch (error) {
    throw refusal(request, `failed to parse CSR: ${(error as Error).message}`);
  }
}

/** By the signer's own name, or by `<domain>/*` for all signers of its domain. */
export function mayUseSigner(authorizer: Authorizer, user: UserInfo, verb: string, signerName: string): boolean {
  const attributes = { user, verb, group: GROUP, version: '*', resource: 'signers' };
  if (authorizer.authorize({ ...attributes, name: signerName }).allowed) return true;
  return authorizer.authorize({ ...attributes, name: `${signerName.split('/')[0]}/*` }).allowed;
}

function isRequestUpdate(request: AdmissionRequest): boolean {
  return request.operation === 'UPDATE' && isOn(request, GROUP, 'certificatesigningrequests');
}
