import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../kube/object.ts';
import type { Authorizer } from '../auth/user.ts';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts';
import { aRequest, refusalOf } from './testing/a-request.ts';

function aCsr(status: Json = {}, signerName = 'example.com/s'): KubeObject {
  const request = Buffer.from('pem').toString('base64');
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'r' },
    spec: { signerName, request },
    status,
  };
}

function allowing(...names: string[]): Authorizer {
  return {
    authorize: ({ verb, resource, name }) => ({ allowed: resource === 'signers' && names.includes(`${verb} ${name}`), reason: '' }),
    rulesFor: () => [],
  };
}

const update = (object: KubeObject, subresource: string) =>
  aRequest('certificatesigningrequests', object, { operation: 'UPDATE', oldObject: aCsr(), subresource });

describe('certificateApproval', () => {
  it.each([['approve example.com/s'], ['approve example.com/*']])('admits a user who may %s', (permission) => {
    void certificateApproval(allowing(permission)).validate!(update(aCsr(), 'approval'));
  });

  it('refuses others', async () => {
    expect(await refusalOf(() => certificateApproval(allowing()).validate!(update(aCsr(), 'approval')))).toBe(
      'certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to approve requests with signerName "example.com/s"',
    );
  });
});

describe('certificateSigning', () => {
  it('refuses to issue without permission', async () => {
    const request = update(aCsr({ certificate: 'x' }), 'status');
    expect(await refusalOf(() => certificateSigning(allowing()).validate!(request))).toContain(
      'user not permitted to sign requests with signerName "example.com/s"',
    );
  });

  it('admits status writes that issue nothing', () => {
    void certificateSigning(allowing()).validate!(update(aCsr(), 'status'));
  });
});

describe('certificateSubjectRestriction', () => {
  const plugin = certificateSubjectRestriction((pem) => (pem === 'pem' ? ['system:masters'] : []));

  it('refuses system:masters for the client signer', async () => {
    const request = aRequest('certificatesigningrequests', aCsr({}, 'kubernetes.io/kube-apiserver-client'));
    expect(await refusalOf(() => plugin.validate!(request))).toBe(
      'certificatesigningrequests.certificates.k8s.io "r" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    );
  });

  it('leaves other signers alone', async () => {
    expect(await refusalOf(() => plugin.validate!(aRequest('certificatesigningrequests', aCsr())))).toBe('');
  });
});
