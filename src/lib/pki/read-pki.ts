import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { Pki } from './ensure-pki.ts';
import { KeyFiles, type CertificateFile } from './key-files.ts';

/** What `ensurePki` made, as it is: for a process that may use its keys and not change them. */
export async function readPki(directory: string): Promise<Pki> {
  const files = new KeyFiles(directory);
  const pair = async (name: string): Promise<CertificateFile> => {
    const { certificatePem, keyPem } = await files.read(name);
    if (certificatePem === undefined || keyPem === undefined) {
      throw new Error(`Cannot use "${files.path(`${name}.crt`)}": it or its key is missing; whoever keeps the keys has to make them first`);
    }
    return { certificatePem, keyPem, certificate: new X509Certificate(certificatePem), key: createPrivateKey(keyPem) };
  };
  const [authority, frontProxyAuthority, frontProxyClient, serving, kubeletClient, admin, serviceAccountKeys, encryptionKeys] =
    await Promise.all([
      pair('ca'),
      pair('front-proxy-ca'),
      pair('front-proxy-client'),
      pair('apiserver'),
      pair('apiserver-kubelet-client'),
      pair('admin'),
      files.signingKey('sa'),
      files.encryptionKeys('encryption'),
    ]);
  const signed = { frontProxyClient, serving, kubeletClient, admin };
  const formerServiceAccountKeys = await files.formerKeys('sa');
  return { authority, frontProxyAuthority, ...signed, serviceAccountKeys, formerServiceAccountKeys, encryptionKeys };
}
