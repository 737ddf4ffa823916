import { describe, expect, it } from 'vitest';
import { fieldErrorText, type FieldError } from './field-error.ts';
import { validateDeleteOptions, validatePatchOptions, validateWriteOptions } from './request-options.ts';

describe('options of requests are refused in the words of Kubernetes', () => {
  const cases: [string, FieldError[], string[]][] = [
    ['a write without options', validateWriteOptions({}), []],
    ['dryRun All', validateWriteOptions({ dryRun: ['All'] }), []],
    ['another dryRun', validateWriteOptions({ dryRun: ['Some'] }), ['dryRun: Unsupported value: ["Some"]: supported values: "All"']],
    [
      'another fieldValidation',
      validateWriteOptions({ fieldValidation: 'x' }),
      ['fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"'],
    ],
    ['a long manager', validateWriteOptions({ fieldManager: 'a'.repeat(129) }), ['fieldManager: Too long: may not be more than 128 bytes']],
    ['apply without a manager', validatePatchOptions({}, true), ['fieldManager: Required value: is required for apply patch']],
    ['force without apply', validatePatchOptions({ force: false }, false), ['force: Forbidden: may not be specified for non-apply patch']],
    [
      'both ways of propagation',
      validateDeleteOptions({ orphanDependents: true, propagationPolicy: 'Orphan' }),
      ['propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set'],
    ],
    [
      'unknown propagation',
      validateDeleteOptions({ propagationPolicy: 'x' }),
      ['propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"'],
    ],
    [
      'unsafe delete with a dry run',
      validateDeleteOptions({ ignoreStoreReadErrorWithClusterBreakingPotential: true, dryRun: ['All'] }),
      ['ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with .dryRun'],
    ],
  ];
  it.each(cases)('%s', (_, found, expected) => expect(found.map(fieldErrorText)).toEqual(expected));
});
