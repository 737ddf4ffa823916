import type { Json, KubeObject } from '../../../../kube/object.ts';
import { badRequestError } from '../../../../kube/status.ts';
import { Pace, runInSlices, runToEnd, type Sliced } from '../../schema/slices.ts';
import { codecFor, type Codec, type Scan } from './codec.ts';
import { explainMismatch } from './explain.ts';
import { goType, type GoType } from './go-type.ts';
import { decodeSliced } from './sliced-decode.ts';
import { TypeMismatch } from './type-mismatch.ts';
import { reportUnknownFields } from './unknown-fields.ts';

type OnUnknown = (path: string) => void;

export interface ObjectDecoder {
  decode(object: Json, version: string, onUnknown?: OnUnknown): KubeObject;
  /** The same, giving way to other work in between. */
  decodeLarge(object: Json, version: string, onUnknown?: OnUnknown): Promise<KubeObject>;
}

export type DecodeObject = ObjectDecoder['decode'];

/** A decoder for one kind. Nothing is compiled before its first object. */
export function objectDecoder(definition: string, kind: string): ObjectDecoder {
  let codec: Codec | undefined;
  const refusal = (error: unknown, object: Json, version: string): unknown => {
    if (!(error instanceof TypeMismatch)) return error;
    const found = explainMismatch(goType(definition), object) ?? 'json: cannot unmarshal value';
    return badRequestError(`${kind} in version "${version}" cannot be handled as a ${kind}: ${found}`);
  };
  return {
    decode(object, version, onUnknown) {
      codec ??= codecFor(goType(definition));
      const scan: Scan = { root: definition, sawUnknown: false };
      let decoded: Json;
      try {
        decoded = codec.decode(object, scan);
      } catch (error) {
        throw refusal(error, object, version);
      }
      if (scan.sawUnknown && onUnknown) runToEnd(reportUnknownFields(goType(definition), object, onUnknown, new Pace()));
      return decoded as KubeObject;
    },
    async decodeLarge(object, version, onUnknown) {
      try {
        return await runInSlices(decodeAndReport(goType(definition), object, onUnknown));
      } catch (error) {
        throw refusal(error, object, version);
      }
    },
  };
}

function* decodeAndReport(type: GoType, object: Json, onUnknown: OnUnknown | undefined): Sliced<KubeObject> {
  const scan: Scan = { root: type.form === 'struct' ? type.definition : '', sawUnknown: false };
  const pace = new Pace();
  const decoded: Json = yield* decodeSliced(type, object, { scan, pace });
  if (scan.sawUnknown && onUnknown) yield* reportUnknownFields(type, object, onUnknown, pace);
  return decoded as KubeObject;
}
