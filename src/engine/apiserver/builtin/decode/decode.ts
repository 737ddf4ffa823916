import type { Json, KubeObject } from '../../../../kube/object.ts';
import { badRequestError } from '../../../../kube/status.ts';
import { codecFor, type Codec, type Scan } from './codec.ts';
import { explainMismatch } from './explain.ts';
import { goType } from './go-type.ts';
import { TypeMismatch } from './type-mismatch.ts';
import { reportUnknownFields } from './unknown-fields.ts';

export type DecodeObject = (object: Json, version: string, onUnknown?: (path: string) => void) => KubeObject;

/** A decoder for one kind. Nothing is compiled before its first object. */
export function objectDecoder(definition: string, kind: string): DecodeObject {
  let codec: Codec | undefined;
  return (object, version, onUnknown) => {
    codec ??= codecFor(goType(definition));
    const scan: Scan = { root: definition, sawUnknown: false };
    let decoded: Json;
    try {
      decoded = codec.decode(object, scan);
    } catch (error) {
      if (!(error instanceof TypeMismatch)) throw error;
      const found = explainMismatch(goType(definition), object) ?? 'json: cannot unmarshal value';
      throw badRequestError(`${kind} in version "${version}" cannot be handled as a ${kind}: ${found}`);
    }
    if (scan.sawUnknown && onUnknown) reportUnknownFields(goType(definition), object, onUnknown);
    return decoded as KubeObject;
  };
}
