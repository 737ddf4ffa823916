import { given, removalScript, setting, staleLinkScript } from '../kernel/script.ts';
import { ROUTER_SETTINGS, type RouterProgram } from './router-program.ts';

/** Nothing is forwarded before the rules are in place. */
export function routerScript({ rules, removals, commands, linked, inside }: RouterProgram): string {
  return [
    ...ROUTER_SETTINGS.map(([name, value]) => setting(name, value)),
    given('nft -f -', rules),
    removalScript(removals),
    setting('net/ipv4/ip_forward', '1'),
    ...linked.map(staleLinkScript),
    given('ip -batch -', `${commands.join('\n')}\n`),
    ...[...inside].map(([path, lines]) => given(`nsenter --net=${path} ip -batch -`, `${lines.join('\n')}\n`)),
  ].join('');
}
