import { invalidError, badRequestError } from '../../../kube/status.ts';
import {
  validateDeleteOptions,
  validatePatchOptions,
  validateWriteOptions,
  type DeleteOptions,
  type WriteOptions,
} from '../../../kube/request-options.ts';
import type { ApiRequest } from '../chain/request.ts';

export interface ParsedWriteOptions extends WriteOptions {
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';
  apiVersion: 'meta.k8s.io/v1';
}

const META = 'meta.k8s.io';

function optional<T>(value: T | null | undefined): T | undefined {
  return value === null || value === undefined ? undefined : value;
}

/** Options of a create, update or patch from its query. @throws StatusError Invalid */
export function writeOptions(request: ApiRequest, kind: ParsedWriteOptions['kind'], isApply = false): ParsedWriteOptions {
  const { query } = request;
  const options: ParsedWriteOptions = { kind, apiVersion: 'meta.k8s.io/v1' };
  if (query.size > 0) {
    const dryRun = query.getAll('dryRun');
    if (dryRun.length > 0) options.dryRun = dryRun;
    const manager = optional(query.get('fieldManager'));
    if (manager) options.fieldManager = manager;
    const validation = optional(query.get('fieldValidation'));
    if (validation) options.fieldValidation = validation;
    const force = optional(query.get('force'));
    if (force !== undefined) options.force = force === 'true' || force === '1' || force === '';
  }
  if (query.size === 0 && !isApply) return options;
  const errors = kind === 'PatchOptions' ? validatePatchOptions(options, isApply) : validateWriteOptions(options);
  if (errors.length > 0) throw invalidError({ group: META, kind }, '', errors);
  return options;
}

export function isDryRun(options: { dryRun?: string[] }): boolean {
  return options.dryRun !== undefined && options.dryRun.length > 0;
}

export type ParsedDeleteOptions = DeleteOptions & { kind: 'DeleteOptions'; apiVersion: 'meta.k8s.io/v1' };

/** Options of a delete: from the body if there is one, else from the query. @throws StatusError */
export function deleteOptions(request: ApiRequest, body: unknown): ParsedDeleteOptions {
  const options: ParsedDeleteOptions = { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' };
  if (body !== undefined) {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) throw badRequestError('DeleteOptions must be an object');
    const { kind, apiVersion: _ignored, ...rest } = body as Record<string, unknown>;
    if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') {
      throw badRequestError(`decoded object cannot be converted to DeleteOptions`);
    }
    Object.assign(options, rest);
  } else {
    const { query } = request;
    const dryRun = query.getAll('dryRun');
    if (dryRun.length > 0) options.dryRun = dryRun;
    const policy = query.get('propagationPolicy');
    if (policy) options.propagationPolicy = policy;
    const grace = query.get('gracePeriodSeconds');
    if (grace) options.gracePeriodSeconds = wholeNumber(grace);
    const orphan = query.get('orphanDependents');
    if (orphan) options.orphanDependents = orphan === 'true' || orphan === '1';
  }
  const errors = validateDeleteOptions(options);
  if (errors.length > 0) throw invalidError({ group: META, kind: 'DeleteOptions' }, '', errors);
  if (options.gracePeriodSeconds !== undefined && options.gracePeriodSeconds < 0) options.gracePeriodSeconds = 1;
  return options;
}

function wholeNumber(text: string): number {
  if (!/^-?\d+$/.test(text)) throw badRequestError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** The name under which a write's fields are recorded: what the client said, else the first part of its user agent. */
export function fieldManagerOf(options: WriteOptions, request: ApiRequest): string {
  if (options.fieldManager) return options.fieldManager;
  const agent = request.headers['user-agent'];
  const text = (Array.isArray(agent) ? agent[0] : agent) ?? '';
  const slash = text.indexOf('/');
  return (slash < 0 ? text : text.slice(0, slash)).slice(0, 128) || 'unknown';
}
