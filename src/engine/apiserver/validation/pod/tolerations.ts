import { isLabelValue } from '../../../../kube/names.ts';
import { quote } from '../../../../kube/go-text.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkLabelName } from '../labels.ts';
import type { Path } from '../path.ts';
import type { PodOptions } from './options.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function checkTaintEffect(out: Findings, effect: string, at: Path): void {
  if (!EFFECTS.includes(effect)) out.notSupported(at, effect, EFFECTS);
}

export function checkTolerations(out: Findings, tolerations: Json[], at: Path, options: PodOptions): void {
  for (let i = 0; i < tolerations.length; i++) {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = tolerations[i];
    const itemAt = at.index(i);
    if (key !== '') checkLabelName(out, key, itemAt.child('key'));
    if (key === '' && operator !== 'Exists') {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      out.invalid(itemAt.child('operator'), operator, detail);
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      out.invalid(itemAt.child('effect'), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    checkOperator(out, operator, value, itemAt, options);
    if (effect !== '') checkTaintEffect(out, effect, itemAt.child('effect'));
  }
}

function checkOperator(out: Findings, operator: string, value: string, at: Path, options: PodOptions): void {
  switch (operator) {
    case 'Equal':
    case '': {
      const messages = isLabelValue(value);
      if (messages.length > 0) out.invalid(at.child('operator'), value, messages.join(';'));
      return;
    }
    case 'Exists':
      if (value !== '') out.invalid(at.child('operator'), value, "value must be empty when `operator` is 'Exists'");
      return;
    case 'Lt':
    case 'Gt':
      if (options.allowTolerationComparison) checkDecimal(out, value, at.child('value'));
      else out.notSupported(at.child('operator'), operator, ['Equal', 'Exists', 'Lt', 'Gt']);
      return;
    default:
      out.notSupported(at.child('operator'), operator, ['Equal', 'Exists']);
  }
}

function checkDecimal(out: Findings, value: string, at: Path): void {
  if (value === '') out.invalid(at, value, 'must be non-empty');
  else if (!/^(0|-?[1-9]\d*)$/.test(value)) out.invalid(at, value, 'must be a valid decimal integer in canonical form');
  if (!/^[+-]?\d+$/.test(value)) out.invalid(at, value, `strconv.ParseInt: parsing ${quote(value)}: invalid syntax`);
}
