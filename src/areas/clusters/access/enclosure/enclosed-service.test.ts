import { describe, expect, it } from 'vitest';
import { serviceCommand } from './enclosed-service.ts';

describe('serviceCommand', () => {
  const service = { user: 7, rights: ['net_admin'], owns: { '/run/own': '/data/own' }, devices: ['/dev/net/tun'] };
  const words = serviceCommand(
    { ...service, reads: ['/opt/product'], shows: { '/etc': '/data/etc' }, command: ['/bin/gateway', '-f'] },
    { bwrap: 'bwrap', setpriv: '/bin/setpriv' },
    ['/bin/gateway', '/bin/setpriv', '/lib/libc.so.6'],
  );
  const [view, inside] = [words.slice(0, words.indexOf('--')), words.slice(words.indexOf('--') + 1)];
  const pairsOf = (flag: string) => view.flatMap((word, index) => (word === flag ? [view.slice(index + 1, index + 3)] : []));

  it('shows what it was given and what it is loaded from, and lets it write to its own', () => {
    expect(pairsOf('--ro-bind').map(([source]) => source)).toEqual([
      '/bin/gateway',
      '/bin/setpriv',
      '/lib/libc.so.6',
      '/opt/product',
      '/data/etc',
    ]);
    expect(pairsOf('--ro-bind').at(-1)).toEqual(['/data/etc', '/etc']);
    expect(pairsOf('--bind')).toEqual([['/data/own', '/run/own']]);
    expect(pairsOf('--dev-bind').map(([source]) => source)).toEqual(['/dev/null', '/dev/urandom', '/dev/net/tun']);
  });

  it('makes it a user of its own that has the one right, and gets no others', () => {
    expect(inside.join(' ')).toBe(
      '/bin/setpriv --reuid=7 --regid=7 --clear-groups --no-new-privs --inh-caps=-all,+net_admin --ambient-caps=-all,+net_admin --bounding-set=-all,+net_admin -- /bin/gateway -f',
    );
    expect(view).toContain('CAP_NET_ADMIN');
    expect(view).not.toContain('CAP_SYS_ADMIN');
  });
});
