import { isDns1123Subdomain } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { checkVolumeSpec } from '../core/persistent-volume.ts';
import { semanticEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { FIELD_IMMUTABLE } from '../formats.ts';
import { internalForm } from '../internal-form.ts';
import { path } from '../path.ts';
import { checkCsiDriverName } from '../pod/volume-sources.ts';

const SPEC = path('spec');
const STATUS = path('status');
const MAX_METADATA = 256 * 1024;
const MAX_MESSAGE = 1024;

export function validateVolumeAttachment(out: Findings, attachment: KubeObject, old: KubeObject | undefined): void {
  const { attacher = '', source = {}, nodeName = '' } = attachment.spec ?? {};
  if (attacher === '') out.required(SPEC.child('attacher'));
  checkSource(out, source);
  out.invalidEach(SPEC.child('nodeName'), nodeName, isDns1123Subdomain(nodeName));
  checkStatus(out, attachment.status ?? {});
  if (old !== undefined) {
    if (!semanticEqual('storage.VolumeAttachmentSpec', attachment.spec, old.spec)) {
      out.invalid(SPEC, internalForm('storage.VolumeAttachmentSpec', attachment.spec ?? {}), FIELD_IMMUTABLE);
    }
    return;
  }
  checkCsiDriverName(out, attacher, path('spec.attacher'));
  const name: string | undefined = source.persistentVolumeName;
  if (name !== undefined) out.invalidEach(path('spec.source.persistentVolumeName'), name, isDns1123Subdomain(name));
}

function checkSource(out: Findings, { inlineVolumeSpec, persistentVolumeName }: Json): void {
  const at = SPEC.child('source');
  const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (inlineVolumeSpec === undefined && persistentVolumeName === undefined) out.required(at, detail);
  else if (inlineVolumeSpec !== undefined && persistentVolumeName !== undefined) out.forbidden(at, detail);
  else if (persistentVolumeName === '') out.required(at.child('persistentVolumeName'), 'must specify non empty persistentVolumeName');
  else if (inlineVolumeSpec !== undefined) {
    const context = { name: '', inline: true, allowInvalidNodeAffinityValues: false, attributesClass: false };
    checkVolumeSpec(out, inlineVolumeSpec, at.child('inlineVolumeSpec'), context);
  }
}

function checkStatus(out: Findings, status: Json): void {
  let size = 0;
  for (const key in status.attachmentMetadata) size += key.length + status.attachmentMetadata[key].length;
  if (size > MAX_METADATA) out.tooLong(STATUS.child('attachmentMetadata'), MAX_METADATA);
  for (const field of ['attachError', 'detachError']) {
    const { message = '', errorCode } = status[field] ?? {};
    if (message.length > MAX_MESSAGE) out.tooLong(STATUS.child(field, 'message'), MAX_METADATA);
    if (errorCode < 0) out.invalid(STATUS.child(field, 'errorCode'), errorCode, 'must be between 0 and 2147483647, inclusive');
  }
}
