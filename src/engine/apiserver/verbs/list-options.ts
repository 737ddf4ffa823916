import { forbidden, notSupported, type FieldError } from '../../../kube/field-error.ts';
import { invalidError } from '../../../kube/status.ts';

function isTrue(value: string | null): boolean {
  return value === 'true' || value === '1';
}

/** The rules between resourceVersion, resourceVersionMatch, continue and sendInitialEvents. @throws StatusError Invalid */
export function validateListOptions(query: URLSearchParams, watch: boolean): void {
  const errors = watch ? watchOptionErrors(query) : listOptionErrors(query);
  if (errors.length > 0) throw invalidError({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}

function listOptionErrors(query: URLSearchParams): FieldError[] {
  const errors: FieldError[] = [];
  const match = query.get('resourceVersionMatch') ?? '';
  const field = 'resourceVersionMatch';
  if (match !== '') {
    const revision = query.get('resourceVersion') ?? '';
    if (revision === '') errors.push(forbidden(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if ((query.get('continue') ?? '') !== '') errors.push(forbidden(field, 'resourceVersionMatch is forbidden when continue is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan') errors.push(notSupported(field, match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && revision === '0') {
      errors.push(forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (query.has('sendInitialEvents')) errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return errors;
}

function watchOptionErrors(query: URLSearchParams): FieldError[] {
  const errors: FieldError[] = [];
  const match = query.get('resourceVersionMatch') ?? '';
  const field = 'resourceVersionMatch';
  if (query.has('sendInitialEvents') && match !== 'NotOlderThan') {
    errors.push(forbidden(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match !== '') {
    if (!query.has('sendInitialEvents')) {
      errors.push(forbidden(field, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    }
    if (match !== 'NotOlderThan') errors.push(notSupported(field, match, ['NotOlderThan']));
    if ((query.get('continue') ?? '') !== '') errors.push(forbidden(field, 'resourceVersionMatch is forbidden when continue is provided'));
  }
  return errors;
}

export { isTrue };
