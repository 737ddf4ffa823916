import {
  children,
  encode,
  expectTag,
  objectIdentifier,
  readObjectIdentifier,
  readText,
  sequence,
  TAG,
  utf8String,
  type Node,
} from './der.ts';

/** Whom a certificate names. Kubernetes reads the common name as the user and the organizations as groups. */
export interface DistinguishedName {
  commonName: string;
  organizations: string[];
  /** Kubernetes' own attribute for the user's uid. */
  uid?: string;
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
export const KUBERNETES_UID = '1.3.6.1.4.1.57683.2';

function attribute(type: string, value: string): Buffer {
  return sequence(objectIdentifier(type), utf8String(value));
}

/** Organizations share one set, as Go's crypto/x509 writes them; a set is ordered by its bytes in DER. */
export function encodeName(name: DistinguishedName): Buffer {
  const sets: Buffer[] = [];
  if (name.organizations.length > 0) {
    const members = name.organizations.map((organization) => attribute(ORGANIZATION, organization)).sort((a, b) => Buffer.compare(a, b));
    sets.push(encode(TAG.set, ...members));
  }
  if (name.commonName !== '') sets.push(encode(TAG.set, attribute(COMMON_NAME, name.commonName)));
  if (name.uid !== undefined) sets.push(encode(TAG.set, attribute(KUBERNETES_UID, name.uid)));
  return sequence(...sets);
}

/** @throws when the name carries more than one uid, or an empty one: such a certificate identifies nobody. */
export function decodeName(node: Node): DistinguishedName {
  const name: DistinguishedName = { commonName: '', organizations: [] };
  const uids: string[] = [];
  for (const set of children(expectTag(node, TAG.sequence))) {
    for (const member of children(expectTag(set, TAG.set))) {
      const [type, value] = children(expectTag(member, TAG.sequence));
      const oid = readObjectIdentifier(type);
      const text = readText(value);
      if (oid === KUBERNETES_UID) uids.push(readUid(text));
      else if (text === undefined) continue;
      else if (oid === COMMON_NAME) name.commonName = text;
      else if (oid === ORGANIZATION) name.organizations.push(text);
    }
  }
  if (uids.length > 1) throw new Error(`expected 1 UID, but found multiple: [${uids.join(' ')}]`);
  if (uids.length === 1) name.uid = uids[0];
  return name;
}

function readUid(text: string | undefined): string {
  if (text === undefined) throw new Error('unable to parse UID into a string');
  if (text === '') throw new Error('UID cannot be an empty string');
  return text;
}
