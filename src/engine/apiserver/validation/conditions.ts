import { regexError } from '../../../kube/names.ts';
import type { Json } from '../../../kube/object.ts';
import type { Findings } from './findings.ts';
import { checkLabelName } from './labels.ts';
import type { Path } from './path.ts';

/** metav1.Condition, as newer kinds have it in their status. */
const STATUSES = ['False', 'True', 'Unknown'];
const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const REASON_RE = new RegExp(`^${REASON}$`);
const MAX_REASON = 1024;
const MAX_MESSAGE = 32 * 1024;

export function checkConditions(out: Findings, conditions: Json[], at: Path): void {
  const types = new Set<string>();
  conditions.forEach((condition, i) => {
    const type: string = condition.type ?? '';
    if (types.has(type)) out.duplicate(at.index(i).child('type'), type);
    types.add(type);
    checkCondition(out, condition, at.index(i));
  });
}

function checkCondition(out: Findings, condition: Json, at: Path): void {
  const { type = '', status = '', observedGeneration = 0, lastTransitionTime, reason = '', message = '' } = condition;
  checkLabelName(out, type, at.child('type'));
  if (!STATUSES.includes(status)) out.notSupported(at.child('status'), status, STATUSES);
  if (observedGeneration < 0) out.invalid(at.child('observedGeneration'), observedGeneration, 'must be greater than or equal to zero');
  if (lastTransitionTime === undefined) out.required(at.child('lastTransitionTime'));
  if (reason === '') out.required(at.child('reason'));
  else {
    if (!REASON_RE.test(reason)) {
      const text =
        "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
      out.invalid(
        at.child('reason'),
        reason,
        regexError(text, REASON, 'my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'),
      );
    }
    if (reason.length > MAX_REASON) out.tooLong(at.child('reason'), MAX_REASON);
  }
  if (message.length > MAX_MESSAGE) out.tooLong(at.child('message'), MAX_MESSAGE);
}
